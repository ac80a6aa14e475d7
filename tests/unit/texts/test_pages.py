"""The words of pages."""

from __future__ import annotations

import pytest

from rpcgw.api import errors
from rpcgw.texts.pages import ENGLISH, LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_says_everything(language: str) -> None:
    """No key is missing in a language, none is empty, none is English's only."""
    assert LANGUAGES[language].keys() == ENGLISH.keys()
    assert all(LANGUAGES[language].values())


def test_every_code_is_explained() -> None:
    """Each error of the product's own has an explanation."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RpcError)]
    codes = {kind.code for kind in kinds}
    assert {f"e{code}" for code in codes} <= ENGLISH.keys()
