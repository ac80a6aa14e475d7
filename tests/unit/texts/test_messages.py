"""The product's texts in other languages: complete, and with the same facts."""

from string import Formatter

import pytest

from rpcgw.kernel.language import ENGLISH
from rpcgw.texts.messages import PRODUCT


def facts(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("locale", sorted(PRODUCT))
def test_complete(locale: str) -> None:
    """A language says everything that English does, and nothing else."""
    assert PRODUCT[locale].keys() == ENGLISH.keys()


@pytest.mark.parametrize("locale", sorted(PRODUCT))
def test_facts(locale: str) -> None:
    """Each text has the facts of the English one."""
    differing = [key for key, text in PRODUCT[locale].items() if facts(text) != facts(ENGLISH[key])]
    assert differing == []
