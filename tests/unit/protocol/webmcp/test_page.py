"""What a page is asked for with, and the bytes that it gets."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.protocol.webmcp.page import Asked, asked, block, encoded, page
from rpcgw.protocol.webmcp.site import Addresses, Features, Site, fits

SITE = Site("main", "main", "/webmcp", "/webmcp", "/", "en", ())

ASKED = [
    pytest.param("", Asked(), id="the first page"),
    pytest.param("path=/blog/", Asked("/blog/"), id="a path"),
    pytest.param("path=%2Fblog%2F&locale=uk", Asked("/blog/", locale="uk"), id="encoded, with a language"),
    pytest.param("path=/x&locale=uk_UA", Asked("/x", locale="uk-UA"), id="a language as servers write it"),
    pytest.param("path=/x&locale=<script>", Asked("/x"), id="no language"),
    pytest.param("path=/x%3Fa%3D1%26a%3D2%26b%3D", Asked("/x", {"a": "1", "b": ""}), id="the page's own query, the first of each"),
    pytest.param("path=/%D1%97%D0%B6%D0%B0%D0%BA", Asked("/їжак"), id="letters of any script"),
    pytest.param("path=/" + "a" * 2047, Asked("/" + "a" * 2047), id="the longest"),
    pytest.param("path=/" + "a" * 2048, None, id="too long"),
    pytest.param("path=blog", None, id="no slash"),
    pytest.param("path=//evil.example/", None, id="another host"),
    pytest.param("path=https://evil.example/", None, id="an absolute address"),
    pytest.param("path=/a%00b", None, id="a control character"),
    pytest.param("path=/a%5Cb", None, id="a backslash"),
    pytest.param("path=/a%20b", None, id="a space that is not encoded in the path itself"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), ASKED)
def test_asked(query: str, expected: Asked | None) -> None:
    """A page is named by its path; what is no path is nothing."""
    assert asked(query) == expected


def test_the_whole() -> None:
    """Every member but `endpoint` is always there."""
    made = page(SITE, Asked("/blog/"), "en", [], {"ask": "?"})
    assert made == {
        "site": "main",
        "locale": "en",
        "endpoint": "/webmcp/event",
        "beacon": "json",
        "config": "/webmcp/config.json?path=%2Fblog%2F&locale=en",
        "origins": [],
        "outputLimit": 1500,
        "clientHint": True,
        "frames": False,
        "legacyNavigator": False,
        "messages": {"ask": "?"},
        "tools": [],
    }


def test_a_site_elsewhere() -> None:
    """Addresses are absolute where pages and daemon have different origins; features and targets are the site's."""
    site = Site(
        "a", "a", "/w", "https://gw.example/w", "/", "en", (),
        features=Features(0, client_hint=False, frames=True, legacy_navigator=True, beacon="text"),
        addresses=Addresses(None, frozenset({"https://b.example", "https://a.example"})),
        counted=False,
    )  # fmt: skip
    made = page(site, Asked(), "uk", [], {})
    assert "endpoint" not in made
    assert made["config"] == "https://gw.example/w/config.json?path=%2F&locale=uk"
    assert made["origins"] == ["https://a.example", "https://b.example"]
    kept = (made["outputLimit"], made["clientHint"], made["frames"], made["legacyNavigator"], made["beacon"])
    assert kept == (0, False, True, True, "text")


class _Texts(HTMLParser):
    """The elements of a page, and the text of the scripts in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


NASTY = ["</script><img src=x onerror=alert(1)>", "<!--<script>", "]]>", "\u2028\u2029", "\"'&", "😀", "\ud800"]


@pytest.mark.parametrize("text", NASTY)
def test_nothing_ends_the_block(text: str) -> None:
    """No text leaves the script block, and it is the same text inside; half a character becomes U+FFFD."""
    reader = _Texts()
    reader.feed(block(encoded({"text": text})).decode())
    assert reader.tags == ["script"]
    assert json.loads(reader.text) == {"text": text.replace("\ud800", "\ufffd")}


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    """What goes in comes out, in bytes that HTML has nothing to say about."""
    made = encoded({"text": text})
    assert json.loads(made) == {"text": text}
    assert not {b"<", b">", b"&"} & {made[at : at + 1] for at in range(len(made))}


def test_what_json_does_not_have() -> None:
    """A number that is none is an error, not a page that no browser reads."""
    with pytest.raises(ValueError, match="JSON"):
        encoded({"a": float("nan")})


@pytest.mark.parametrize(
    ("pattern", "path", "good"),
    [
        pytest.param("/blog/", "/blog/", True, id="the same"),
        pytest.param("/blog/", "/blog/a", False, id="below it"),
        pytest.param("/blog/*", "/blog/a/b", True, id="anything below it"),
        pytest.param("*", "/", True, id="any"),
        pytest.param("/*.html", "/a.html", True, id="an ending"),
        pytest.param("/a.b", "/aXb", False, id="a dot is a dot"),
        pytest.param("/a*c", "/abd", False, id="another ending"),
    ],
)  # fmt: skip
def test_patterns(pattern: str, path: str, good: bool) -> None:
    """In a pattern of pages `*` is anything."""
    assert fits(pattern, path) is good
