"""What errors say in a client's language."""

import pytest

from rpcgw.api.errors import DataNotFound, LogicError, MethodNotFound, RpcError
from rpcgw.kernel.failure import render
from rpcgw.kernel.language import ENGLISH, Phrase, worded
from rpcgw.texts.messages import UKRAINIAN

NO_METHOD = Phrase("error.no_method", group="g", method="m", version=2)


@pytest.mark.parametrize(
    ("error", "english", "ukrainian"),
    [
        pytest.param(
            MethodNotFound(NO_METHOD),
            'The group "g" has no method "m" in version 2',
            'Група "g" не має методу "m" у версії 2',
            id="a phrase with facts",
        ),
        pytest.param(DataNotFound(), DataNotFound.default_message, "Дані не знайдено", id="a default message"),
        pytest.param(LogicError("Sold out"), "Sold out", "Sold out", id="an author's words stay"),
        pytest.param(RpcError("x"), "x", "x", id="any error"),
    ],
)
def test_worded(error: RpcError, english: str, ukrainian: str) -> None:
    """The product's own texts have a translation, an author's have none."""
    assert (worded(error, ENGLISH), worded(error, UKRAINIAN)) == (english, ukrainian)
    assert render(error, exposed=False, texts=UKRAINIAN).message == ukrainian


def test_a_broken_translation() -> None:
    """A text whose facts do not fit is said in English."""
    assert worded(MethodNotFound(NO_METHOD), {"error.no_method": "{nothing}"}) == str(NO_METHOD)
