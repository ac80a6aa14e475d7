"""`/mcp` from raw request to reply, in this process: the golden tables, and what is around them."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import jsonschema
import pytest

import rpcgw as rpc
from rpcgw.kernel.call import Failed
from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.mcp import Limits, ServerInfo, ToolSettings
from tests.golden import mcp_requests as golden
from tests.golden.mcp_requests import ABSENT, Row, call
from tests.unit.endpoints.house import House, house, spoken

INFO = "io.modelcontextprotocol/serverInfo"


async def ask(place: House, row: Row) -> None:
    """Send a row's request and compare what it promises."""
    session = await place.begin(row.revision) if row.revision else ""
    reply = await place.send(row.raw.replace(b"@SESSION@", session.encode()))
    answer = spoken(reply)
    error = answer.get("error", {}) if isinstance(answer, dict) else {}
    assert (reply.status, error.get("code")) == (row.status, row.code), answer
    if isinstance(answer, dict):
        assert answer.get("id", ABSENT) == row.id
        assert type(answer.get("id", ABSENT)) is type(row.id)
    assert row.tells in error.get("message", "")
    assert "null" not in json.dumps(error)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in golden.ROWS if row.name != "HEAD"])
async def test_each_row_of_the_ladders(row: Row) -> None:
    """Every request of the golden tables gets its status, its code and its id."""
    await ask(house(), row)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in golden.TOKEN_ROWS])
async def test_each_row_with_a_token(row: Row) -> None:
    """C-19: a protected group asks for a token, after the guards and the method, before the body."""
    await ask(house(tokens={"ci": golden.TOKEN}), row)


@pytest.mark.parametrize("authorization", [{}, {"Authorization": "Bearer wrong"}], ids=["absent", "wrong"])
async def test_absent_and_wrong_tokens_are_challenged_alike(authorization: dict[str, Any]) -> None:
    """401 with `WWW-Authenticate: Bearer`, and an error that has no id."""
    reply = await house(tokens={"ci": golden.TOKEN}).send(golden.modern(headers=authorization))
    assert reply.status == 401
    assert [value for name, value in reply.headers if name == "WWW-Authenticate"] == ["Bearer"]
    assert "id" not in spoken(reply)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH"])
async def test_other_methods_are_told_what_is_allowed(method: str) -> None:
    """C-04: 405 with `Allow`, before any token and without touching a session."""
    reply = await house(tokens={"ci": golden.TOKEN}, pool=Broken()).send(golden.raw(method, "/mcp", {}))
    assert reply.status == 405
    assert dict(reply.headers)["Allow"] == "POST, DELETE, OPTIONS"


@pytest.mark.parametrize("change", [{"enabled": False}, {"toolboxes": {}}], ids=["a disabled group", "an empty group"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "PUT"])
async def test_what_does_not_exist_is_404_for_everything(change: dict[str, Any], method: str) -> None:
    """C-09, C-20: no method, no token, no version changes it; only the guards come first."""
    place = house(tokens={"ci": golden.TOKEN}, **change)
    for path in ("/mcp", "/mcp/v1", "/mcp/v9"):
        assert (await place.send(golden.raw(method, path, {}))).status == 404
    assert (await place.send(golden.raw(method, "/mcp", {"Host": "evil.example.com"}))).status == 421


# -- results


async def test_a_success_has_the_value_as_text_and_as_structured_content() -> None:
    """T-15: members and their order; the text is the value's JSON."""
    place = house()
    session = await place.begin()
    reply = await place.send(
        golden.legacy("tools/call", {"name": "Demo.greet", "arguments": {"who": "ї"}}, session=session)
    )
    value = 'Hello, "ї"\n'
    assert json.dumps(spoken(reply)["result"]) == json.dumps(
        {
            "content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}],
            "structuredContent": {"result": value},
            "isError": False,
        }
    )


async def test_a_stateless_result_says_that_it_is_complete_and_whose_it_is() -> None:
    """MCP 2026-07-28: `resultType` and `_meta` serverInfo on every result, no caching hints on a call."""
    result = spoken(await house().send(call("Demo.add", {"a": 1, "b": 2})))["result"]
    assert result["structuredContent"] == {"result": 3}
    assert result["resultType"] == "complete"
    assert result["_meta"] == {INFO: {"name": "ufo-rpc", "version": "v1"}}
    assert not {"ttlMs", "cacheScope"} & result.keys()


async def test_a_failure_is_the_kernel_error_as_text() -> None:
    """T-16: code, message and data inside the text; `isError`, and no structured content."""
    result = spoken(await house().send(call("Demo.fail")))["result"]
    error = json.loads(result["content"][0]["text"])
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert (error["code"], error["message"]) == (-32404, "No such thing")
    assert error["data"]["extra"] == {"looked": "everywhere"}


async def test_a_failed_assertion_is_a_tool_result_and_a_wrong_shape_a_protocol_error() -> None:
    """T-09, T-16: only what has the right shape reaches the kernel; nothing else is run."""
    place = house()
    assertion = spoken(await place.send(call("Demo.add", {"a": 1, "b": 1000})))
    assert json.loads(assertion["result"]["content"][0]["text"])["code"] == -32602
    shape = spoken(await place.send(call("Demo.add", {"a": "1"})))["error"]
    assert shape["code"] == -32602
    assert set(shape["data"]["extra"]) == {"a", "b"}
    assert not_run(place) == ("Demo.add", -32602)


async def test_a_wrong_shape_can_be_a_tool_error_instead() -> None:
    """`validation_errors: tool` lets the model see what is wrong (MCP SEP-1303); the method is not called."""
    place = house(settings=ToolSettings(validation_errors="tool"))
    result = spoken(await place.send(call("Demo.add", {"a": "1"})))["result"]
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["code"] == -32602
    assert not_run(place) == ("Demo.add", -32602)


UNFIT = [
    pytest.param(call("Demo.gone"), ("Demo.gone", -32602), id="a tool that is not there"),
    pytest.param(call("Demo.add", "five"), ("Demo.add", -32602), id="arguments that are no object"),
    pytest.param(call("x" * 500), ("x" * 100, -32602), id="a long name is cut"),
]


@pytest.mark.parametrize(("sent", "told"), UNFIT)
async def test_a_call_that_is_refused_is_told_of_once(sent: Any, told: tuple[str, int]) -> None:
    """It is a call that has ended at once, for numbers and logs, and not an envelope that was refused too."""
    place = house()
    await place.send(sent)
    assert not_run(place) == told
    assert place.observer.named("envelope.refused") == []


def not_run(place: House) -> tuple[str, int]:
    """The method and the code of the last call, which was refused before the kernel had it: that renders its data."""
    outcome = place.observer.outcomes[-1]
    assert isinstance(outcome, Failed)
    assert outcome.data == {}
    return place.observer.calls[-1].method, outcome.code


async def test_lenient_arguments_are_mended_before_the_gate() -> None:
    """`lenient_arguments`: a null for a parameter with a default, and arguments that came as a text."""
    place = house(settings=ToolSettings(lenient_arguments=True))
    params = {"name": "Demo.greet", "arguments": '{"who": null}'}
    result = spoken(await place.send(golden.modern("tools/call", params)))["result"]
    assert result["structuredContent"] == {"result": 'Hello, "x"\n'}


async def test_the_kernel_gets_a_call_of_its_own_id() -> None:
    """T-14, T-20: method, parameters, version and surface; the client's id stays in the envelope."""
    place = house()
    await place.send(call("Demo.add", {"a": 1, "b": 2}, request_id="client"))
    (made,) = place.observer.calls
    assert (made.method, made.params, made.version, made.surface, made.group) == (
        "Demo.add",
        {"a": 1, "b": 2},
        1,
        "mcp",
        "demo",
    )
    assert made.id != "client"
    assert made.strict


async def test_trace_context_reaches_the_call() -> None:
    """MCP SEP-414: `traceparent` names the chain of calls and is carried on unchanged."""
    place = house()
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await place.send(call("Demo.greet", meta=golden.META | {"traceparent": traceparent}))
    (made,) = place.observer.calls
    assert made.ray_id == "0af7651916cd43dd8448eb211c80319c"
    assert made.headers == {"traceparent": traceparent}


# -- lists


async def listed(place: House, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spoken(await place.send(golden.modern("tools/list", **fields)))["result"]["tools"]
    return found


async def test_every_method_is_a_tool_in_a_stable_order() -> None:
    """T-01, T-02: the group's methods, sorted by name, the same each time and on every worker."""
    names = ["Demo.add", "Demo.anything", "Demo.fail", "Demo.greet", "Demo.hang", "Demo.region", "Demo.sample"]
    place = house()
    assert [tool["name"] for tool in await listed(place)] == names
    assert [tool["name"] for tool in await listed(house(beside=place))] == names


@pytest.mark.parametrize(
    ("accepted", "zipped"),
    [
        pytest.param("gzip, deflate, br", True, id="it does"),
        pytest.param("br", False, id="it takes something else"),
        pytest.param("gzip;q=0, *", False, id="it does not want gzip"),
        pytest.param([], False, id="it says nothing"),
    ],
)
async def test_a_list_is_compressed_where_its_client_takes_that(accepted: str | list[str], zipped: bool) -> None:
    """The same answer, as gzip; caches are told that there are two."""
    place = house()
    reply = await place.send(golden.modern("tools/list", headers={"Accept-Encoding": accepted}))
    assert isinstance(reply.body, bytes)
    fields = dict(reply.headers)
    assert ("Content-Encoding" in fields, "Accept-Encoding" in fields["Vary"]) == (zipped, zipped)
    answer = json.loads(gzip.decompress(reply.body) if zipped else reply.body)
    assert answer == spoken(await place.send(golden.modern("tools/list")))


async def test_a_tool_is_described_by_its_method() -> None:
    """T-07 to T-13: schemas as the kernel made them, hints that were set, a description that is never empty."""
    tools = {tool["name"]: tool for tool in await listed(house())}
    greet = tools["Demo.greet"]
    assert json.dumps(greet["inputSchema"]) == json.dumps(
        {"type": "object", "properties": {"who": {"type": "string", "description": "Who is pinging", "default": "x"}}, "additionalProperties": False}
    )  # fmt: skip
    assert greet["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }
    assert tools["Demo.add"]["annotations"] == {"readOnlyHint": True, "idempotentHint": True}
    assert "annotations" not in greet
    assert "outputSchema" not in tools["Demo.anything"]
    assert tools["Demo.hang"]["title"] == tools["Demo.hang"]["annotations"]["title"] == "Wait for ever"
    assert greet["title"] == "Demo.greet"
    assert all(tool["description"] for tool in tools.values())


@pytest.mark.parametrize("name", ["Demo.add", "Demo.greet", "Demo.region"])
async def test_structured_content_is_valid_against_the_output_schema(name: str) -> None:
    """T-15: what a client may check, holds."""
    place = house()
    tools = {tool["name"]: tool for tool in await listed(place)}
    arguments = {"a": 1, "b": 2} if name == "Demo.add" else {}
    result = spoken(await place.send(call(name, arguments)))["result"]
    jsonschema.Draft202012Validator(tools[name]["outputSchema"]).validate(result["structuredContent"])


async def test_pages_concatenate_to_the_whole_list() -> None:
    """`tools.page_size`: opaque cursors, none at the end; a cursor holds on another worker and in another language."""
    place = house(settings=ToolSettings(page_size=4))
    other = house(beside=place, settings=ToolSettings(page_size=4))
    first = spoken(await place.send(golden.modern("tools/list")))["result"]
    rest = spoken(
        await other.send(
            golden.modern("tools/list", {"cursor": first["nextCursor"]}, headers={"Accept-Language": "uk"})
        )
    )["result"]
    assert "nextCursor" not in rest
    assert [tool["name"] for tool in first["tools"] + rest["tools"]] == [tool["name"] for tool in await listed(house())]


async def test_underscore_names_are_listed_and_both_spellings_called() -> None:
    """`tools.naming: underscore`, for clients that drop a server over a dot."""
    place = house(settings=ToolSettings(naming="underscore"))
    assert "Demo_add" in [tool["name"] for tool in await listed(place)]
    for name in ("Demo_add", "Demo.add"):
        assert spoken(await place.send(call(name, {"a": 1, "b": 2})))["result"]["structuredContent"] == {"result": 3}


@pytest.mark.parametrize(
    ("private", "hints"),
    [
        pytest.param(True, {"ttlMs": 0, "cacheScope": "private"}, id="what depends on the caller or the language"),
        pytest.param(False, {"ttlMs": 60_000, "cacheScope": "public"}, id="what is the same for everybody"),
    ],
)
@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
async def test_lists_and_discovery_say_how_long_they_may_be_kept(
    private: bool, hints: dict[str, Any], method: str
) -> None:
    """MCP 2026-07-28, Caching."""
    result = spoken(await house(private=private).send(golden.modern(method)))["result"]
    assert {name: result[name] for name in hints} == hints


async def test_discovery_says_what_is_served() -> None:
    """C-10, C-12, C-13, C-15: stateless revisions, capabilities, instructions, and the server only in `_meta`."""
    place = house(info=ServerInfo("com.example/demo", "The demo"), instructions="Be kind.")
    result = spoken(await place.send(golden.modern(path="/mcp/v2")))["result"]
    assert result.pop("_meta") == {INFO: {"name": "com.example/demo", "title": "The demo", "version": "v2"}}
    assert result == {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": "Be kind.",
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
    }


async def test_answers_say_their_language() -> None:
    """T-03: `Content-Language` and `Vary`, by the language that was negotiated."""
    place = house()
    for accept, language in (("uk-UA,uk;q=0.9", "uk"), ("fr", "en")):
        reply = await place.send(golden.modern("tools/list", headers={"Accept-Language": accept}))
        assert {
            ("Content-Language", language),
            ("Vary", "Accept-Language"),
            ("Content-Type", "application/json"),
        } <= set(reply.headers)


async def test_a_version_serves_its_own_methods() -> None:
    """C-20: version 2 inherits, changes and removes."""
    place = house()
    names = [tool["name"] for tool in await listed(place, path="/mcp/v2")]
    assert names == ["Demo.add", "Demo.anything", "Demo.greet", "Demo.hang", "Demo.region", "Demo.sample"]
    assert spoken(await place.send(call("Demo.greet", path="/mcp/v2")))["result"]["structuredContent"] == {
        "result": "Good day, you"
    }
    assert spoken(await place.send(call("Demo.fail", path="/mcp/v2")))["error"]["code"] == -32602


# -- sessions


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2026-07-28", "2025-11-25")],
)  # fmt: skip
async def test_initialize_begins_a_session(asked: str, given: str) -> None:
    """C-10, C-12, C-21: the negotiated revision, who serves, and an id; nothing of the stateless era."""
    place = house(instructions="Be kind.", info=ServerInfo(title="The demo"))
    reply = await place.send(golden.initialize(asked))
    assert spoken(reply)["result"] == {
        "protocolVersion": given,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "ufo-rpc", "title": "The demo", "version": "v1"},
        "instructions": "Be kind.",
    }
    session = dict(reply.headers)["Mcp-Session-Id"]
    assert await place.pool.keys("ufo_mcp_") == [f"ufo_mcp_demo_{session}"]


async def test_a_refused_initialize_begins_nothing() -> None:
    """No session is stored for a request that gets an error, nor for a stateless one (C-23)."""
    place = house()
    await place.send(golden.initialize(None))
    await place.send(golden.raw("DELETE", "/mcp", {"Mcp-Session-Id": "x" * 32}))
    await place.send(call("Demo.add", {"a": 1, "b": 2}))
    assert await place.pool.keys("") == []


async def test_a_session_ends_with_delete() -> None:
    """200, then 404 for every use and for a second DELETE."""
    place = house()
    session = await place.begin()
    delete = golden.raw("DELETE", "/mcp", {"Mcp-Session-Id": session})
    assert [(await place.send(raw)).status for raw in (delete, delete, golden.legacy(session=session))] == [
        200,
        404,
        404,
    ]


async def test_a_notification_is_taken_without_a_word() -> None:
    """202 has no body and no content type: several clients trip over either."""
    place = house()
    reply = await place.send(golden.legacy("notifications/initialized", request_id=ABSENT, session=await place.begin()))
    assert (reply.status, reply.body, reply.headers) == (202, b"", ())


async def test_legacy_results_hold_nothing_of_the_stateless_era() -> None:
    """No `resultType`, no caching hints, no `_meta` in a session's answers; `ping` is an empty object."""
    place = house()
    session = await place.begin()
    for method, params in (("tools/list", {}), ("tools/call", {"name": "Demo.greet"}), ("ping", {})):
        result = spoken(await place.send(golden.legacy(method, params, session=session)))["result"]
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & result.keys()
    assert spoken(await place.send(golden.legacy("ping", session=session)))["result"] == {}


async def test_a_session_belongs_to_its_version_and_its_credential() -> None:
    """C-21: with another version or another token it is 404, as if it did not exist; DELETE cannot end it either."""
    place = house(tokens={"one": "first", "two": "second"})
    session = await place.begin(headers={"Authorization": "Bearer first"})
    own: dict[str, str | list[str]] = {"Mcp-Session-Id": session, "Authorization": "Bearer first"}
    assert (await place.send(golden.legacy(headers=own))).status == 200
    assert (await place.send(golden.legacy(path="/mcp/v2", headers=own))).status == 404
    assert (await place.send(golden.legacy(headers=own | {"Authorization": "Bearer second"}))).status == 404
    foreign = golden.raw("DELETE", "/mcp", own | {"Authorization": "Bearer second"})
    assert (await place.send(foreign)).status == 404
    assert (await place.send(golden.legacy(headers=own))).status == 200


class Broken:
    """A pool whose store is away."""

    def __getattr__(self, name: str) -> Any:
        async def refuse(*_: Any) -> Any:
            raise StoreError("the store is away")

        return refuse


async def test_a_store_that_is_away_is_503_for_sessions_and_nothing_for_the_stateless_era() -> None:
    """Issue: `initialize` answers 503 with Retry-After; C-23: a stateless call does not notice."""
    place = house(pool=Broken())
    for raw in (
        golden.initialize("2025-06-18"),
        golden.legacy(request_id=1, session="x" * 32),
        golden.raw("DELETE", "/mcp", {"Mcp-Session-Id": "x" * 32}),
    ):
        reply = await place.send(raw)
        assert reply.status == 503
        assert int(dict(reply.headers)["Retry-After"]) > 0
        assert spoken(reply)["error"]["code"] == -32603
    assert (await place.send(call("Demo.add", {"a": 1, "b": 2}))).status == 200


# -- batches


async def test_a_batch_is_answered_in_its_order() -> None:
    """MCP 2025-03-26: an array of what wants an answer; initialize and nonsense are refused in their places."""
    place = house(limits=Limits(batch_concurrency=2))
    session = await place.begin("2025-03-26")
    calls = [
        {
            "jsonrpc": "2.0",
            "id": n,
            "method": "tools/call",
            "params": {"name": "Demo.add", "arguments": {"a": n, "b": n}},
        }
        for n in range(5)
    ]
    others: list[Any] = [
        {"jsonrpc": "2.0", "method": "notifications/x"},
        5,
        {"jsonrpc": "2.0", "id": "i", "method": "initialize"},
    ]
    answers = spoken(await place.send(golden.post([*calls, *others], {"Mcp-Session-Id": session})))
    assert [answer.get("id", ABSENT) for answer in answers] == [0, 1, 2, 3, 4, ABSENT, "i"]
    assert [answer["result"]["structuredContent"]["result"] for answer in answers[:5]] == [0, 2, 4, 6, 8]
    assert [answer["error"]["code"] for answer in answers[5:]] == [-32600, -32600]


async def test_a_batch_over_the_limit_is_refused() -> None:
    """`max_batch` bounds what one request may ask for."""
    place = house(limits=Limits(max_batch=2))
    session = await place.begin("2025-03-26")
    reply = await place.send(
        golden.post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 3, {"Mcp-Session-Id": session})
    )
    assert (reply.status, spoken(reply)["error"]["code"]) == (400, -32600)


async def test_post_response_fires_after_the_answer_once_for_each_executed_call() -> None:
    """T-18: also where one batch holds several calls; not for an error."""
    told: list[str] = []

    @rpc.listens(rpc.PostResponse)
    def listener(event: rpc.PostResponse) -> None:
        told.append(event.context.method)

    place = house(listeners=(listener,))
    session = await place.begin("2025-03-26")
    names = ("Demo.greet", "Demo.fail", "Demo.anything")
    batch = [{"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": name}} for name in names]
    reply = await place.send(golden.post(batch, {"Mcp-Session-Id": session}))
    assert not told
    assert reply.after is not None
    await reply.after()
    assert sorted(told) == ["Demo.anything", "Demo.greet"]


# -- peers that leave


async def test_a_peer_that_leaves_cancels_its_stateless_call() -> None:
    """MCP 2026-07-28, Cancellation: closing the connection is the signal."""
    place, left = house(), asyncio.Event()

    async def gone() -> None:
        await left.wait()

    async with asyncio.timeout(5):
        answering = asyncio.create_task(place.send(call("Demo.hang"), gone))
        while not place.observer.calls:
            await asyncio.sleep(0)
        left.set()
        assert (await answering).status == 499


async def test_a_peer_that_leaves_does_not_cancel_its_session_call() -> None:
    """MCP 2025-11-25, Transports: a disconnect is not a cancellation."""
    place, left = house(), asyncio.Event()
    session = await place.begin()
    left.set()

    async def gone() -> None:
        await left.wait()

    raw = golden.legacy("tools/call", {"name": "Demo.hang"}, session=session)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(place.send(raw, gone), 0.05)
