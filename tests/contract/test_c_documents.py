"""C-05, C-06, C-09, C-12 to C-15, D-04: `server.json`, and the configurations of clients."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.support.daemon import Daemon, cli, daemon
from tests.support.mcp import Session

SCHEMA = json.loads((Path(__file__).parent.parent / "golden/serverjson/server.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.FormatChecker())

GROUPS = ("shop", "office", "closed", "locked", "plain")
PLUGIN = f"""
import rpcgw as rpc

@rpc.procedure("Shop", groups={[*GROUPS, "nameless"]!r}, with_default=False)
class Shop:
    def size(self, text: str = "") -> int:
        return len(text)

@rpc.procedure("Shop", version=2, groups={[*GROUPS]!r}, with_default=False)
class ShopV2:
    def size(self, text: str = "") -> int:
        return -len(text)
"""

TOKEN = "a-token-that-nobody-may-see"
PUBLIC = "https://tools.example.org"
ICONS = [
    {"src": "https://example.org/icon.png", "mime_type": "image/png", "sizes": ["48x48", "128x128"], "theme": "dark"},
    {"src": "https://example.org/icon.svg"},
]
INFO = {"name": "org.example/shop", "title": "The shop", "description": "Sells things.", "icons": ICONS}
CONFIG = {
    "server": {"public_url": PUBLIC},
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "clients_tokens": [TOKEN],
            "providers": {"locked": {"protected_api": True, "token_name": "X-Shop-Token"}},
        }
    },
    "ufo_mcp": {
        "mcp_server_info": INFO,
        "groups": {
            "closed": {"enabled": False},
            "office": {"mcp_server_info": {"name": "org.example/office"}},
            "locked": {"mcp_server_info": {"name": "org.example/locked", "title": None}},
        },
    },
}
ROUTES = {
    name: {"resource": "mcp", "prefix": f"/{name}", "defaults": {"api_group": name}} for name in (*GROUPS, "empty")
}

CLIENTS = [
    *("claude-code", "claude-desktop", "claude-api", "cursor", "vs-code", "gemini-cli", "openai-responses", "codex"),
    *("chatgpt", "windsurf", "cline", "zed", "lm-studio", "goose", "continue", "jetbrains", "kiro", "warp", "generic"),
]
OTHERS = {"codex": "toml", "goose": "yaml", "continue": "yaml"}
"""Clients whose own file is no JSON."""


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        yield running


@pytest.fixture(scope="module")
def silent() -> Iterator[Daemon]:
    """Nothing is said of the server, and nobody knows where clients reach it: the system picks the port."""
    routes = {"nameless": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "nameless"}}}
    with daemon(routes=routes, plugins={"shop.py": PLUGIN}) as running:
        yield running


def names(running: Daemon) -> dict[str, str]:
    """Return the routes' names by path, as the command line lists them."""
    listed = cli("routes", "-c", "gateway.yaml", "--json", cwd=running.folder)
    return {route["path"]: route["name"] for route in json.loads(listed.stdout)}


VERSIONS = [("", "v1"), ("/v1", "v1"), ("/v2", "v2")]


@pytest.mark.parametrize(("path", "version"), VERSIONS)
def test_server_json_is_what_a_registry_takes(served: Daemon, path: str, version: str) -> None:
    """C-05: GET answers a document that the registry's schema takes, with the address of that version."""
    answer = served.get(f"/shop{path}/server.json")
    document = answer.json()
    assert (answer.status, answer.header("Content-Type")) == (200, "application/json")
    assert list(VALIDATOR.iter_errors(document)) == []
    assert document["$schema"] == SCHEMA["$id"]
    address = f"{PUBLIC}/shop" if version == "v1" else f"{PUBLIC}/shop/{version}"
    assert document["remotes"] == [{"type": "streamable-http", "url": address}]


@pytest.mark.parametrize(("path", "version"), VERSIONS)
def test_server_json_is_there_by_head(served: Daemon, path: str, version: str) -> None:
    """C-05: HEAD answers as GET, without the body; other methods are told what is allowed."""
    got, head = [served.request(method, f"/shop{path}/server.json") for method in ("GET", "HEAD")]
    assert (head.status, head.body, head.header("Content-Length")) == (200, b"", str(len(got.body)))
    refused = served.post(f"/shop{path}/server.json", {})
    assert (refused.status, refused.header("Allow")) == (405, "GET, HEAD, OPTIONS")


def test_server_json_has_its_names(served: Daemon) -> None:
    """C-05: the routes are called as in the original, by group."""
    listed = names(served)
    assert listed["/shop/server.json"] == "shop_ufo_mcp_server_json"
    assert listed["/office/{ver}/server.json"] == "office_ufo_mcp_server_json_ver"


def test_the_address_never_comes_from_the_request(served: Daemon, silent: Daemon) -> None:
    """C-05: `remotes` come from the configuration; where it does not say, they are left out, whatever `Host` says."""
    headers = {"Host": "localhost:1", "X-Forwarded-Host": "evil.example.com"}
    assert served.get("/shop/server.json", headers).json()["remotes"][0]["url"] == f"{PUBLIC}/shop"
    assert "remotes" not in silent.get("/mcp/server.json", headers).json()


@pytest.mark.parametrize("path", ["/shop/v3", "/empty", "/empty/v1"])
def test_no_server_json_of_what_is_not_there(served: Daemon, path: str) -> None:
    """C-05: 404 for a version that the group lacks, and for a group without methods, while others are served."""
    assert served.get(f"{path}/server.json").status == 404
    assert served.get("/shop/v2/server.json").status == 200


@pytest.mark.parametrize(("path", "version"), VERSIONS)
@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_has_its_configuration(served: Daemon, client: str, path: str, version: str) -> None:
    """C-06: GET answers JSON for each client, and its own notation beside it, with the address of that version."""
    address = f"{PUBLIC}/plain" if version == "v1" else f"{PUBLIC}/plain/{version}"
    answer = served.get(f"/plain{path}/manifest/{client}.json")
    assert (answer.status, answer.header("Content-Type")) == (200, "application/json")
    if client in OTHERS:
        told = answer.json()
        assert told.keys() == {"file", "format", "text", "command"}
        own = served.get(f"/plain{path}/manifest/{client}.{OTHERS[client]}").text
        assert told["text"] == own
        text = json.dumps(tomllib.loads(own) if OTHERS[client] == "toml" else yaml.safe_load(own))
    else:
        text = json.dumps(answer.json())
    assert f'"{address}"' in text


def test_the_index_names_them_all(served: Daemon) -> None:
    """C-06: `index.json` lists every client, with the links and commands that install the server."""
    listed = {client["name"]: client for client in served.get("/shop/manifest/index.json").json()["clients"]}
    assert sorted(listed) == sorted(CLIENTS)
    assert listed["cursor"]["link"].startswith("cursor://")
    assert listed["vs-code"]["link"].startswith("vscode:mcp/install?")
    assert f"{PUBLIC}/shop" in listed["claude-code"]["command"]


EXACT = [
    ("claude-code", {"mcpServers": {"locked": {"type": "http", "url": f"{PUBLIC}/locked", "headers": {"X-Shop-Token": "${RPCGW_TOKEN}"}}}}),
    ("cursor", {"mcpServers": {"locked": {"url": f"{PUBLIC}/locked", "headers": {"X-Shop-Token": "${env:RPCGW_TOKEN}"}}}}),
    ("gemini", {"mcpServers": {"locked": {"httpUrl": f"{PUBLIC}/locked", "headers": {"X-Shop-Token": "$RPCGW_TOKEN"}, "timeout": 30000}}}),
    ("windsurf", {"mcpServers": {"locked": {"serverUrl": f"{PUBLIC}/locked", "headers": {"X-Shop-Token": "${env:RPCGW_TOKEN}"}}}}),
]  # fmt: skip


@pytest.mark.parametrize(("client", "expected"), EXACT)
def test_a_protected_group_has_the_clients_own_placeholder(served: Daemon, client: str, expected: Any) -> None:
    """C-06: exactly what the client's file wants, the group's header with the way to look the token up."""
    assert served.get(f"/locked/manifest/{client}.json").json() == expected


def test_no_token_is_ever_shown(served: Daemon) -> None:
    """C-06: no document of a protected group holds a token, nor a digest of one, and none asks for one to be read."""
    listed = served.get("/locked/manifest/nobody.json").json()["known"]
    assert len(listed) >= len(CLIENTS)
    for path in ["server.json", *(f"manifest/{name}" for name in listed)]:
        answer = served.get(f"/locked/{path}")
        assert answer.status == 200
        assert TOKEN not in answer.text
        assert not re.search(r"[0-9a-f]{64}", answer.text)


def test_configurations_have_their_names(served: Daemon) -> None:
    """C-06: the routes are called as in the original, by group."""
    listed = names(served)
    assert listed["/shop/manifest/{aiName}.json"] == "shop_ufo_mcp_manifest"
    assert listed["/office/{ver}/manifest/{aiName}.json"] == "office_ufo_mcp_manifest_ver"


@pytest.mark.parametrize("client", ["cursor", "codex", "goose"])
def test_the_command_line_prints_the_same(served: Daemon, client: str) -> None:
    """C-06: `rpcgw client` prints the client's own file, as it is served."""
    printed = cli("client", client, "--group", "locked", "--ver", "v2", "-c", "gateway.yaml", cwd=served.folder)
    own = served.get(f"/locked/v2/manifest/{client}.{OTHERS.get(client, 'json')}")
    assert (printed.returncode, printed.stdout) == (0, own.text)


def test_configurations_need_an_address(silent: Daemon) -> None:
    """C-06: where nobody knows the address, 404 says which setting helps; `Host` is not asked."""
    answer = silent.get("/mcp/manifest/cursor.json", {"Host": "localhost:1"})
    assert answer.status == 404
    assert "server.public_url" in answer.text


DOCUMENTS = ["server.json", "manifest/cursor.json", "manifest/index.json", "v1/server.json", "v2/manifest/codex.toml"]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_disabled_group_has_no_documents(served: Daemon, path: str) -> None:
    """C-09: what is disabled answers 404 for `server.json` and manifests too; other groups are there."""
    assert served.get(f"/closed/{path}").status == 404
    assert served.get(f"/shop/{path}").status == 200


@pytest.mark.parametrize(("value", "status"), [("0", 404), ("1", 200)])
def test_documents_are_disabled_for_all(value: str, status: int) -> None:
    """C-09: the common `enabled` holds for documents, and an environment variable decides it."""
    config = {**CONFIG, "ufo_mcp": {"enabled": "%env(bool:MCP_ENABLED)%"}}
    routes = {"shop": ROUTES["shop"]}
    with daemon(config=config, routes=routes, plugins={"shop.py": PLUGIN}, env={"MCP_ENABLED": value}) as running:
        assert [running.get(f"/shop/{path}").status for path in DOCUMENTS] == [status] * len(DOCUMENTS)


def test_the_name_is_in_server_json(served: Daemon, silent: Daemon) -> None:
    """C-12: `name` is the reverse-DNS id, and not there where none is set: `ufo-rpc` is for `initialize` only."""
    assert served.get("/shop/server.json").json()["name"] == "org.example/shop"
    assert silent.get("/mcp/server.json").json().keys() == {"$schema", "version"}


def test_title_and_description_are_in_server_json(served: Daemon) -> None:
    """C-13: `title` as in `serverInfo`, and `description`, which no client of MCP sees."""
    document = served.get("/shop/server.json").json()
    assert (document["title"], document["description"]) == ("The shop", "Sells things.")
    session = Session(served, "/shop")
    assert session.server["serverInfo"]["title"] == "The shop"
    assert "Sells things." not in session.opening.text


def test_icons_are_in_server_json(served: Daemon) -> None:
    """C-13: each icon with what is said of it, by the registry's names; and for `server.json` only."""
    assert served.get("/shop/server.json").json()["icons"] == [
        {
            "src": "https://example.org/icon.png",
            "mimeType": "image/png",
            "sizes": ["48x48", "128x128"],
            "theme": "dark",
        },
        {"src": "https://example.org/icon.svg"},
    ]
    assert "icon" not in Session(served, "/shop").opening.text


def test_a_group_overrides_field_by_field_in_server_json(served: Daemon) -> None:
    """C-14: a group may set only the name, and `~` inherits; the rest of the document is the common one."""
    common = served.get("/shop/server.json").json()
    office, locked = [served.get(f"/{group}/server.json").json() for group in ("office", "locked")]
    assert (office["name"], locked["name"]) == ("org.example/office", "org.example/locked")
    assert {name: office[name] for name in ("title", "description", "icons")} == {
        name: common[name] for name in ("title", "description", "icons")
    }
    assert locked["title"] == common["title"]


@pytest.mark.parametrize(("path", "version"), VERSIONS)
def test_the_version_in_server_json_is_the_requests(served: Daemon, path: str, version: str) -> None:
    """C-15: `version` is the `{ver}` that was asked for, v1 where none was."""
    assert served.get(f"/shop{path}/server.json").json()["version"] == version


def test_documents_stand_beside_mcp(served: Daemon) -> None:
    """D-04: one daemon serves MCP, its `server.json` and its manifests."""
    assert Session(served, "/shop").tools().keys() == {"Shop.size"}
    assert [served.get(f"/shop/{path}").status for path in DOCUMENTS] == [200] * len(DOCUMENTS)
