"""`tools/call` while it runs: content blocks, what the client hears, how it gives up. The whole endpoint, no sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

import rpcgw as rpc
from rpcgw.api.content import Block
from rpcgw.exchange import Reply
from rpcgw.protocol.mcp import Limits
from tests.golden import mcp_requests as golden
from tests.golden.mcp_requests import ABSENT, META, call
from tests.unit.endpoints.house import House, house, spoken

EVENTS: golden.Fields = {"Accept": "application/json, text/event-stream"}
TOKEN = META | {"progressToken": 1}


@rpc.procedure("Work", groups=["demo"], with_default=False)
class Work:
    """What takes a while, and what shows more than a value."""

    runs = 0

    async def until(self, ctx: rpc.CallContext, step: list[float]) -> str:
        """Tell each step, and wait once."""
        for number in step:
            await ctx.progress(number)
        await asyncio.sleep(0)
        return "done"

    async def hang(self) -> None:
        """Never end."""
        await asyncio.Event().wait()

    async def stubborn(self) -> str:
        """End although it is given up."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "anyway"
        return "never"

    async def shrug(self, ctx: rpc.CallContext) -> None:
        """Log on a level that there is not."""
        await ctx.log("loud", 1)  # type: ignore[arg-type]  # wrong on purpose

    @rpc.cache(ttl=60, environments=["test"])
    async def shown(self) -> rpc.ToolResult:
        """Give words, a sound, a link, and a value for programs."""
        type(self).runs += 1
        blocks: list[Block] = [rpc.Text("one\ntwo"), rpc.Audio(b"\0", "audio/wav"), rpc.ResourceLink("test://x", "x")]
        return rpc.ToolResult(blocks, structured={"runs": type(self).runs})

    async def declared(self, ctx: rpc.CallContext) -> str:
        """Need a part of a capability."""
        ctx.require("elicitation.url")
        return "here"


class Door:
    """Takes a stream that is begun, and reads all of it."""

    def __init__(self) -> None:
        self.reply: Reply | None = None
        self.read = b""
        self._reading: asyncio.Task[None] | None = None

    def begin(self, reply: Reply) -> None:
        assert self.reply is None, "a request has one answer"
        self.reply = reply
        self._reading = asyncio.get_running_loop().create_task(self._read(cast(AsyncIterator[bytes], reply.body)))

    async def _read(self, pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            self.read += piece

    async def messages(self) -> list[dict[str, Any]]:
        """What was read once the stream is over."""
        assert self._reading is not None
        async with asyncio.timeout(5):
            await self._reading
        return [json.loads(line[6:]) for line in self.read.decode().splitlines() if line.startswith("data: ")]


def place(**change: Any) -> House:
    """An endpoint that serves these procedures."""
    return house(procedures=[Work], **change)


def in_session(session: str, name: str, request_id: object = 7, **params: Any) -> bytes:
    """A call in a session."""
    return golden.legacy("tools/call", {"name": name, **params}, request_id, session=session, headers=EVENTS)


# -- blocks


async def test_a_result_of_blocks_has_its_own_structured_content() -> None:
    """Neither the text of a value nor `{"result": ...}`: what the author gave, in its order."""
    result = spoken(await place().send(call("Work.shown")))["result"]
    assert [block["type"] for block in result["content"]] == ["text", "audio", "resource_link"]
    assert set(result["structuredContent"]) == {"runs"}
    assert result["isError"] is False


async def test_a_kept_result_is_the_whole_result() -> None:
    """Blocks and value come from the cache together."""
    work = place()
    first, second = [spoken(await work.send(call("Work.shown")))["result"] for _ in range(2)]
    assert first == second


@pytest.mark.parametrize(
    ("revision", "kinds"),
    [
        ("2024-11-05", ["text", "text", "text"]),
        ("2025-03-26", ["text", "audio", "text"]),
        ("2025-06-18", ["text", "audio", "resource_link"]),
    ],
)
async def test_an_older_session_sees_what_it_can_take(revision: str, kinds: list[str]) -> None:
    """By the session's revision, whatever a header says."""
    work = place()
    session = await work.begin(revision)
    result = spoken(await work.send(in_session(session, "Work.shown")))["result"]
    assert [block["type"] for block in result["content"]] == kinds


async def test_tools_of_blocks_are_listed_without_an_output_schema() -> None:
    """Nothing is promised of them."""
    tools = spoken(await place().send(golden.modern("tools/list")))["result"]["tools"]
    assert {tool["name"]: "outputSchema" in tool for tool in tools}["Work.shown"] is False


# -- what the client hears


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        pytest.param([0, 1, 2.5], [0, 1, 2.5], id="what rises"),
        pytest.param([1, 1, 0.5, 2], [1, 2], id="what does not rise is left out"),
        pytest.param([-3, -2], [-3, -2], id="below nothing"),
    ],
)
async def test_progress_only_rises(steps: list[float], told: list[float]) -> None:
    """MCP, Progress: MUST increase with each notification."""
    door = Door()
    raw = call("Work.until", {"step": steps}, meta=TOKEN, headers=EVENTS)
    await place().send(raw, begin=door.begin)
    *notices, last = await door.messages()
    assert [notice["params"]["progress"] for notice in notices] == told
    assert last["result"]["structuredContent"] == {"result": "done"}


async def test_a_door_that_cannot_stream_gets_the_answer_alone() -> None:
    """What would have been said is lost, the call is not."""
    reply = await place().send(call("Work.until", {"step": [1]}, meta=TOKEN, headers=EVENTS))
    assert spoken(reply)["result"]["structuredContent"] == {"result": "done"}


async def test_a_batch_says_nothing_on_the_way() -> None:
    """Its answers are one array."""
    work, door = place(), Door()
    session = await work.begin("2025-03-26")
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "Work.until", "arguments": {"step": [1]}, "_meta": {"progressToken": 1}},
    }
    reply = await work.send(golden.post([message], {"Mcp-Session-Id": session, **EVENTS}), begin=door.begin)
    assert door.reply is None
    assert [answer["id"] for answer in spoken(reply)] == [1]


@pytest.mark.parametrize("era", ["stateless", "session"])
async def test_a_call_that_lasts_becomes_a_stream(era: str) -> None:
    """A silent JSON answer cannot be kept alive; comments until the answer is there."""
    work, door, left = place(limits=Limits(silence=0.01)), Door(), asyncio.Event()

    async def gone() -> None:
        await left.wait()

    session = await work.begin() if era == "session" else ""
    raw = in_session(session, "Work.hang") if session else call("Work.hang", headers=EVENTS)
    asking = asyncio.create_task(work.send(raw, gone, door.begin))
    async with asyncio.timeout(5):
        while door.read.count(b": still at it\n\n") < 3:
            await asyncio.sleep(0)
        if session:
            await work.send(cancelled(session, 7))
        left.set()
        await asking
    assert await door.messages() == []


async def test_a_quick_call_is_no_stream() -> None:
    """Though the client would take one: until something is said, errors have their statuses."""
    door = Door()
    reply = await place().send(call("Work.shown", headers=EVENTS), begin=door.begin)
    assert (door.reply, reply.status) == (None, 200)


async def test_an_unknown_level_is_the_authors_mistake() -> None:
    """Whoever listens, or not."""
    result = spoken(await place().send(call("Work.shrug")))["result"]
    assert "is no level" in result["content"][0]["text"]


async def test_a_cut_call_says_so_where_its_stream_has_begun() -> None:
    """A worker that ends cancels it: the cancellation passes, after the last word."""
    work, door = place(limits=Limits(silence=0.01)), Door()
    asking = asyncio.create_task(work.send(call("Work.hang", headers=EVENTS), begin=door.begin))
    async with asyncio.timeout(5):
        while door.reply is None:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    (last,) = await door.messages()
    assert (last["id"], last["error"]["code"]) == (7, -32603)


# -- how it gives up


def cancelled(session: str, request_id: object) -> bytes:
    """The notification."""
    return golden.legacy("notifications/cancelled", {"requestId": request_id}, ABSENT, session=session)


@pytest.mark.parametrize("name", ["Work.hang", "Work.stubborn"])
async def test_a_session_gives_up_its_call(name: str) -> None:
    """202 without a body for a call that ends; one that answers all the same is answered. Nothing is left running."""
    work, before = place(), asyncio.all_tasks()
    session = await work.begin()
    asking = asyncio.create_task(work.send(in_session(session, name, "x")))
    async with asyncio.timeout(5):
        while not work.observer.calls:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (await work.send(cancelled(session, "x"))).status == 202
        reply = await asking
    expected = (202, b"") if name == "Work.hang" else (200, reply.body)
    assert (reply.status, reply.body) == expected
    assert asyncio.all_tasks() == before


async def test_a_batch_may_give_up_what_another_request_began() -> None:
    """A notification counts wherever it stands."""
    work = place()
    session = await work.begin("2025-03-26")
    asking = asyncio.create_task(work.send(in_session(session, "Work.hang", 1)))
    async with asyncio.timeout(5):
        while not work.observer.calls:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await work.send(golden.post([notice], {"Mcp-Session-Id": session}))
        assert (await asking).status == 202


# -- capabilities


@pytest.mark.parametrize(
    ("capabilities", "able"),
    [
        pytest.param({"elicitation": {"url": {}}}, True, id="the part"),
        pytest.param({"elicitation": {}}, False, id="the whole without the part"),
        pytest.param({}, False, id="nothing"),
    ],
)
async def test_a_part_of_a_capability(capabilities: dict[str, Any], able: bool) -> None:
    """With each request in the stateless era, with `initialize` in a session."""
    work = place()
    meta = META | {"io.modelcontextprotocol/clientCapabilities": capabilities}
    stateless = spoken(await work.send(call("Work.declared", meta=meta)))
    opening = json.loads(golden.initialize().partition(b"\r\n\r\n")[2])
    opening["params"]["capabilities"] = capabilities
    session = dict((await work.send(golden.post(opening))).headers)["Mcp-Session-Id"]
    result = spoken(await work.send(in_session(session, "Work.declared")))["result"]
    assert result["isError"] is not able
    if able:
        assert stateless["result"]["structuredContent"] == {"result": "here"}
    else:
        assert stateless["error"]["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}
