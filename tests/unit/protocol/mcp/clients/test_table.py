"""Each client's own file, held against a golden one, and the commands and links that write the same."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from rpcgw.protocol.mcp.clients import CLIENTS, Client, Connection, find
from rpcgw.protocol.mcp.clients.table import BY_NAME

GOLDEN = Path(__file__).parents[4] / "golden" / "clients"
URL = "https://gw.example.org/mcp"
ABOUT = "Acme's catalogue."
CONNECTIONS = {
    "open": Connection("acme", URL, description=ABOUT),
    "bearer": Connection("acme", URL, protected=True, description=ABOUT),
    "header": Connection("acme", URL, protected=True, header="X-Acme-Token", description=ABOUT),
}
READ: Mapping[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}

every_client = pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS])
every_connection = pytest.mark.parametrize("kind", CONNECTIONS)


@every_client
@every_connection
def test_the_file_is_what_the_client_wants(client: Client, kind: str) -> None:
    """Each file is the golden one, and a real parser reads out of it what was meant."""
    text = client.text(CONNECTIONS[kind])
    assert text == (GOLDEN / kind / f"{client.name}.{client.format}").read_text(encoding="utf-8")
    assert READ[client.format](text) == client.tree(CONNECTIONS[kind])


def test_every_golden_file_has_its_client() -> None:
    """No file is left over from a client that is gone."""
    names = {f"{client.name}.{client.format}" for client in CLIENTS}
    assert {kind: {path.name for path in (GOLDEN / kind).iterdir()} for kind in CONNECTIONS} == dict.fromkeys(CONNECTIONS, names)  # fmt: skip


@every_client
@every_connection
def test_the_address_is_in_the_file(client: Client, kind: str) -> None:
    """Whatever a client calls it, the address stands there as it is."""
    assert URL in client.text(CONNECTIONS[kind])


@every_client
def test_without_a_token_nothing_is_asked_for(client: Client) -> None:
    """An open group's file has no header, no question and no placeholder."""
    assert not re.search(r"token|header|input|bearer", client.text(CONNECTIONS["open"]), re.IGNORECASE)


PLACEHOLDERS = re.compile(r"\$\{RPCGW_TOKEN\}|\$RPCGW_TOKEN|\$\{env:RPCGW_TOKEN\}|\$\{input:acme-token\}|\$\{\{ secrets\.RPCGW_TOKEN \}\}|RPCGW_TOKEN|<token>")  # fmt: skip


@every_client
@pytest.mark.parametrize("kind", ["bearer", "header"])
def test_with_a_token_its_placeholder_is_there(client: Client, kind: str) -> None:
    """A protected group's file says where the token goes; ChatGPT's says that it will not do."""
    if client.name == "chatgpt":
        assert client.tree(CONNECTIONS[kind])["supported"] is False
    else:
        assert PLACEHOLDERS.search(client.text(CONNECTIONS[kind]))


@pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS if client.name not in {"claude-api", "chatgpt"}])  # fmt: skip
def test_a_header_of_another_name_is_named(client: Client) -> None:
    """Every client that can send a header sends the operator's own; the Claude API knows bearer tokens only."""
    text = client.text(CONNECTIONS["header"])
    assert "X-Acme-Token" in text
    assert "Bearer" not in text


def server(tree: Any) -> Any:
    return tree["mcpServers"]["acme"]


@every_connection
@pytest.mark.parametrize("name", ["cursor", "lm-studio"])
def test_links_hold_the_entry_of_the_file(name: str, kind: str) -> None:
    """A link's Base64 is the same entry that the file has, without its name."""
    client, to = BY_NAME[name], CONNECTIONS[kind]
    query = parse_qs(urlsplit(str(client.link(to))).query, strict_parsing=True)
    assert query["name"] == ["acme"]
    assert json.loads(b64decode(query["config"][0], validate=True)) == server(client.tree(to))


@every_connection
def test_vs_code_is_told_the_same_by_link_and_command(kind: str) -> None:
    """The link's query and the command's argument are the entry, its name, and the questions of the file."""
    client, to = BY_NAME["vs-code"], CONNECTIONS[kind]
    tree = client.tree(to)
    inputs = {"inputs": tree["inputs"]} if "inputs" in tree else {}
    expected = {"name": "acme", **tree["servers"]["acme"], **inputs}
    link = str(client.link(to))
    assert link.startswith("vscode:mcp/install?")
    assert json.loads(unquote(link.partition("?")[2])) == expected
    program, option, argument = shlex.split(str(client.command(to)))
    assert (program, option, json.loads(argument)) == ("code", "--add-mcp", expected)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        pytest.param("claude-code", "open", ["claude", "mcp", "add", "--scope", "project", "--transport", "http", "acme", URL], id="Claude Code"),
        pytest.param("claude-code", "bearer", ["claude", "mcp", "add", "--scope", "project", "--transport", "http", "acme", URL, "--header", "Authorization: Bearer ${RPCGW_TOKEN}"], id="Claude Code with a token"),
        pytest.param("gemini-cli", "header", ["gemini", "mcp", "add", "--scope", "user", "--transport", "http", "--header", "X-Acme-Token: $RPCGW_TOKEN", "acme", URL], id="Gemini CLI with another header"),
        pytest.param("codex", "bearer", ["codex", "mcp", "add", "acme", "--url", URL, "--bearer-token-env-var", "RPCGW_TOKEN"], id="Codex with a token"),
        pytest.param("goose", "open", ["goose", "session", "--with-streamable-http-extension", URL], id="Goose"),
        pytest.param("goose", "bearer", ["goose", "configure"], id="Goose with a token has a dialogue only"),
        pytest.param("continue", "open", ["curl", "-fsS", "--create-dirs", "-o", ".continue/mcpServers/acme.yaml", f"{URL}/manifest/continue.yaml"], id="Continue fetches its file"),
    ],
)  # fmt: skip
def test_commands(name: str, kind: str, expected: list[str]) -> None:
    """A shell hands each command its arguments whole, and looks no variable up itself."""
    assert shlex.split(str(BY_NAME[name].command(CONNECTIONS[kind]))) == expected


def test_codex_has_no_command_for_another_header() -> None:
    """What its command line cannot say is left to the file."""
    assert BY_NAME["codex"].command(CONNECTIONS["header"]) is None


@every_client
def test_an_address_cannot_break_out_of_a_command(client: Client) -> None:
    """What an address may hold stays one argument."""
    to = Connection("acme", "https://gw.example.org/a$(id)&b;c'd", protected=True)
    command = client.command(to)
    if command and command != "goose configure":
        assert any(to.url in argument for argument in shlex.split(command))


def test_plain_http_is_allowed_to_the_bridge_only_where_it_is_needed() -> None:
    """Claude Desktop's bridge refuses plain http unless told."""
    desktop = BY_NAME["claude-desktop"]
    assert "--allow-http" in server(desktop.tree(Connection("acme", "http://127.0.0.1:8080/mcp")))["args"]
    assert "--allow-http" not in server(desktop.tree(CONNECTIONS["open"]))["args"]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        pytest.param("claude", "claude-code", id="an alias"),
        pytest.param("VSCode", "vs-code", id="in any case"),
        pytest.param("lm_studio", "lm-studio", id="an underscore"),
        pytest.param("Claude Desktop", "claude-desktop", id="a title's blank"),
        pytest.param("openai", "openai-responses", id="OpenAI"),
        pytest.param("gemini", "gemini-cli", id="Gemini"),
        pytest.param("amazon-q", "kiro", id="what Kiro was called"),
    ],
)
def test_aliases(asked: str, name: str) -> None:
    """Clients are found by what people call them."""
    client = find(asked)
    assert client is not None
    assert client.name == name


def test_names_and_aliases_are_nobody_elses() -> None:
    """No name stands twice, and each is one that can be asked for."""
    names = [name for client in CLIENTS for name in (client.name, *client.aliases)]
    assert len(names) == len(set(names)) == len(BY_NAME)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert find("nobody") is None
