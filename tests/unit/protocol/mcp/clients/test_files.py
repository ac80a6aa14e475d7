"""The files that are served for clients."""

from __future__ import annotations

import json

import pytest

from rpcgw.protocol.mcp.clients import CLIENTS, Client, Connection, files

OPEN = Connection("acme", "https://gw.example.org/mcp")
PROTECTED = Connection("acme", "https://gw.example.org/mcp", protected=True)


def test_every_client_has_a_json_file_under_each_of_its_names() -> None:
    """`<name>.json` is there for all, `.toml` and `.yaml` only where that is the client's own."""
    expected = {"index.json"}
    for client in CLIENTS:
        for name in (client.name, *client.aliases):
            expected |= {f"{name}.json", f"{name}.{client.format}"}
    assert files(OPEN).keys() == expected


@pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS])
def test_json_is_the_file_or_tells_about_it(client: Client) -> None:
    """A client whose file is JSON gets it and nothing else; any other gets file, format, text and command."""
    made = files(OPEN)
    body = json.loads(made[f"{client.name}.json"])
    if client.format == "json":
        assert body == client.tree(OPEN)
    else:
        assert list(body) == ["file", "format", "text", "command"]
        assert body["text"] == made[f"{client.name}.{client.format}"] == client.text(OPEN)
        assert (body["format"], body["command"]) == (client.format, client.command(OPEN))


def test_the_index_lists_all() -> None:
    """Each client with its file, its configuration's address, and its command and link where it has them."""
    body = json.loads(files(OPEN)["index.json"])
    assert (body["name"], body["url"]) == ("acme", OPEN.url)
    assert [entry["name"] for entry in body["clients"]] == [client.name for client in CLIENTS]
    entries = {entry["name"]: entry for entry in body["clients"]}
    assert entries["codex"]["manifest"] == f"{OPEN.url}/manifest/codex.toml"
    assert entries["cursor"]["link"].startswith("cursor://")
    assert entries["claude-code"]["command"].startswith("claude mcp add ")
    assert entries["continue"]["file"] == ".continue/mcpServers/acme.yaml"
    assert "null" not in files(OPEN)["index.json"]


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        pytest.param(OPEN, None, id="no token"),
        pytest.param(PROTECTED, {"header": "Authorization", "value": "Bearer <token>"}, id="a token"),
    ],
)
def test_the_index_says_where_a_token_goes(connection: Connection, expected: dict[str, str] | None) -> None:
    """Header and form of the token, for whoever writes a client that is not in the list."""
    assert json.loads(files(connection)["index.json"]).get("token") == expected
