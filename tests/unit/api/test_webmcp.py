"""The page that a tool is asked for."""

from __future__ import annotations

import pytest

import rpcgw.api.webmcp
from rpcgw.api.primitives import PRIMITIVES
from rpcgw.api.webmcp import PageContext

PAGE = PageContext("main", "https://www.example.org/shop/", "/blog/", "en", {"q": "a b", "n": "1"})

URLS = [
    pytest.param(PAGE, None, {}, "https://www.example.org/shop/blog/?q=a+b&n=1", id="the page's own, with its query"),
    pytest.param(PAGE, None, {"q": "ї&"}, "https://www.example.org/shop/blog/?q=%D1%97%26", id="the page's own, with another query"),
    pytest.param(PAGE, "/x/", {}, "https://www.example.org/shop/x/", id="another page"),
    pytest.param(PAGE, "x", {"n": 2}, "https://www.example.org/shop/x?n=2", id="another page, without a slash, with a number"),
    pytest.param(PageContext("main"), "/x/", {}, "/x/", id="of a site whose address is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "path", "query", "url"), URLS)
def test_urls(page: PageContext, path: str | None, query: dict[str, str | int], url: str) -> None:
    """Addresses are below the site's own; values of the query are percent-encoded."""
    assert page.url(path, **query) == url


def test_each_primitive_has_a_name_on_the_wire() -> None:
    """The names are those of the contract, each once."""
    assert [primitive.wire for primitive in PRIMITIVES] == [
        "navigate",
        "search",
        "mailto",
        "static",
        "module",
        "call",
        "form",
    ]


def test_what_an_author_imports() -> None:
    """Every name of the list is there, and explained."""
    for name in rpcgw.api.webmcp.__all__:
        assert hasattr(rpcgw.api.webmcp, name), name
    kinds = [getattr(rpcgw.api.webmcp, name) for name in rpcgw.api.webmcp.__all__]
    assert [kind for kind in kinds if isinstance(kind, type) and not kind.__doc__] == []
