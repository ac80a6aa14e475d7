"""C-01 to C-04, C-07, C-18 to C-20: which endpoints there are, and which group and version each of them serves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder
from tests.support.http import Client
from tests.support.mcp import Session, Stateless, error_of, result_of

SHOPS = """
import rpcgw as rpc

@rpc.procedure("Catalog", groups=["mcp", "internal"], with_default=False)
class Catalog:
    def search(self, query: str = "") -> str:
        return f"found {query}"

    def old(self) -> str:
        return "old"

@rpc.procedure("Admin", groups=["internal"], with_default=False)
class Admin:
    def wipe(self) -> str:
        return "wiped"

    @rpc.groups("mcp", with_default=False)
    def lent(self) -> str:
        return "lent"

@rpc.procedure("Catalog", version=2, removed=["old"], groups=["mcp"], with_default=False)
class CatalogV2:
    def fresh(self) -> str:
        return "fresh"

    def search(self, query: str = "") -> str:
        return f"found {query} again"

@rpc.procedure("Both", groups=["mcp"])
class Both:
    def run(self) -> str:
        return "both"

@rpc.procedure("Free")
class Free:
    def run(self) -> str:
        return "free"

@rpc.procedure("Free", version=2)
class FreeV2:
    def run(self) -> str:
        return "free again"

@rpc.procedure("Same", groups=["tuned", "untuned", "ghost", "guarded"], with_default=False)
class Same:
    def one(self) -> str:
        return "one"

    def two(self) -> str:
        return "two"

@rpc.procedure("Same", version=2, groups=["tuned", "untuned"], with_default=False)
class SameV2:
    def three(self) -> str:
        return "three"
"""

MCP_BUNDLE = "../../vendor/ufo-tech/mcp-bundle/config/router.yaml"
RPC_BUNDLE = "../../vendor/ufo-tech/json-rpc-bundle/config/router.yaml"

ROUTES: dict[str, Any] = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "rpc_internal": {"resource": RPC_BUNDLE, "prefix": "/rpc/internal", "defaults": {"api_group": "internal"}},
    "rpc_mcp": {"resource": "rpc", "prefix": "/rpc/mcp", "defaults": {"api_group": "mcp"}},
    "rpc_nobody": {"resource": "rpc", "prefix": "/rpc/nobody", "defaults": {"api_group": "nobody"}},
    "rpc_guarded": {"resource": "rpc", "prefix": "/rpc/guarded", "defaults": {"api_group": "guarded"}},
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "mcp_internal": {"resource": MCP_BUNDLE, "prefix": "/mcp/internal", "defaults": {"api_group": "internal"}},
    "again": {"resource": "mcp", "prefix": "/again", "defaults": {"api_group": "mcp"}, "name_prefix": "second_"},
    "plain": {"resource": "mcp", "prefix": "/plain"},
    "nobody": {"resource": "mcp", "prefix": "/mcp/nobody", "defaults": {"api_group": "nobody"}},
    "guarded": {"resource": "mcp", "prefix": "/mcp/guarded", "defaults": {"api_group": "guarded"}},
    "tuned": {"resource": "mcp", "prefix": "/mcp/tuned", "defaults": {"api_group": "tuned"}},
    "untuned": {"resource": "mcp", "prefix": "/mcp/untuned", "defaults": {"api_group": "untuned"}},
}

CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {
                "guarded": {"protected_api": True, "token_name": "X-Guard", "clients_tokens": ["open sesame"]}
            },
        }
    },
    "ufo_mcp": {
        "groups": {
            "ghost": {"enabled": True, "instructions": "Nobody serves this group."},
            "tuned": {
                "instructions": "Two of three.",
                "max_body_bytes": 5000,
                "session_ttl": 60,
                "mcp_server_info": {"name": "org.example/tuned", "title": "Tuned"},
            },
        }
    },
}

TOKEN = {"X-Guard": "open sesame"}
BOTH_PATHS = pytest.mark.parametrize("path", ["/mcp", "/mcp/v2"])


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """One daemon with all the endpoints of this module."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shops.py": SHOPS}) as running:
        yield running


@pytest.fixture(scope="module")
def routes(served: Daemon) -> list[dict[str, str]]:
    """What `rpcgw routes` says of them."""
    told = cli("routes", "-c", "gateway.yaml", "--json", cwd=served.folder)
    assert told.returncode == 0, told.stderr
    found: list[dict[str, str]] = json.loads(told.stdout)
    return found


def tools(client: Client, path: str, headers: dict[str, str] | None = None) -> set[str]:
    """Return the names of the tools of an endpoint."""
    return set(Stateless(client, path, headers).tools())


def rpc(client: Client, path: str, method: str, headers: dict[str, str] | None = None) -> Any:
    """Call a method by JSON-RPC and return the whole answer."""
    return client.post(path, {"jsonrpc": "2.0", "id": 1, "method": method}, headers).json()


def documented(client: Client, path: str) -> set[str]:
    """Return the names of the methods of an OpenRPC document."""
    return {method["name"] for method in client.get(path).json()["methods"]}


def names(routes: list[dict[str, str]], prefix: str) -> set[str]:
    """Return the names of the routes at a prefix and at its versions."""
    return {route["name"] for route in routes if route["path"] in {prefix, f"{prefix}/{{ver}}"}}


# -- C-01, C-02: imports


def test_only_routes_make_endpoints(served: Daemon, routes: list[dict[str, str]]) -> None:
    """C-01: a group that `ufo_mcp` tunes and no route imports has no endpoint, though it has methods."""
    assert [route for route in routes if route["group"] == "ghost"] == []
    for path in ("/ghost", "/mcp/ghost", "/mcp/ghost/v1"):
        assert Stateless(served, path).send("tools/list").status == 404


@pytest.mark.parametrize("version", ["", "/v1", "/v2"])
def test_tuning_changes_no_tool_and_no_version(served: Daemon, version: str) -> None:
    """C-01: a group with settings of its own shows in each version what the same group without any shows."""
    tuned, untuned = (Stateless(served, f"/mcp/{group}{version}").tools() for group in ("tuned", "untuned"))
    assert tuned == untuned
    assert len(tuned) == (3 if version == "/v2" else 2)


def test_the_request_says_which_version_is_served(served: Daemon) -> None:
    """C-01: a group with settings of its own serves the versions that its methods have, and no others."""
    served_versions = [n for n in (1, 2, 3) if Stateless(served, f"/mcp/tuned/v{n}").send("tools/list").status == 200]
    assert served_versions == [1, 2]


def test_an_import_serves_its_group_at_its_prefix(served: Daemon, routes: list[dict[str, str]]) -> None:
    """C-02: imports live side by side, each at its prefix, for the group of its `defaults`."""
    assert tools(served, "/mcp/internal") == {"Catalog.search", "Catalog.old", "Admin.wipe"}
    assert tools(served, "/mcp") == {"Catalog.search", "Catalog.old", "Admin.lent", "Both.run"}
    expected = {route["prefix"]: route.get("defaults", {}).get("api_group", "general") for route in ROUTES.values()}
    listed = {route["path"]: route["group"] for route in routes}
    assert {path: group for path, group in listed.items() if path in expected} == expected


def test_without_a_group_an_import_serves_the_default_group(served: Daemon) -> None:
    """C-02: without `api_group` it is the kernel's default group `general`, on `/rpc` and on MCP."""
    assert tools(served, "/plain") == {"Both.run", "Free.run", "ping"}
    assert documented(served, "/rpc") == {"Both.run", "Free.run", "ping"}


def test_a_group_imported_twice_needs_a_name_prefix() -> None:
    """C-02: a problem names both imports, their places and what to do, and nothing starts."""
    twice = """\
    first:
      resource: mcp
      prefix: /one
      defaults: {api_group: mcp}
    second:
      resource: mcp
      prefix: /two
      defaults: {api_group: mcp}
    """
    with folder(routes=twice) as place:
        checked = cli("check", "-c", "gateway.yaml", cwd=place)
    (problem,) = re.findall(r"^routes\.yaml:5:\d+: error.*(?:\n .*)*", checked.stderr, re.MULTILINE)
    assert {'"first"', '"second"', '"mcp_ufo_mcp_endpoint"'} <= set(re.findall(r'"[^"]+"', problem))
    assert "routes.yaml:1:" in problem
    assert "name_prefix" in problem
    assert checked.returncode == 1


def test_with_a_name_prefix_a_group_is_imported_twice(served: Daemon) -> None:
    """C-02: with a `name_prefix` on one of them, both imports of a group serve it."""
    assert tools(served, "/again") == tools(served, "/mcp")


# -- C-03, C-04, C-07: names, paths and methods


def test_an_import_has_route_names_of_its_own(routes: list[dict[str, str]]) -> None:
    """C-03: names begin with the group, so that no import needs a `name_prefix`."""
    for prefix, group in {"/mcp": "mcp", "/mcp/internal": "internal", "/plain": "general"}.items():
        assert names(routes, prefix) == {f"{group}_ufo_mcp_endpoint"}
    assert all(name.startswith("internal_ufo_rpc_") for name in names(routes, "/rpc/internal"))


def test_a_name_prefix_is_honoured(routes: list[dict[str, str]]) -> None:
    """C-03: a `name_prefix` goes before the names of its import, and of no other."""
    assert names(routes, "/again") == {"second_mcp_ufo_mcp_endpoint"}
    prefixed = {route["path"] for route in routes if route["name"].startswith("second_")}
    assert prefixed == {route["path"] for route in routes if route["path"].startswith("/again")} != set()


def test_the_paths_of_an_import_are_listed(routes: list[dict[str, str]]) -> None:
    """C-04: `<prefix>` and `<prefix>/{ver}` have one name, and take POST, DELETE and OPTIONS."""
    mine = {r["path"]: set(re.split(r"[, ]+", r["methods"])) for r in routes if r["name"] == "mcp_ufo_mcp_endpoint"}
    assert mine == {path: {"POST", "DELETE", "OPTIONS"} for path in ("/mcp", "/mcp/{ver}")}


@BOTH_PATHS
def test_post_is_served(served: Daemon, path: str) -> None:
    """C-04: POST is answered at the prefix and below it, in both eras."""
    assert "tools" in result_of(Stateless(served, path).send("tools/list"))
    assert "tools" in result_of(Session(served, path).send("tools/list"))


@BOTH_PATHS
def test_delete_is_served(served: Daemon, path: str) -> None:
    """C-04: DELETE ends a session at the prefix and below it."""
    session = Session(served, path)
    assert session.end().status in {200, 204}
    assert session.send("tools/list").status == 404


@BOTH_PATHS
def test_options_is_served(served: Daemon, path: str) -> None:
    """C-04: OPTIONS names the methods at the prefix and below it."""
    answer = served.request("OPTIONS", path)
    assert answer.status in {200, 204}
    assert set(re.split(r"[, ]+", answer.header("Allow") or "")) == {"POST", "DELETE", "OPTIONS"}


@BOTH_PATHS
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH"])
def test_other_methods_are_not_served(served: Daemon, path: str, method: str) -> None:
    """C-04: GET answers 405 and names what is served; so does whatever else there is."""
    answer = served.request(method, path, headers={"Accept": "text/event-stream"})
    assert answer.status == 405
    assert set(re.split(r"[, ]+", answer.header("Allow") or "")) == {"POST", "DELETE", "OPTIONS"}


def test_no_version_is_version_one(served: Daemon) -> None:
    """C-07: `<prefix>` and `<prefix>/v1` are answered alike, by MCP, by JSON-RPC and in documents."""
    bare, numbered = (Stateless(served, path).send("tools/list", request_id=1) for path in ("/mcp", "/mcp/v1"))
    assert (bare.status, bare.json()) == (numbered.status, numbered.json())
    assert rpc(served, "/rpc", "Free.run") == rpc(served, "/rpc/v1", "Free.run")
    assert documented(served, "/rpc/mcp") == documented(served, "/rpc/mcp/v1") != documented(served, "/rpc/mcp/v2")


def test_a_version_is_v_and_a_number(served: Daemon) -> None:
    """C-07: `v1`, `v2` and so on are versions."""
    assert Stateless(served, "/mcp/v1").result("Catalog.search")["structuredContent"] == {"result": "found "}
    assert Stateless(served, "/mcp/v2").result("Catalog.search")["structuredContent"] == {"result": "found  again"}


@pytest.mark.parametrize("segment", ["1", "v", "vx", "V1", "v1.0", "v-1", "version1", "v0", "v01", "v²"])
def test_anything_else_is_no_version(served: Daemon, segment: str) -> None:
    """C-07: what is not `v` and a number from 1 on is not served."""
    path = f"/mcp/{segment}".replace("²", "%C2%B2")
    assert Stateless(served, path).send("tools/list").status == 404


# -- C-18: groups


def test_groups_decide_where_a_class_is_shown(served: Daemon) -> None:
    """C-18: with classes of `["mcp","internal"]` and `["internal"]`, `/mcp` shows the first only, `/mcp/internal` both."""
    shown = {
        path: {name for name in tools(served, path) if name in {"Catalog.search", "Admin.wipe"}}
        for path in ("/mcp", "/mcp/internal")
    }
    assert shown == {"/mcp": {"Catalog.search"}, "/mcp/internal": {"Catalog.search", "Admin.wipe"}}


def test_what_is_not_in_the_default_group_is_not_on_rpc(served: Daemon) -> None:
    """C-18: `/rpc` shows neither class, and calls neither: `with_default=False`."""
    assert documented(served, "/rpc") & {"Catalog.search", "Catalog.old", "Admin.wipe"} == set()
    assert rpc(served, "/rpc", "Catalog.search")["error"]["code"] == -32601
    assert rpc(served, "/rpc", "Admin.wipe")["error"]["code"] == -32601


def test_what_is_not_shown_is_not_called(served: Daemon) -> None:
    """C-18: a tool of another group is unknown to `/mcp`."""
    assert error_of(Stateless(served, "/mcp").call("Admin.wipe"))["code"] == -32602
    assert Stateless(served, "/mcp/internal").result("Admin.wipe")["structuredContent"] == {"result": "wiped"}


def test_without_the_flag_a_class_is_in_the_default_group_too(served: Daemon) -> None:
    """C-18: groups come in addition to `general`, unless `with_default=False`."""
    assert "Both.run" in tools(served, "/mcp")
    assert rpc(served, "/rpc", "Both.run")["result"] == "both"


def test_a_mark_on_the_method_holds_for_it_alone(served: Daemon) -> None:
    """C-18: a method's own mark stands instead of that of its class."""
    assert "Admin.lent" in tools(served, "/mcp")
    assert "Admin.lent" not in tools(served, "/mcp/internal")
    assert rpc(served, "/rpc", "Admin.lent")["error"]["code"] == -32601


# -- C-19: one group over two protocols, and its tokens


def test_a_group_is_served_by_both_protocols(served: Daemon) -> None:
    """C-19: `/rpc/...` and `/mcp/...` show the same methods of a group and give the same values."""
    assert documented(served, "/rpc/mcp") == tools(served, "/mcp")
    told = Stateless(served, "/mcp").result("Catalog.search", {"query": "tea"})["structuredContent"]["result"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "Catalog.search", "params": {"query": "tea"}}
    assert served.post("/rpc/mcp", message).json()["result"] == told == "found tea"


TOKENS = [
    pytest.param({}, id="no token"),
    pytest.param({"X-Guard": "wrong"}, id="a wrong token"),
    pytest.param({"X-Guard": ""}, id="an empty token"),
    pytest.param({"Ufo-RPC-Token": "open sesame"}, id="the header of other groups"),
    pytest.param({"Authorization": "Bearer wrong"}, id="a wrong bearer token"),
]


@pytest.mark.parametrize("headers", TOKENS)
def test_the_token_of_a_group_holds_for_mcp(served: Daemon, headers: dict[str, str]) -> None:
    """C-19: without the group's token nothing is answered on MCP, in neither era."""
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    answers = [
        Stateless(served, "/mcp/guarded", headers).send("tools/list"),
        Stateless(served, "/mcp/guarded/v1", headers).call("Same.one"),
        served.post("/mcp/guarded", initialize, headers),
        served.request("DELETE", "/mcp/guarded", headers={**headers, "Mcp-Session-Id": "x" * 32}),
    ]
    assert [answer.status for answer in answers] == [401] * 4
    assert [(answer.header("WWW-Authenticate") or "").partition(" ")[0] for answer in answers] == ["Bearer"] * 4
    assert [answer.header("Mcp-Session-Id") for answer in answers] == [None] * 4
    assert all("id" not in answer.json() for answer in answers)


@pytest.mark.parametrize("headers", [TOKEN, {"Authorization": "Bearer open sesame"}])
def test_with_the_token_the_group_is_served(served: Daemon, headers: dict[str, str]) -> None:
    """C-19: the same token opens the group on `/rpc` and on MCP."""
    assert rpc(served, "/rpc/guarded", "Same.one", headers)["result"] == "one"
    assert Stateless(served, "/mcp/guarded", headers).result("Same.one")["structuredContent"] == {"result": "one"}
    session = Session(served, "/mcp/guarded", headers=headers)
    assert session.result("Same.one")["structuredContent"] == {"result": "one"}


def test_the_token_is_that_groups_alone(served: Daemon) -> None:
    """C-19: `/rpc` asks for the token of the group too, and other groups ask for none."""
    assert served.post("/rpc/guarded", {"jsonrpc": "2.0", "id": 1, "method": "Same.one"}).status == 401
    assert tools(served, "/mcp/tuned") == {"Same.one", "Same.two"}


# -- C-20: versions


def test_a_version_has_what_its_class_says(served: Daemon) -> None:
    """C-20: `/mcp/v2` has what version 2 adds and changes, and lacks what it removes; `/mcp` knows nothing of that."""
    assert (
        tools(served, "/mcp") == tools(served, "/mcp/v1") == {"Catalog.search", "Catalog.old", "Admin.lent", "Both.run"}
    )
    assert {"Catalog.search", "Catalog.fresh"} <= tools(served, "/mcp/v2")
    assert "Catalog.old" not in tools(served, "/mcp/v2")
    assert error_of(Stateless(served, "/mcp/v2").call("Catalog.old"))["code"] == -32602
    assert error_of(Stateless(served, "/mcp/v1").call("Catalog.fresh"))["code"] == -32602
    assert rpc(served, "/rpc/mcp/v2", "Catalog.old")["error"]["code"] == -32601


def test_a_version_inherits_the_one_before_it(served: Daemon) -> None:
    """C-20: what version 2 does not speak of is as it was in version 1."""
    assert {"Admin.lent", "Both.run"} <= tools(served, "/mcp/v2")
    assert Stateless(served, "/mcp/v2").result("Both.run")["structuredContent"] == {"result": "both"}
    assert rpc(served, "/rpc/mcp/v2", "Admin.lent")["result"] == "lent"


MISSING = [
    pytest.param("/mcp/v3", id="a version after the last"),
    pytest.param("/mcp/internal/v2", id="a version that another group has"),
    pytest.param("/mcp/nobody", id="a group without methods"),
    pytest.param("/mcp/nobody/v1", id="a version of a group without methods"),
]


@pytest.mark.parametrize("path", MISSING)
def test_what_a_group_lacks_is_not_found_on_mcp(served: Daemon, path: str) -> None:
    """C-20: a version that the group lacks, and a group without any method, is 404 on MCP, whatever is asked."""
    session = Session(served, "/mcp")
    assert Stateless(served, path).send("tools/list").status == 404
    assert session.client.post(path, {"jsonrpc": "2.0", "id": 1, "method": "initialize"}).status == 404
    assert served.request("DELETE", path, headers=session.headers).status == 404
    assert served.get(path).status == 404


@pytest.mark.parametrize("path", ["/rpc/v3", "/rpc/internal/v2", "/rpc/nobody", "/rpc/nobody/v1"])
def test_what_a_group_lacks_has_no_document(served: Daemon, path: str) -> None:
    """C-20: the document of such a version, or of such a group, is 404."""
    assert served.get(path).status == 404


@pytest.mark.parametrize("path", ["/rpc/v3", "/rpc/internal/v2", "/rpc/nobody", "/rpc/nobody/v1"])
def test_what_a_group_lacks_is_an_unknown_method(served: Daemon, path: str) -> None:
    """C-20: a JSON-RPC POST to such a version answers -32601, and with the client's id."""
    answer = rpc(served, path, "Free.run")
    assert (answer["id"], answer["error"]["code"]) == (1, -32601)


def test_ping_is_in_the_default_group_alone(served: Daemon) -> None:
    """C-20: the built-in `ping` answers in `general`, in each of its versions, and in no other group."""
    assert [rpc(served, path, "ping").get("result") for path in ("/rpc", "/rpc/v1", "/rpc/v2")] == ["PONG"] * 3
    assert "ping" in tools(served, "/plain/v2")
    assert [rpc(served, path, "ping")["error"]["code"] for path in ("/rpc/mcp", "/rpc/internal")] == [-32601] * 2
    assert [path for path in ("/mcp", "/mcp/v2", "/mcp/internal") if "ping" in tools(served, path)] == []
