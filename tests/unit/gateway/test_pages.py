"""Web pages that plugins bring: what each is by its path, and which cannot be served."""

from __future__ import annotations

from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.config.settings import Settings
from rpcgw.discovery.found import Candidate, LoadedPlugin
from rpcgw.gateway.pages import media_type, plugin_pages


def brought(name: str, pages: dict[Any, Any]) -> LoadedPlugin:
    """A plugin of this name with these pages."""
    candidate = Candidate(name, f"{name}:plugin", name, "1.0.0", "file", f"plugins/{name}.py")
    return LoadedPlugin(candidate, rpc.Plugin(pages=pages))


TYPES = [
    ("/site/", "text/html; charset=utf-8"),
    ("/site/about", "text/html; charset=utf-8"),
    ("/site/about.html", "text/html; charset=utf-8"),
    ("/v1.2/", "text/html; charset=utf-8"),
    ("/site/index.json", "application/json; charset=utf-8"),
    ("/site/site.css", "text/css; charset=utf-8"),
    ("/site/a.js", "text/javascript; charset=utf-8"),
    ("/site/a.mjs", "text/javascript; charset=utf-8"),
    ("/site/logo.png", "image/png"),
    ("/site/a.unheard-of", "application/octet-stream"),
]


@pytest.mark.parametrize(("path", "kind"), TYPES)
def test_what_a_page_is(path: str, kind: str) -> None:
    """The ending of the path says it; HTML where it has none."""
    assert media_type(path) == kind


def test_text_and_bytes_are_pages() -> None:
    """Text is UTF-8, bytes go as they are; who may read them is who passes the guards."""
    served, problems = plugin_pages(Settings("gateway.yaml"), [brought("shop", {"/": "ї", "/logo.png": b"\x89PNG"})])
    assert problems == []
    assert [(page.path, page.body, page.plugin) for page in served] == [
        ("/", "ї".encode(), "shop"),
        ("/logo.png", b"\x89PNG", "shop"),
    ]
    assert all(not page.readers.tokens for page in served)


WRONG = [
    pytest.param({"site/": "x"}, id="a path without a slash"),
    pytest.param({"/a b": "x"}, id="a space"),
    pytest.param({"/{group}": "x"}, id="a pattern"),
    pytest.param({"/сайт": "x"}, id="letters that an address has to escape"),
    pytest.param({"/a?b": "x"}, id="a query"),
    pytest.param({"/a": None}, id="no text and no bytes"),
]


@pytest.mark.parametrize("pages", WRONG)
def test_what_cannot_be_served(pages: dict[Any, Any]) -> None:
    """It is a problem at the plugin's place, and nothing is served."""
    served, [problem] = plugin_pages(Settings("gateway.yaml"), [brought("shop", pages)])
    assert served == ()
    assert (problem.code, problem.place.file) == ("plugin-page", "plugins/shop.py")
    assert repr(next(iter(pages))) in problem.text


def test_two_plugins_cannot_have_one_page() -> None:
    """The problem names both."""
    served, [problem] = plugin_pages(
        Settings("gateway.yaml"), [brought("shop", {"/a": "1"}), brought("blog", {"/a": "2"})]
    )
    assert [page.body for page in served] == [b"1"]
    assert problem.text == "two plugins bring the page /a: 'blog' and 'shop'"
