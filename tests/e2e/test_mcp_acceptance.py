"""What a tools server for MCP is accepted by: the lines of docs/acceptance/mcp.md, each against a daemon that runs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import jsonschema
import pytest

from tests.golden import mcp_demo
from tests.golden import mcp_requests as golden
from tests.golden.mcp_requests import ABSENT, META, STATELESS, call, initialize, legacy, modern, post, raw
from tests.support.acceptance import Note, Wire, run_noted
from tests.support.daemon import Daemon, cli, daemon, folder, serving, wait_until
from tests.support.http import Answer
from tests.support.mcp import Stateless
from tests.support.refusal import refusal
from tests.support.schemas import parts, references, validator

EXTRAS = '''
import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import rpcgw as rpc


def note(text: str) -> None:
    with Path("noted").open("a") as file:
        file.write(text + "\\n")


@dataclass
class Node:
    name: str
    children: list["Node"] = field(default_factory=list)
    where: dict[str, list[int]] = field(default_factory=dict)


@rpc.procedure("Extra", groups=["demo", "other", "brief", "closed"], with_default=False)
class Extra:
    """What the golden demo lacks."""

    async def steps(self, ctx: rpc.CallContext) -> str:
        """Say how far it is, and something else."""
        await ctx.log("warning", "something else")
        await ctx.progress(1, 2)
        await ctx.progress(2, 2)
        return "done"

    async def talk(self, ctx: rpc.CallContext) -> str:
        """Say something of the level warning."""
        await ctx.log("warning", "loud")
        return "said"

    async def last(self, name: str) -> str:
        """End after a while, whoever waits; note how."""
        note(f"{name} began")
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            note(f"{name} cancelled")
            raise
        note(f"{name} ended")
        return name

    def traced(self, ctx: rpc.CallContext) -> dict[str, str]:
        """Tell what came with the call."""
        return dict(ctx.headers)

    def tree(self, node: Node, more: list[Node] | None = None) -> list[Node]:
        """Take what contains itself."""
        return [node, *(more or [])]


def one(self) -> int:
    """Tell a number."""
    return 1


Many = type("Many", (), {f"n{number:02}": one for number in range(23)})
plugin = rpc.Plugin(procedures=[Extra, rpc.procedure("Many", groups=["many"], with_default=False)(Many)])
'''
DEMO = Path(mcp_demo.__file__).read_text(encoding="utf-8") + "\nplugin = rpc.Plugin(procedures=list(PROCEDURES))\n"
PLUGINS = {"demo.py": DEMO, "extras.py": EXTRAS}
ORIGIN = "https://app.example.com"
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {"closed": {"protected_api": True, "clients_tokens": [golden.TOKEN]}},
        }
    },
    "ufo_mcp": {"max_body_bytes": golden.MAX_BODY_BYTES, "groups": {"brief": {"session_ttl": 1}}},
    "defaults": {"max_batch": 3},
    "groups": {
        "many": {"tools": {"page_size": 7}},
        "other": {"tools": {"naming": "underscore"}},
        "closed": {"tokens": [{"name": "second", "value": "second-token"}]},
    },
    "cors": {"allowed_origins": [ORIGIN]},
}
ROUTES = {
    "demo": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "demo"}},
    **{
        group: {"resource": "mcp", "prefix": f"/{group}", "defaults": {"api_group": group}}
        for group in ("other", "brief", "closed", "many")
    },
}
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER = "io.modelcontextprotocol/serverInfo"
EVENTS = {"Accept": "application/json, text/event-stream"}
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INNER = {"type", "properties", "required", "additionalProperties", "$defs"}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """The golden demo and some more, in several groups."""
    with daemon(config=CONFIG, routes=ROUTES, plugins=PLUGINS) as running:
        yield running


@pytest.fixture
def wire(served: Daemon, record_property: Note) -> Wire:
    """What tests send goes over this, and is noted."""
    return Wire(served.url, record_property)


@pytest.fixture
def bare(wire: Wire) -> Stateless:
    """A stateless client."""
    return Stateless(wire)


def each(*values: Any) -> tuple[Any, ...]:
    """Values of all kinds."""
    return values


def code_of(answer: Answer) -> tuple[int, int | None]:
    """Status and error code."""
    spoken = answer.json() if answer.body else {}
    return answer.status, spoken.get("error", {}).get("code")


def refused(wire: Wire, request: bytes, status: int, code: int, request_id: object = 7) -> Answer:
    """Send what must be refused like this."""
    answer = wire.send(request)
    assert code_of(answer) == (status, code), answer
    assert answer.json().get("id", ABSENT) == request_id
    return answer


def accepted(wire: Wire, request: bytes) -> Any:
    """Send what must be answered with a result, and return that."""
    answer = wire.send(request)
    assert answer.status == 200, answer
    return answer.json()["result"]


def begin(
    wire: Wire, revision: str = golden.NEWEST, path: str = "/mcp", headers: golden.Fields = golden.NO_FIELDS
) -> str:
    """Begin a session."""
    found = wire.send(initialize(revision, path=path, headers=headers)).header("Mcp-Session-Id")
    assert found is not None
    return found


def noted(served: Daemon) -> list[str]:
    """What procedures have noted."""
    file = served.folder / "noted"
    return file.read_text().splitlines() if file.exists() else []


# -- stateless


def test_discovery_tells_all(wire: Wire) -> None:
    """A-MCP-01: what a client needs to know before its first call."""
    result = accepted(wire, modern())
    assert STATELESS in result["supportedVersions"]
    assert result["capabilities"] == {"tools": {"listChanged": True}}
    assert result["resultType"] == "complete"
    assert type(result["ttlMs"]) is int
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] in {"public", "private"}
    assert result["_meta"][SERVER].keys() >= {"name", "version"}
    assert "serverInfo" not in result


def test_discovery_asks_for_no_client_info(wire: Wire) -> None:
    """A-MCP-02: the two members that are required are enough."""
    assert accepted(wire, modern(meta={VERSION: STATELESS, CAPABILITIES: {}}))["supportedVersions"]


def test_what_every_request_must_say(wire: Wire) -> None:
    """A-MCP-03: each of them missing, and all of them."""
    for meta in each(None, {CAPABILITIES: {}}, {VERSION: STATELESS}):
        refused(wire, modern(meta=meta), 400, -32602)


def test_the_version_header_repeats_the_body(wire: Wire) -> None:
    """A-MCP-04: a client that contradicts itself is told so first."""
    refused(wire, modern(headers={"MCP-Protocol-Version": []}), 400, -32020)
    refused(wire, modern(headers={"MCP-Protocol-Version": golden.NEWEST}), 400, -32020)
    refused(wire, modern(meta=META | {VERSION: "2099-01-01"}), 400, -32020)


def test_an_unknown_revision(wire: Wire) -> None:
    """A-MCP-05: the error tells what would do."""
    request = modern(meta=META | {VERSION: "2099-01-01"}, headers={"MCP-Protocol-Version": "2099-01-01"})
    data = refused(wire, request, 400, -32022).json()["error"]["data"]
    assert data["requested"] == "2099-01-01"
    assert data["supported"]
    assert set(data["supported"]) <= set(accepted(wire, modern())["supportedVersions"])


def test_the_method_header_repeats_the_body(wire: Wire) -> None:
    """A-MCP-06: the value to the letter, the name in any case."""
    for value in each([], "tools/list", "Server/Discover"):
        refused(wire, modern(headers={"Mcp-Method": value}), 400, -32020)
    for name in ("mcp-method", "MCP-METHOD"):
        accepted(wire, modern(headers={"Mcp-Method": [], name: "server/discover"}))
    accepted(wire, modern(headers={"Mcp-Method": "  server/discover\t"}))


def test_the_name_header_repeats_the_body(wire: Wire) -> None:
    """A-MCP-07: plain, or in Base64 between marks."""
    for value in each([], "Demo.greet", "=?base64?RGVtby5hZGQ?=", "=?base64?RGVtby5hZG*=?="):
        refused(wire, call("Demo.add", {"a": 1, "b": 2}, headers={"Mcp-Name": value}), 400, -32020)
    accepted(wire, call("Demo.add", {"a": 1, "b": 2}, headers={"Mcp-Name": "=?base64?RGVtby5hZGQ=?="}))
    refused(wire, call("=?base64?x", headers={"Mcp-Name": "=?base64?x"}), 400, -32602)


def test_a_header_that_is_sent_twice(wire: Wire) -> None:
    """A-MCP-08: even where both say the same."""
    for name, value in (("Mcp-Method", "tools/call"), ("Mcp-Name", "Demo.greet"), ("MCP-Protocol-Version", STATELESS)):
        refused(wire, call("Demo.greet", headers={name: [value, value]}), 400, -32020)


def test_what_is_not_offered(wire: Wire) -> None:
    """A-MCP-09: a body with the code, so that no client takes it for a session server."""
    for method in (
        *("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"),
        *("prompts/list", "resources/list", "completion/complete", "unknown/method"),
    ):
        refused(wire, modern(method), 404, -32601)


def test_which_results_may_be_kept(wire: Wire) -> None:
    """A-MCP-10: lists may, calls may not."""
    found = [
        accepted(wire, request) for request in (modern(), modern("tools/list"), call("Demo.greet"), call("Demo.fail"))
    ]
    assert [result["resultType"] for result in found] == ["complete"] * 4
    assert found[1].keys() >= {"ttlMs", "cacheScope"}
    assert not (found[2].keys() | found[3].keys()) & {"ttlMs", "cacheScope"}


def test_the_list_of_tools_is_always_the_same(record_property: Note) -> None:
    """A-MCP-11: byte by byte, over requests and restarts."""
    with folder(config=CONFIG, routes=ROUTES, plugins=PLUGINS) as place:
        seen = set()
        for requests in (100, 1):
            with serving(place) as running:
                answer = Wire(running.url, record_property).send(modern("tools/list"))
                seen |= {answer.body, *(running.request(*as_parts(modern("tools/list"))).body for _ in range(requests))}
    assert len(seen) == 1
    tools = json.loads(seen.pop())["result"]["tools"]
    assert tools
    assert all(tool["description"].strip() for tool in tools)
    assert all(
        None not in part.values() for tool in tools for part in parts({**tool, "inputSchema": 0, "outputSchema": 0})
    )


def as_parts(request: bytes) -> tuple[str, str, bytes, dict[str, str]]:
    """A raw request in the parts that a client takes."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *fields = head.decode().split("\r\n")
    method, path, _ = first.split(" ")
    return method, path, body, dict(field.split(": ", 1) for field in fields)


def test_pages(wire: Wire) -> None:
    """A-MCP-12: cursors lead from page to page, to the end."""
    names, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = accepted(wire, modern("tools/list", {} if cursor is None else {"cursor": cursor}, path="/many"))
        names += [tool["name"] for tool in page["tools"]]
        pages, cursor = pages + 1, page.get("nextCursor")
    assert (pages, names) == (4, [f"Many.n{number:02}" for number in range(23)])
    for bad in ("bogus", "", 1):
        refused(wire, modern("tools/list", {"cursor": bad}, path="/many"), 400, -32602)


def test_tools_and_arguments_that_are_none(wire: Wire) -> None:
    """A-MCP-13: what is wrong with the call itself is an error of the protocol."""
    refused(wire, call("Demo.none"), 400, -32602)
    without = accepted(wire, call("Demo.greet"))
    null = accepted(wire, modern("tools/call", {"name": "Demo.greet", "arguments": None}))
    assert without == null == accepted(wire, call("Demo.greet", {}))
    for arguments in each([], "{}", {"$rpc": {"timeout": 1}}):
        refused(wire, call("Demo.greet", arguments), 400, -32602)


def test_results_of_tools(wire: Wire, bare: Stateless) -> None:
    """A-MCP-14: both forms of a success agree, and it is what was promised; a failure is told to the model."""
    node = {"name": "a", "children": [{"name": "b", "children": [], "where": {"x": [1]}}], "where": {}}
    result = accepted(wire, call("Extra.tree", {"node": node}))
    assert result["isError"] is False
    assert result["structuredContent"] == {"result": [node]}
    assert json.loads(result["content"][0]["text"]) == [node]
    validator(bare.tools()["Extra.tree"]["outputSchema"]).validate(result["structuredContent"])
    failure = accepted(wire, call("Demo.fail"))
    assert failure["isError"] is True
    assert "structuredContent" not in failure
    assert json.loads(failure["content"][0]["text"])["message"] == "No such thing"


def test_arguments_that_headers_repeat(wire: Wire, record_property: Note) -> None:
    """A-MCP-15: a proxy may route by such a header, so it must be true."""
    region, zone = "Mcp-Param-Region", "Mcp-Param-Zone"
    accepted(wire, call("Demo.region", {"region": "Hello"}, headers={region: "Hello"}))
    accepted(wire, call("Demo.region", {"region": "Hello"}, headers={region: "=?base64?SGVsbG8=?="}))
    for value in each([], "World", "=?base64?SGVsbG8?="):
        refused(wire, call("Demo.region", {"region": "Hello"}, headers={region: value}), 400, -32020)
    accepted(wire, call("Demo.region", {}))
    nothing = refused(wire, call("Demo.region", {"region": None}), 400, -32602)
    assert "region" in nothing.json()["error"]["message"]
    accepted(wire, call("Demo.region", {"zone": 42}, headers={zone: "42.0"}))
    accepted(wire, call("Demo.region", {"zone": 42.0}, headers={zone: "42"}))
    unsound = DEMO.replace("region: Annotated[str,", "region: Annotated[list[str],")
    assert unsound != DEMO
    said = refusal(config=CONFIG, routes=ROUTES, plugins={**PLUGINS, "demo.py": unsound})
    run_noted(record_property, "$ rpcgw serve", said.code, "\n".join(line for line in said.about("mcp-header")))
    assert said.code == 78
    assert said.about("mcp-header", "Demo.region", "demo.py")


def test_progress(wire: Wire) -> None:
    """A-MCP-16: events only where there is something to say, and somebody who takes them."""
    meta = META | {"progressToken": "t"}
    streamed = wire.send(call("Extra.steps", meta=meta, headers=dict(EVENTS)))
    assert (streamed.status, streamed.header("Content-Type")) == (200, "text/event-stream")
    assert streamed.header("X-Accel-Buffering") == "no"
    said = [json.loads(line[5:]) for line in streamed.text.splitlines() if line.startswith("data:")]
    assert [message["params"]["progress"] for message in said[:-1]] == [1, 2]
    assert said[-1]["result"]["structuredContent"] == {"result": "done"}
    plain = wire.send(call("Extra.steps", meta=meta, headers={"Accept": "application/json"}))
    assert plain.header("Content-Type") == "application/json"
    assert plain.json()["result"]["structuredContent"] == {"result": "done"}


def test_log_messages(wire: Wire) -> None:
    """A-MCP-17: they go to those who ask for them."""
    assert wire.send(call("Extra.talk", headers=dict(EVENTS))).header("Content-Type") == "application/json"
    meta = META | {"io.modelcontextprotocol/logLevel": "info"}
    assert "notifications/message" in wire.send(call("Extra.talk", meta=meta, headers=dict(EVENTS))).text


def test_a_client_that_leaves(served: Daemon, wire: Wire) -> None:
    """A-MCP-18: the same call, in both eras, is left alone in the middle."""
    session = begin(wire)
    params = {"name": "Extra.last", "arguments": {"name": "session"}}
    for name, request in (
        ("stateless", call("Extra.last", {"name": "stateless"})),
        ("session", legacy("tools/call", params, session=session)),
    ):
        connection = served.socket()
        connection.sendall(request)
        wait_until(lambda name=name: f"{name} began" in noted(served), 10, lambda: f"{noted(served)}")  # type: ignore[misc]  # bound early
        connection.close()
    wait_until(lambda: {"stateless cancelled", "session ended"} <= set(noted(served)), 10, lambda: f"{noted(served)}")
    assert not {"stateless ended", "session cancelled"} & set(noted(served))


def test_what_is_no_single_request(wire: Wire) -> None:
    """A-MCP-19: nothing but requests and notifications, one at a time, of no session."""
    notification = wire.send(modern("notifications/cancelled", request_id=ABSENT))
    assert (notification.status, notification.body, notification.header("Content-Type")) == (202, b"", None)
    header = {"MCP-Protocol-Version": STATELESS}
    for body in ([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}], [], 1):
        refused(wire, post(body, header), 400, -32600, ABSENT)
    refused(wire, post({"jsonrpc": "2.0", "id": 1, "result": {}}, header), 400, -32600, 1)
    answer = wire.send(modern(headers={"Mcp-Session-Id": "x" * 32}))
    assert (answer.status, answer.header("Mcp-Session-Id")) == (200, None)


def test_the_trace_is_carried_on(served: Daemon, wire: Wire) -> None:
    """A-MCP-20: the procedure sees what the client sent, and the log can be found by it."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    parent = f"00-{trace}-b7ad6b7169203331-01"
    result = accepted(wire, call("Extra.traced", meta=META | {"traceparent": parent, "tracestate": "a=b"}))
    assert result["structuredContent"]["result"] == {"traceparent": parent, "tracestate": "a=b"}
    wait_until(lambda: any(line["ray_id"] == trace for line in served.logs("call")), 5, lambda: served.stderr()[-2000:])


def test_who_can_listen(wire: Wire) -> None:
    """A-MCP-21: what is not there is not offered: nobody listens in a session. `test_mcp_subscriptions` has the rest."""
    assert accepted(wire, modern())["capabilities"]["tools"] == {"listChanged": True}
    assert accepted(wire, initialize())["capabilities"]["tools"] == {}
    everything = {"notifications": {"toolsListChanged": True}}
    refused(wire, modern("subscriptions/listen", everything, headers={"Accept": "application/json"}), 406, -32600)


# -- sessions


def test_revisions_are_negotiated(wire: Wire) -> None:
    """A-MCP-22: what is known is granted, what is not gets the newest that has sessions."""
    asked = (*REVISIONS, STATELESS, "1999-01-01")
    granted = [accepted(wire, initialize(revision))["protocolVersion"] for revision in asked]
    assert granted == [*REVISIONS, golden.NEWEST, golden.NEWEST]
    refused(wire, initialize(None), 200, -32602, 1)


def test_whose_session_it_is(wire: Wire) -> None:
    """A-MCP-23: to everybody else it does not exist."""
    session = begin(wire)
    assert re.fullmatch(r"[!-~]{22,}", session)
    assert len({session, *(begin(wire) for _ in range(5))}) == 6
    accepted(wire, legacy(session=session))
    refused(wire, legacy(session=None), 400, -32600)
    refused(wire, legacy(session="x" * 32), 404, -32600)
    for path in ("/other", "/mcp/v2"):
        refused(wire, legacy(session=session, path=path), 404, -32600)
    first, second = ({"Authorization": f"Bearer {token}"} for token in (golden.TOKEN, "second-token"))
    own = begin(wire, path="/closed", headers=first)
    accepted(wire, legacy(session=own, path="/closed", headers=first))
    refused(wire, legacy(session=own, path="/closed", headers=second), 404, -32600)


def test_the_first_messages_of_a_session(wire: Wire) -> None:
    """A-MCP-24: a notification gets no answer, a ping an object."""
    session = begin(wire)
    answer = wire.send(legacy("notifications/initialized", request_id=ABSENT, session=session))
    assert (answer.status, answer.body, answer.header("Content-Type")) == (202, b"", None)
    assert accepted(wire, legacy(session=session)) == {}


def test_errors_of_a_session_travel_with_200(wire: Wire) -> None:
    """A-MCP-25: with another status several clients lose the code."""
    session = begin(wire)
    refused(wire, legacy("unknown/method", session=session), 200, -32601)
    for params in ({"name": "Demo.none"}, {"name": "Demo.add", "arguments": {"a": 1}}):
        refused(wire, legacy("tools/call", params, session=session), 200, -32602)


def test_the_version_header_of_a_session(wire: Wire) -> None:
    """A-MCP-26: it must be a revision that is known, not the very one."""
    session = begin(wire)
    refused(wire, legacy(session=session, headers={"MCP-Protocol-Version": "1999-01-01"}), 400, -32600)
    accepted(wire, legacy(session=session))
    accepted(wire, legacy(session=session, headers={"MCP-Protocol-Version": "2025-06-18"}))


def test_batches(wire: Wire) -> None:
    """A-MCP-27: one revision has them."""
    session = {"Mcp-Session-Id": begin(wire, "2025-03-26")}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = wire.send(post([ping, notice, tools], session))
    assert [message["id"] for message in answer.json()] == [1, 2]
    assert wire.send(post([notice], session)).status == 202
    opening = {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
    inside = wire.send(post([opening, ping], session)).json()
    assert inside[0]["error"]["code"] == -32600
    assert inside[1]["result"] == {}
    refused(wire, post([ping] * 4, session), 400, -32600, ABSENT)
    for revision in ("2024-11-05", "2025-06-18", "2025-11-25"):
        refused(wire, post([ping], {"Mcp-Session-Id": begin(wire, revision)}), 400, -32600, ABSENT)


def test_methods_of_http(wire: Wire) -> None:
    """A-MCP-28: no stream to open, a session to end."""
    for path in ("/mcp", "/closed"):
        for method in ("GET", "PUT", "PATCH"):
            answer = wire.send(raw(method, path, {"Content-Type": "application/json"}, b""))
            assert (answer.status, answer.header("Allow")) == (405, "POST, DELETE, OPTIONS")
    session = begin(wire)
    end = raw("DELETE", "/mcp", {"Mcp-Session-Id": session})
    assert [wire.send(end).status, wire.send(end).status, wire.send(legacy(session=session)).status] == [200, 404, 404]
    assert wire.send(raw("DELETE", "/mcp", {})).status == 400


def test_tasks_are_not_known(wire: Wire) -> None:
    """A-MCP-29: the call is made as if they had not been asked for."""
    params = {"name": "Demo.greet", "task": {"ttl": 60000}}
    assert accepted(wire, legacy("tools/call", params, session=begin(wire)))["isError"] is False


@pytest.mark.parametrize("revision", REVISIONS)
def test_results_of_a_session_are_of_its_time(wire: Wire, revision: str) -> None:
    """A-MCP-30: strict clients refuse what their revision does not know. The suite checks whole messages."""
    opened = wire.send(initialize(revision))
    session = opened.header("Mcp-Session-Id")
    found = [opened.json()["result"]] + [
        accepted(wire, legacy(method, params, session=session))
        for method, params in (
            ("ping", None),
            ("tools/list", None),
            ("tools/call", {"name": "Demo.greet"}),
            ("tools/call", {"name": "Demo.fail"}),
        )
    ]
    assert not {"resultType", "ttlMs", "cacheScope", "_meta", "supportedVersions"} & {
        key for result in found for key in result
    }


def test_how_long_sessions_live(wire: Wire, record_property: Note) -> None:
    """A-MCP-31: over a restart of the daemon, and until their time is over."""
    with folder(config=CONFIG, routes=ROUTES, plugins=PLUGINS) as place:
        with serving(place) as running:
            session = begin(Wire(running.url, record_property))
        with serving(place) as running:
            accepted(Wire(running.url, record_property), legacy(session=session))
    brief = begin(wire, path="/brief")
    begun = monotonic()
    wait_until(lambda: monotonic() > begun + 1.1, 10, lambda: "time stands still")
    refused(wire, legacy(session=brief, path="/brief"), 404, -32600)


# -- transport


def test_whatever_is_accepted(wire: Wire) -> None:
    """A-MCP-32: clients ask for all kinds of things, and take JSON."""
    for accept in each("application/json", "*/*", "text/event-stream", "text/html", []):
        assert accepted(wire, call("Demo.greet", headers={"Accept": accept}))["isError"] is False


def test_both_spellings_of_the_path(wire: Wire) -> None:
    """A-MCP-33: a redirect would lose the body of some clients."""
    for path in ("/mcp", "/mcp/", "/mcp/v1", "/mcp/v1/"):
        assert accepted(wire, modern(path=path))["supportedVersions"]


def test_pages_of_others_are_kept_out(wire: Wire) -> None:
    """A-MCP-34: DNS rebinding, and pages that nobody allowed."""
    for origin in ("http://evil.example.com", "null"):
        refused(wire, modern(headers={"Origin": origin}), 403, -32600, ABSENT)
    refused(wire, modern(headers={"Host": "evil.example.com"}), 421, -32600, ABSENT)
    for host in ("localhost", "127.0.0.1", "[::1]"):
        accepted(wire, modern(headers={"Host": f"{host}:6274", "Origin": f"http://{host}:6274"}))


MCP_HEADERS = (
    "Accept, Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, "
    "Mcp-Param-Region, Ufo-RPC-Token, Accept-Language"
)
EXPOSED = {"mcp-session-id", "www-authenticate", "content-language"}


def names(value: str | None) -> set[str]:
    """The names in a header's list, in lower case."""
    return {name.strip().lower() for name in (value or "").split(",")}


@pytest.mark.parametrize(
    "origin", [ORIGIN, "http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:9", "http://localhost"]
)
def test_pages_that_may_call(wire: Wire, origin: str) -> None:
    """A-MCP-35: pages of the list, and of this machine on any port."""
    for path in ("/mcp", "/closed", "/mcp/v9"):
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": MCP_HEADERS,
        }
        preflight = wire.send(raw("OPTIONS", path, asked))
        assert preflight.status in {200, 204}
        assert preflight.header("Access-Control-Allow-Origin") == origin
        assert "POST" in str(preflight.header("Access-Control-Allow-Methods"))
        assert names(MCP_HEADERS) <= names(preflight.header("Access-Control-Allow-Headers"))
    page = {"Origin": origin}
    for status, request in (
        (200, modern(headers=page)),
        (200, initialize(headers=page)),
        (400, post(b"oops", page)),
        (401, modern(path="/closed", headers=page)),
        (404, modern(path="/mcp/v9", headers=page)),
        (404, legacy(session="x" * 32, headers=page)),
        (405, raw("GET", "/mcp", page)),
        (413, post(b" " * (golden.MAX_BODY_BYTES + 1), page)),
    ):
        answer = wire.send(request)
        assert answer.status == status
        assert answer.header("Access-Control-Allow-Origin") == origin, status
        assert names(answer.header("Access-Control-Expose-Headers")) >= EXPOSED, status
        assert "Origin" in str(answer.header("Vary"))


def test_pages_that_may_not_read(wire: Wire) -> None:
    """A-MCP-35: a page that nobody allowed is shown nothing, nor may it ask."""
    evil = {"Origin": "https://evil.example.com"}
    asked = wire.send(raw("OPTIONS", "/mcp", {**evil, "Access-Control-Request-Method": "POST"}))
    assert (asked.status, asked.header("Access-Control-Allow-Origin")) == (403, None)
    answer = wire.send(modern(headers=evil))
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (403, None)


def test_bodies_that_are_no_json(wire: Wire, record_property: Note) -> None:
    """A-MCP-36: never a 500."""
    with daemon(config={**CONFIG, "ufo_mcp": {}}, routes=ROUTES, plugins=PLUGINS) as roomy:
        refused(Wire(roomy.url, record_property), post(b"[" * 100_000), 400, -32700, ABSENT)
    for body in (
        b"{oops",
        b"",
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"1" * 5000 + b"}}",
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    ):
        refused(wire, post(body), 400, -32700, ABSENT)


def test_odd_encodings(wire: Wire) -> None:
    """A-MCP-37: what is decided where the specification leaves it open."""
    session = begin(wire)
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    refused(wire, post(b"\xef\xbb\xbf" + ping), 400, -32700, ABSENT)
    twice = ping.replace(b'"id":7', b'"id":6,"id":7')
    assert wire.send(post(twice, {"Mcp-Session-Id": session})).json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    zipped = {"Content-Encoding": "gzip", "Mcp-Session-Id": session}
    accepted(wire, post(gzip.compress(ping, mtime=0), zipped))
    refused(wire, post(gzip.compress(b" " * 5_000_000, mtime=0), zipped), 413, -32600, ABSENT)


def test_the_limit_of_bodies(wire: Wire) -> None:
    """A-MCP-38: to the byte, however the length is told."""
    session = {"Mcp-Session-Id": begin(wire)}
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    for size, status in ((golden.MAX_BODY_BYTES, 200), (golden.MAX_BODY_BYTES + 1, 413)):
        body = ping.ljust(size)
        assert wire.send(post(body, session)).status == status
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:5000], body[5000:])) + b"0\r\n\r\n"
        assert (
            wire.send(post(chunks, {**session, "Content-Length": [], "Transfer-Encoding": "chunked"})).status == status
        )


def test_media_types(wire: Wire) -> None:
    """A-MCP-39: JSON by whatever spelling."""
    refused(wire, modern(headers={"Content-Type": "text/plain"}), 415, -32600, ABSENT)
    accepted(wire, modern(headers={"Content-Type": "application/json; charset=utf-8"}))


def test_ids_come_back_as_they_were(wire: Wire) -> None:
    """A-MCP-40: value and type."""
    session = begin(wire)
    for request_id in (0, "", "1", 2**60, -1):
        for request in (modern(request_id=request_id), legacy(request_id=request_id, session=session)):
            found = wire.send(request).json()["id"]
            assert (found, type(found)) == (request_id, type(request_id))
    for bad in each(None, 1.5, True, {}):
        refused(wire, modern(request_id=bad), 400, -32600, ABSENT)


def test_errors_of_nothing_have_no_id(wire: Wire) -> None:
    """A-MCP-41: MCP's schema knows no null id."""
    for request in (
        post(b"oops"),
        post([]),
        raw("GET", "/mcp", {}),
        modern(path="/mcp/v9"),
        modern(path="/closed"),
        modern(headers={"Host": "evil.example.com"}),
        modern(headers={"Content-Type": "text/plain"}),
        post(b" " * (golden.MAX_BODY_BYTES + 1)),
        raw("DELETE", "/mcp", {"Mcp-Session-Id": "x" * 32}),
    ):
        spoken = wire.send(request).json()
        assert spoken.keys() == {"jsonrpc", "error"}, spoken


def test_nobody_is_sent_to_log_in(wire: Wire) -> None:
    """A-MCP-42: no metadata where there is no authorization server, and a challenge where a token is asked for."""
    for path in ("", "/mcp", "/closed"):
        answer = wire.send(raw("GET", f"/.well-known/oauth-protected-resource{path}", {}))
        assert answer.status == 404
        assert "html" not in str(answer.header("Content-Type"))
    answer = wire.send(modern(path="/closed"))
    assert (answer.status, answer.header("WWW-Authenticate")) == (401, "Bearer")
    accepted(wire, modern(path="/closed", headers={"Authorization": f"Bearer {golden.TOKEN}"}))


# -- tools


def test_schemas_are_portable(bare: Stateless) -> None:
    """A-MCP-43: several clients drop a tool, or the whole server, over any of these."""
    tools = bare.tools()
    assert len(tools) > 1
    for tool in tools.values():
        for schema in filter(None, (tool["inputSchema"], tool.get("outputSchema"))):
            assert schema["type"] == "object"
            assert schema.keys() <= INNER
            assert references(schema) <= {f"#/$defs/{name}" for name in schema.get("$defs", ())}
            for part in parts(schema):
                kind = part.get("type")
                assert "items" in part or "array" not in (kind if isinstance(kind, list) else [kind]), tool["name"]


NAMED = """
import rpcgw as rpc


@rpc.procedure({alias!r}, groups=["demo"], with_default=False)
class Named:
    def go(self) -> int:
        return 1


plugin = rpc.Plugin(procedures=[Named])
"""


def test_names_are_portable(wire: Wire, record_property: Note) -> None:
    """A-MCP-44: what no client takes is refused, what some do not take is a warning."""
    assert list(Stateless(wire, "/other").tools()) == [
        f"Extra_{name}" for name in ("last", "steps", "talk", "traced", "tree")
    ]
    for name in ("Extra_talk", "Extra.talk"):
        assert accepted(wire, call(name, path="/other"))["structuredContent"] == {"result": "said"}
    for alias, code, words in (
        ("X" * 126, 1, ()),
        ("white space", 1, ()),
        ("X" * 62, 0, ("warning", "tool-name-long")),
    ):
        files = {"config": CONFIG, "routes": ROUTES, "plugins": {**PLUGINS, "named.py": NAMED.format(alias=alias)}}
        with folder(**files) as place:
            done = cli("check", "-c", "gateway.yaml", cwd=place)
        told = [line for line in done.stderr.splitlines() if "named.py" in line]
        run_noted(record_property, "$ rpcgw check", done.returncode, "\n".join(told))
        assert done.returncode == code, done.stderr
        assert any(all(word in line for word in words) for line in told), told


# -- server.json


def test_server_json(record_property: Note) -> None:
    """A-MCP-48: with a public address it can be published, without one or a name `check` says what is missing."""
    info = {"name": "io.github.example/demo", "description": "Adds numbers."}
    sound = {**CONFIG, "server": {"public_url": "https://tools.example.com"}}
    sound["ufo_mcp"] = {**CONFIG["ufo_mcp"], "mcp_server_info": info}
    with daemon(config=sound, routes=ROUTES, plugins=PLUGINS) as running:
        answer = Wire(running.url, record_property).get("/mcp/server.json")
    schema = json.loads(
        (Path(golden.__file__).parent / "serverjson" / "server.schema.json").read_text(encoding="utf-8")
    )
    document = answer.json()
    jsonschema.Draft7Validator(schema).validate(document)
    assert [remote["url"] for remote in document["remotes"]] == ["https://tools.example.com/mcp"]
    icon = {"src": "http://x.example/i.png"}
    wrong = {
        **sound,
        "ufo_mcp": {
            "mcp_server_info": {"name": "shop", "icons": [icon]},
            "groups": {"demo": {"mcp_server_info": {"description": "x" * 101}}},
        },
    }
    with folder(config=wrong, routes=ROUTES, plugins=PLUGINS) as place:
        done = cli("check", "-c", "gateway.yaml", cwd=place)
    told = [line for line in done.stderr.splitlines() if "warning" in line]
    run_noted(record_property, "$ rpcgw check", done.returncode, "\n".join(told))
    for words in (
        ("name", "namespace"),
        ("description", "100"),
        ("description", "must be set"),
        ("icons.0.src", "https"),
    ):
        assert any(all(word in line for word in words) for line in told), done.stderr
