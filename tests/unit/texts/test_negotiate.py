"""`Accept-Language` to locale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.texts.negotiate import negotiate

AVAILABLE = ("en", "uk", "de", "pt-BR", "zh-Hant")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param(None, "en", id="no header"),
        pytest.param("", "en", id="an empty header"),
        pytest.param("uk", "uk", id="an exact language"),
        pytest.param("UK", "uk", id="case does not matter"),
        pytest.param("uk-UA", "uk", id="a region falls back to its language"),
        pytest.param("uk-UA,uk;q=0.9,en;q=0.8", "uk", id="what a browser sends"),
        pytest.param("fr", "en", id="a language that is not there"),
        pytest.param("fr, de;q=0.5", "de", id="the next one"),
        pytest.param("de;q=0.5, uk;q=0.8", "uk", id="the weight decides"),
        pytest.param("de;q=0.8, uk;q=0.8", "de", id="the order decides between equals"),
        pytest.param("uk;q=0.1, en;q=0.05", "uk", id="two digits of weight"),
        pytest.param("pt-BR", "pt-BR", id="an exact region"),
        pytest.param("pt", "pt-BR", id="a language finds its region"),
        pytest.param("pt-PT", "pt-BR", id="a region finds a sister"),
        pytest.param("zh-Hant-TW", "zh-Hant", id="a script"),
        pytest.param("de-x-private", "de", id="a private part goes as a whole"),
        pytest.param("*", "en", id="anything is the default"),
        pytest.param("fr, *;q=0.1", "en", id="anything at last"),
        pytest.param("en;q=0, *", "de", id="anything but the default"),
        pytest.param("en;q=0.1, *;q=0.5", "de", id="anything is what is not named"),
        pytest.param("uk;q=0, uk-UA", "en", id="an excluded language is not fallen back to"),
        pytest.param("uk;q=0", "en", id="an exclusion alone"),
        pytest.param("en;q=0", "en", id="the default where nothing else is wanted"),
        pytest.param("*;q=0", "en", id="nothing is wanted"),
        pytest.param("*;q=0, de;q=0.1", "de", id="nothing but one"),
        pytest.param("pt-BR;q=0, pt", "en", id="the only region is excluded"),
        pytest.param("uk;q=2, de", "de", id="a weight above 1 says nothing"),
        pytest.param("uk;q=abc, de;q=0.1", "de", id="a weight that is none says nothing"),
        pytest.param("uk;q=0.1234, de;q=0.1", "de", id="four digits say nothing"),
        pytest.param("u_k, ;;, =, de", "de", id="malformed parts are skipped"),
        pytest.param("uk ; Q = 0.5 , de;q=0.4", "uk", id="blanks and capitals"),
        pytest.param("uk\u0301", "en", id="letters of other scripts"),
        pytest.param("x," * 60 + "uk", "en", id="a header without end is cut"),
    ],
)
def test_negotiate(header: str | None, expected: str) -> None:
    """T-03: quality values, look-up and exclusion as RFC 9110 and RFC 4647 say; else the default."""
    assert negotiate(header, AVAILABLE, "en") == expected


def test_the_default_needs_no_catalogue() -> None:
    """The default language is always available: the code itself is written in it."""
    assert negotiate("en, uk;q=0.5", ("uk",), "en") == "en"


@given(st.text(alphabet="enukpt-BR*;q=01., \t", max_size=60))
def test_always_answers(header: str) -> None:
    """Whatever is sent, the answer is one of the available locales."""
    assert negotiate(header, AVAILABLE, "en") in AVAILABLE
