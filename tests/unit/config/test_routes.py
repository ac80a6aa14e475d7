"""Routes: what they serve, what they are called, where they meet."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rpcgw.config.loading import Loaded
from rpcgw.config.route import Route
from rpcgw.config.routes import patterns_meet


def route(routes: tuple[Route, ...]) -> tuple[str, str, str, str]:
    (only,) = routes
    return only.kind, only.prefix, only.group, only.name_prefix


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: {resource: rpc, prefix: /rpc}", ("rpc", "/rpc", "general", ""), id="the default group"),
        pytest.param("a: {resource: mcp, prefix: /mcp/, defaults: {api_group: mcp}}", ("mcp", "/mcp", "mcp", ""), id="a slash at the end is dropped"),
        pytest.param("a: {resource: ../../vendor/ufo-tech/mcp-bundle/config/router.yaml, prefix: /m}", ("mcp", "/m", "general", ""), id="the MCP bundle's own file"),
        pytest.param("a: {resource: json-rpc-bundle/config/router.yaml, prefix: /r}", ("rpc", "/r", "general", ""), id="the kernel's own file"),
        pytest.param("a: {resource: rpc, prefix: /, name_prefix: x_, trailing_slash_on_root: false}", ("rpc", "", "general", "x_"), id="the root, with every option"),
        pytest.param("a: {resource: rpc, prefix: '/${WHERE:-x}', defaults: ~}", ("rpc", "/x", "general", ""), id="variables and empty options"),
    ],
)  # fmt: skip
def test_routes(compiled: Callable[..., Loaded], text: str, expected: tuple[str, ...]) -> None:
    """One import is one route."""
    assert route(compiled("", text).settings.routes) == expected


def test_names(compiled: Callable[..., Loaded]) -> None:
    """C-03: every path has the original's name, with the group and an optional prefix before it."""
    routes = (
        "m: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}\nr: {resource: rpc, prefix: /, name_prefix: x_}\n"
    )
    settings = compiled("metrics: {enabled: false}", routes).settings
    assert [[(path.pattern, path.name) for path in found.paths()] for found in settings.routes] == [
        [
            ("/mcp", "mcp_ufo_mcp_endpoint"),
            ("/mcp/{ver}", "mcp_ufo_mcp_endpoint"),
            ("/mcp/server.json", "mcp_ufo_mcp_server_json"),
            ("/mcp/{ver}/server.json", "mcp_ufo_mcp_server_json_ver"),
            ("/mcp/manifest/{aiName}.json", "mcp_ufo_mcp_manifest"),
            ("/mcp/{ver}/manifest/{aiName}.json", "mcp_ufo_mcp_manifest_ver"),
        ],
        [
            ("/", "x_general_ufo_rpc_api_server"),
            ("/{ver}", "x_general_ufo_rpc_api_server_ver"),
            ("/postman", "x_general_ufo_rpc_api_postman"),
            ("/{ver}/postman", "x_general_ufo_rpc_api_postman_ver"),
        ],
    ]


FIRST = "a: {resource: mcp, prefix: /mcp}\n"


@pytest.mark.parametrize(
    ("routes", "line"),
    [
        pytest.param("a: {resource: mpc, prefix: /mcp}", '1:5: error[bad-value] "a.resource" must be "rpc", "mcp", "webmcp", or a path that ends in json-rpc-bundle/config/router.yaml or mcp-bundle/config/router.yaml, not the string "mpc". (did you mean "rpc"?)', id="an unknown resource"),
        pytest.param("a: {resource: rest, prefix: /w}", '1:5: error[not-available] Routes with the resource "rest": this version does not do it yet. (leave the route out)', id="a planned resource"),
        pytest.param("a: {resource: rpc, prefix: rpc}", '1:20: error[bad-value] "a.prefix" must be a path that begins with "/", without placeholders, not the string "rpc".', id="a prefix without a slash"),
        pytest.param("a: {resource: rpc, prefix: '/{ver}'}", '1:20: error[bad-value] "a.prefix" must be a path that begins with "/", without placeholders, not the string "/{ver}".', id="a placeholder in a prefix"),
        pytest.param("a: {resource: rpc}", '1:1: error[missing-option] "a" needs the option "prefix".', id="no prefix"),
        pytest.param("a: {resource: rpc, prefix: /a, api_group: x}", '1:32: error[unknown-option] Unrecognized option "api_group" under "a". Available options are "resource", "prefix", "defaults", "name_prefix", "trailing_slash_on_root". (it belongs under defaults: {api_group: ...})', id="a group in the wrong place"),
        pytest.param(FIRST + "b: {resource: mcp, prefix: /other}", '2:1: error[route-name] The routes "a" and "b" would both be named "general_ufo_mcp_endpoint"; the first stands at routes.yaml:1:1. (give one of them a name_prefix)', id="a group twice without a name_prefix"),
        pytest.param(FIRST + "b: {resource: rpc, prefix: /mcp}", '2:1: error[route-collision] "/mcp" of the route "b" meets "/mcp" of the route "a"; the first stands at routes.yaml:1:1. (give one of them another prefix)', id="one prefix twice"),
        pytest.param(FIRST + "b: {resource: rpc, prefix: /mcp/v2}", '2:1: error[route-collision] "/mcp/v2" of the route "b" meets "/mcp/{ver}" of the route "a"; the first stands at routes.yaml:1:1. (give one of them another prefix)', id="a prefix that looks like a version"),
        pytest.param(FIRST + "b: {resource: rpc, prefix: /mcp/server.json}", '2:1: error[route-collision] "/mcp/server.json" of the route "b" meets "/mcp/server.json" of the route "a"; the first stands at routes.yaml:1:1. (give one of them another prefix)', id="a prefix that is a document"),
        pytest.param("a: {resource: rpc, prefix: /metrics}", '1:1: error[route-collision] "/metrics" of the route "a" meets "/metrics", which the daemon itself answers. (give the route another prefix)', id="the path of the metrics"),
        pytest.param("a: {resource: rpc, prefix: /livez}", '1:1: error[route-collision] "/livez" of the route "a" meets "/livez", which the daemon itself answers. (give the route another prefix)', id="the path of a health check"),
        pytest.param("a: {resource: rpc, prefix: /console}", '1:1: error[route-collision] "/console/{ver}" of the route "a" meets "/console/{group}", which the daemon itself answers. (give the route another prefix)', id="the path of a group's console"),
    ],
)  # fmt: skip
def test_problems(problems: Callable[..., list[str]], routes: str, line: str) -> None:
    """What is wrong with routes is said with both places."""
    assert problems("", routes) == [f"routes.yaml:{line}"]


@pytest.mark.parametrize(
    "routes",
    [
        pytest.param(
            FIRST + "b: {resource: mcp, prefix: /other, name_prefix: b_}", id="a group twice with a name_prefix"
        ),
        pytest.param(FIRST + "b: {resource: rpc, prefix: /rpc}", id="a group by both kinds"),
        pytest.param(
            FIRST + "b: {resource: mcp, prefix: /mcp/internal, defaults: {api_group: internal}}",
            id="a prefix below another",
        ),
    ],
)
def test_live_side_by_side(problems: Callable[..., list[str]], routes: str) -> None:
    """C-02, C-19: several imports live side by side."""
    assert problems("", routes) == []


def test_a_console_that_is_off_takes_no_path(problems: Callable[..., list[str]]) -> None:
    """Without the console its paths are free."""
    assert problems("console: {enabled: false}", "a: {resource: rpc, prefix: /console/a}") == []


def test_nothing_to_serve(problems: Callable[..., list[str]]) -> None:
    """A routes file without routes is refused: nothing would be served."""
    assert problems("", "{}") == [
        "routes.yaml:1:1: error[missing-option] There is no route, so nothing would be served. (`rpcgw init` writes a routes.yaml to begin with)"
    ]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        pytest.param("/a", "/a", True, id="equal"),
        pytest.param("/a", "/b", False, id="different"),
        pytest.param("/a/{ver}", "/a/v12", True, id="a version"),
        pytest.param("/a/{ver}", "/a/vx", False, id="no version"),
        pytest.param("/a/{ver}", "/a/v1/b", False, id="deeper"),
        pytest.param("/m/manifest/{aiName}.json", "/m/manifest/x.json", True, id="a client's file"),
        pytest.param("/{ver}/postman", "/v1/{ver}", False, id="a word is no version"),
        pytest.param("/", "/{ver}", False, id="the root is no version"),
        pytest.param("/a/{group}", "/a/{ver}", True, id="a group may be called like a version"),
    ],
)
def test_patterns(one: str, other: str, meet: bool) -> None:
    """Two patterns meet where some path fits both, whichever comes first."""
    assert (patterns_meet(one, other), patterns_meet(other, one)) == (meet, meet)
