"""Web pages that plugins bring, over HTTP: what comes with them, and who is let in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemon import Daemon, daemon

PLUGIN = """
import rpcgw as rpc

plugin = rpc.Plugin(pages={"/shop/": "<!doctype html><title>Ї</title>", "/shop/lamps.json": "[" + "1," * 2000 + "1]"})
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[Daemon]:
    with daemon(plugins={"shop.py": PLUGIN}) as running:
        yield running


def test_a_page_comes_with_what_a_browser_needs(shop: Daemon) -> None:
    """Its media type, a Content-Security-Policy that knows this site only, and tools for itself alone."""
    for path in ("/shop/", "/shop"):
        answer = shop.get(path)
        assert (answer.status, answer.text) == (200, "<!doctype html><title>Ї</title>")
        assert answer.header("content-type") == "text/html; charset=utf-8"
        assert "default-src 'self'" in (answer.header("content-security-policy") or "")
        assert answer.header("permissions-policy") == "tools=(self)"
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("origin-agent-cluster") is None


def test_a_page_is_sent_once(shop: Daemon) -> None:
    """Whoever has it already gets 304; a long one is compressed for whoever takes that."""
    tag = shop.get("/shop/").header("etag") or ""
    assert shop.get("/shop/", {"If-None-Match": tag}).status == 304
    packed = shop.get("/shop/lamps.json", {"Accept-Encoding": "gzip"})
    assert packed.header("content-encoding") == "gzip"
    assert len(packed.body) < 200


def test_pages_are_read_and_not_written(shop: Daemon) -> None:
    """HEAD is answered, POST is refused, and so is a name that is not this host's."""
    assert shop.request("HEAD", "/shop/").body == b""
    refused = shop.post("/shop/", {})
    assert (refused.status, refused.header("allow")) == (405, "GET, HEAD, OPTIONS")
    assert shop.get("/shop/", {"Host": "evil.example"}).status == 421
    assert shop.get("/shop/nothing").status == 404
