"""How a client reaches a server, and what it calls it."""

from __future__ import annotations

import pytest

from rpcgw.protocol.mcp.clients import Connection, server_key


@pytest.mark.parametrize(
    ("name", "title", "group", "expected"),
    [
        pytest.param("io.github.acme/shop", "The Shop", "mcp", "shop", id="the registry's name without its namespace"),
        pytest.param("io.github.acme/Shop_2.x", None, "mcp", "shop_2-x", id="what no client takes becomes a dash"),
        pytest.param("shop", None, "mcp", "shop", id="a name without a namespace"),
        pytest.param(None, "The Acme Shop!", "mcp", "the-acme-shop", id="the title where there is no name"),
        pytest.param("", "Крамниця", "mcp", "rpcgw-mcp", id="the group where the title has no letter of ASCII"),
        pytest.param(None, None, "internal.api", "rpcgw-internal-api", id="the group where nobody says anything"),
        pytest.param("a/42", None, "mcp", "mcp-42", id="a letter comes first"),
        pytest.param("a/" + "x" * 99, None, "mcp", "x" * 40, id="no longer than tools' names allow"),
    ],
)
def test_server_key(name: str | None, title: str | None, group: str, expected: str) -> None:
    """A key is made of what every client takes, from the most exact thing that is said of the server."""
    assert server_key(name, title, group) == expected


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        pytest.param(Connection("a", "u"), {}, id="no token, no header"),
        pytest.param(Connection("a", "u", True), {"headers": {"Authorization": "Bearer $T"}}, id="a bearer token"),
        pytest.param(Connection("a", "u", True, "authorization"), {"headers": {"authorization": "Bearer $T"}}, id="in any case"),
        pytest.param(Connection("a", "u", True, "X-Token"), {"headers": {"X-Token": "$T"}}, id="bare in another header"),
    ],
)  # fmt: skip
def test_headers(connection: Connection, expected: dict[str, dict[str, str]]) -> None:
    """The header holds the placeholder, behind `Bearer` in Authorization only."""
    assert connection.headers("$T") == expected


@pytest.mark.parametrize("url", ["https://a/mcp", "https://a/", "https://a/mcp/v2"])
def test_manifest(url: str) -> None:
    """Client configurations stand below the address that they are for."""
    assert Connection("a", url).manifest("x.json") == f"{url.rstrip('/')}/manifest/x.json"
