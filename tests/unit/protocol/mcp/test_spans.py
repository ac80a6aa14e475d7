"""Spans of MCP: names and attributes."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.exchange import Fields, Head
from rpcgw.protocol.mcp import spans
from rpcgw.protocol.mcp.messages import Modern

NAMES = [
    pytest.param("tools/call", "Catalog.search", True, "tools/call Catalog.search", id="a tool that there is"),
    pytest.param("tools/call", None, True, "tools/call", id="a tool that there is not"),
    pytest.param("tools/list", None, True, "tools/list", id="no tool"),
    pytest.param("made/up", None, False, "unknown method", id="a method that there is not"),
]


@pytest.mark.parametrize(("method", "tool", "known", "name"), NAMES)
def test_names_are_few(method: str, tool: str | None, known: bool, name: str) -> None:
    """What a client makes up never becomes a name."""
    assert spans.name(method, tool, known=known) == name


TOOLS = [
    pytest.param({"name": "Catalog.search"}, "Catalog.search", id="one that there is"),
    pytest.param({"name": "Catalog.gone"}, None, id="one that there is not"),
    pytest.param({"name": ["Catalog.search"]}, None, id="no text"),
    pytest.param({}, None, id="none"),
]


@pytest.mark.parametrize(("params", "tool"), TOOLS)
def test_the_tool_that_is_meant(params: dict[str, Any], tool: str | None) -> None:
    """Of those that there are."""
    assert spans.asked_for(Modern(1, "tools/call", params, {}, "2026-07-28"), {"Catalog.search"}) == tool


def test_what_does_not_apply_is_left_out() -> None:
    """Over pipes there is neither a protocol below nor an address; outside of a session no session."""
    request = Modern("a" * 500, "tools/list", {}, {}, "2026-07-28")
    found = spans.attributes(request, Head("POST", "/", "", Fields({})), "2026-07-28", None, "pipe")
    assert found == {
        "mcp.method.name": "tools/list",
        "jsonrpc.request.id": "a" * 100,
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "pipe",
    }
