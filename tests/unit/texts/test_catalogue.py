"""Locales as BCP 47 writes them."""

from __future__ import annotations

import pytest

from rpcgw.api.locales import canonical, lineage


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("uk", "uk", id="a language"),
        pytest.param("EN", "en", id="capitals"),
        pytest.param("pt_br", "pt-BR", id="a region by an underscore"),
        pytest.param("zh-hant-tw", "zh-Hant-TW", id="a script and a region"),
        pytest.param("es-419", "es-419", id="a region of digits"),
    ],
)
def test_canonical(given: str, expected: str) -> None:
    """File names may spell a locale in any way; it is one locale."""
    assert canonical(given) == expected


def test_lineage() -> None:
    """A locale falls back on its parents."""
    assert lineage("zh-Hant-TW") == ("zh-Hant-TW", "zh-Hant", "zh")
