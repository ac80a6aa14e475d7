"""Calls of a page at a real daemon: one procedure for /rpc, MCP and the page, with the visitor's rights and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon, serving, wait_until
from tests.support.sites import CONFIG, OURS, PLUGIN, ROUTES, call, configured, tools


@pytest.fixture(scope="module")
def d() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        yield running


def token(d: Daemon, tool: str) -> str:
    """The token that a page has for a tool."""
    made: str = tools(d)[tool]["data"]["token"]
    return made


def test_a_call(d: Daemon) -> None:
    """The answer is a tool's result, as MCP would have it, never to be kept."""
    answer = call(d, "shop_find", {"query": "lamp", "limit": 2})
    assert answer.status == 200
    assert answer.json() == {
        "content": [{"type": "text", "text": '["lamp 1","lamp 2"]'}],
        "structuredContent": {"result": ["lamp 1", "lamp 2"]},
        "isError": False,
    }
    assert (answer.header("Cache-Control"), answer.header("X-Content-Type-Options")) == ("no-store", "nosniff")


def test_the_same_as_over_rpc(d: Daemon) -> None:
    """One executor: the page gets what /rpc answers."""
    over_rpc = d.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Catalog.find", "params": {"query": "lamp"}}).json()
    assert call(d, "shop_find", {"query": "lamp"}).json()["structuredContent"]["result"] == over_rpc["result"]


def test_who_calls(d: Daemon) -> None:
    """A visitor is nobody in particular, and the procedure knows that a page asks."""
    found = call(d, "shop_who").json()["structuredContent"]["result"]
    assert found == {"principal": "anonymous", "surface": "webmcp", "group": "public"}


WRONG = [
    pytest.param({}, "query", id="one is missing"),
    pytest.param({"query": 3}, "query", id="of another type"),
    pytest.param({"query": "a", "more": 1}, "more", id="one too many"),
    pytest.param({"query": "a", "limit": "2"}, "limit", id="a number in quotes"),
]


@pytest.mark.parametrize(("arguments", "named"), WRONG)
def test_wrong_arguments(d: Daemon, arguments: Mapping[str, Any], named: str) -> None:
    """The advertised form is held to, and the answer names the argument, for the agent to mend."""
    answer = call(d, "shop_find", arguments)
    told = answer.json()
    assert (answer.status, told["isError"], "structuredContent" in told) == (200, True, False)
    assert named in json.loads(told["content"][0]["text"])["data"]["extra"]


def test_a_method_that_fails(d: Daemon) -> None:
    """A failure is a result, and says nothing of what went on inside."""
    told = call(d, "shop_broken").json()
    assert told["isError"] is True
    assert "disk" not in json.dumps(told)


def test_the_visitor_is_asked_first(d: Daemon) -> None:
    """What changes something runs only where the visitor agreed; the server holds to it."""
    refused = call(d, "shop_order", {"name": "lamp"})
    assert (refused.status, refused.json()["error"]["code"]) == (409, "confirmation-needed")
    assert call(d, "shop_order", {"name": "lamp"}, confirmed=True).json()["structuredContent"] == {
        "result": "ordered lamp"
    }


def test_the_visitor_s_rights_and_no_more(d: Daemon) -> None:
    """A page's token opens no group: who calls needs what /rpc would ask of them."""
    refused = call(d, "staff_who")
    assert (refused.status, refused.json()["error"]["code"]) == (401, "token-needed")
    wrong = call(d, "staff_who", headers={**OURS, "Ufo-RPC-Token": "wrong"})
    assert wrong.status == 403
    allowed = call(d, "staff_who", headers={**OURS, "Ufo-RPC-Token": "staff-token"})
    assert allowed.json()["structuredContent"]["result"]["group"] == "staff"


SENDERS = [
    pytest.param(OURS, 200, id="the site's own page"),
    pytest.param({"Sec-Fetch-Site": "same-origin"}, 200, id="same origin"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "https://www.example.org"}, 200, id="the site's page, the daemon elsewhere"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403, id="a foreign page"),
    pytest.param({"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.org"}, 403, id="a sibling"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, 403, id="a sandbox"),
    pytest.param({"Sec-Fetch-Site": "none"}, 403, id="nobody's page"),
    pytest.param({}, 403, id="no browser"),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "status"), SENDERS)
def test_senders(d: Daemon, headers: Mapping[str, str], status: int) -> None:
    """Cookies ride along with any page's request: only the site's own pages may call."""
    answer = call(d, "shop_find", {"query": "a"}, headers)
    assert answer.status == status
    if status == 403:
        assert answer.json()["error"]["code"] == "foreign-page"


def test_another_tool_s_token(d: Daemon) -> None:
    """A token is bound to its tool."""
    body = {"tool": "shop_order", "token": token(d, "shop_find"), "arguments": {"name": "x"}, "confirmed": True}
    answer = d.post("/webmcp/call", body, OURS)
    assert (answer.status, answer.json()["error"]["code"]) == (403, "token-invalid")


def test_another_site_s_token() -> None:
    """A token is bound to its site."""
    config = configured()
    config["webmcp"]["sites"]["other"] = config["webmcp"]["sites"]["main"]
    routes = ROUTES + "other: {resource: webmcp, prefix: /other, defaults: {site: other}}\n"
    with daemon(config=config, routes=routes, plugins={"shop.py": PLUGIN}) as running:
        body = {"tool": "shop_find", "token": token(running, "shop_find"), "arguments": {"query": "x"}}
        assert running.post("/webmcp/call", body, OURS).status == 200
        assert running.post("/other/call", body, OURS).json()["error"]["code"] == "token-invalid"


def test_a_token_ends_and_survives_a_restart() -> None:
    """A token holds over restarts, since the secret is kept, until its time is over; then the page is told so."""
    with daemon(config=configured(call_ttl=3600), routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        body = {"tool": "shop_find", "token": token(running, "shop_find"), "arguments": {"query": "x"}}
        assert (running.folder / "var" / "webmcp.key").stat().st_mode & 0o077 == 0
        assert running.stop() == 0
        with serving(running.folder) as second:
            assert second.post("/webmcp/call", body, OURS).status == 200


BODIES = [
    pytest.param(b"", 400, "malformed", id="nothing"),
    pytest.param(b"[]", 400, "malformed", id="an array"),
    pytest.param(b'{"tool":"shop_find"}', 400, "malformed", id="no token"),
    pytest.param(b'{"tool":"shop_find","token":"x","arguments":[]}', 400, "malformed", id="arguments in a row"),
    pytest.param(b'{"tool":"shop_find","token":"x","confirmed":"yes"}', 400, "malformed", id="a yes in letters"),
    pytest.param(b'{"tool":"shop_find","token":"x"}', 403, "token-invalid", id="no genuine token"),
    pytest.param(b'{"tool":"nothing","token":"x"}', 404, "unknown-tool", id="no such tool"),
    pytest.param(b"x" * 65_537, 413, "malformed", id="too large"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "code"), BODIES)
def test_bodies(d: Daemon, body: bytes, status: int, code: str) -> None:
    """Each refusal has a status, a code and a text that can be shown."""
    answer = d.post("/webmcp/call", body, OURS)
    assert (answer.status, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_media_types(d: Daemon, media_type: str) -> None:
    """What a page may send anywhere without asking first is no call."""
    answer = d.request("POST", "/webmcp/call", b"{}", {**OURS, "Content-Type": media_type})
    assert (answer.status, answer.json()["error"]["code"]) == (415, "malformed")


def test_methods(d: Daemon) -> None:
    """Calls are POSTed."""
    answer = d.get("/webmcp/call", OURS)
    assert (answer.status, answer.header("Allow")) == (405, "POST, OPTIONS")


def test_preflights(d: Daemon) -> None:
    """The site's pages may call from another origin with their cookies; no other page may."""
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    ours = d.request("OPTIONS", "/webmcp/call", headers={"Origin": "https://www.example.org", **asked})
    assert (ours.status, ours.header("Access-Control-Allow-Credentials")) == (200, "true")
    assert d.request("OPTIONS", "/webmcp/call", headers={"Origin": "https://evil.example", **asked}).status == 403


def test_the_group_s_rates_hold() -> None:
    """Pages share the limits of the group that they call, by address as everywhere."""
    config = {**configured(), "groups": {"public": {"limits": {"address": "2/minute"}}}}
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        first = [call(running, "shop_find", {"query": "a"}).status for _ in range(2)]
        refused = call(running, "shop_find", {"query": "a"})
        assert (first, refused.status, refused.json()["error"]["code"]) == ([200, 200], 429, "too-many")
        assert int(refused.header("Retry-After") or 0) > 0


def test_a_tool_that_calls_something_else_now() -> None:
    """A token of before does not run what the tool called then."""
    with daemon(config=configured(), routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        body = {"tool": "shop_find", "token": token(running, "shop_find"), "arguments": {"query": "x"}}
        other = {"call": {"method": "Catalog.who", "group": "public"}}
        running.write({"gateway.yaml": json.dumps(configured(site={"tools": {"shop_find": other}}))})
        running.hup()
        running.wait_log("reload.done", seconds=60)
        wait_until(lambda: running.post("/webmcp/call", body, OURS).status == 404, 20, running.stderr)
