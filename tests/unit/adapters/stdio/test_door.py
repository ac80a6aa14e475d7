"""The door on standard input and output, with an entrance that a test speaks for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from rpcgw.adapters.stdio.door import StdioDoor, messages
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Entrance, Inbound, Reply
from rpcgw.protocol.mcp.lines import read

Answer = Callable[[Inbound], Any]


class House:
    """A door, what went out of it, and what was reported."""

    def __init__(self, answer: Answer, language: str = "") -> None:
        self.said: list[Any] = []
        self.reports: list[str] = []
        self.seen: list[Inbound] = []
        self._answer = answer
        entrance = Entrance(
            "mcp", "/mcp", ("POST",), 100, lambda _: ANONYMOUS, lambda _: Reply(413, b'"too large"'), self._asked
        )
        self.door = StdioDoor(entrance, read, self._write, self._report, language)

    async def speak(self, *lines: Any) -> None:
        """Let a client say lines (None: one that was too long), and wait for all answers."""
        await self.door.serve(each(*(line if line is None else json.dumps(line).encode() for line in lines)))
        await self.door.drain(5.0)

    async def _asked(self, _: Principal, inbound: Inbound) -> Reply:
        self.seen.append(inbound)
        reply: Reply = await self._answer(inbound)
        return reply

    async def _write(self, line: bytes) -> None:
        self.said.append(json.loads(line))

    def _report(self, name: str, **_: Any) -> None:
        self.reports.append(name)


async def each(*items: Any) -> AsyncIterator[Any]:
    for item in items:
        yield item


def request(number: int, method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def echo(inbound: Inbound) -> Reply:
    """The request's id."""
    return Reply(200, json.dumps(json.loads(inbound.body)["id"]).encode())


async def test_a_line_in_a_line_out() -> None:
    """What the entrance answers is what goes out."""
    house = House(echo)
    await house.speak(request(1), request(2))
    assert sorted(house.said) == [1, 2]


async def test_requests_run_side_by_side() -> None:
    """A call that takes long keeps none that comes later."""
    later = asyncio.Event()

    async def answer(inbound: Inbound) -> Reply:
        if b'"slow"' in inbound.body:
            await later.wait()
        else:
            later.set()
        return await echo(inbound)

    house = House(answer)
    await house.speak(request(1, "slow"), request(2))
    assert house.said == [2, 1]


async def test_all_that_follows_is_in_the_session() -> None:
    """`initialize` is waited for; the id that it gets stands in the headers of every later request."""

    async def answer(inbound: Inbound) -> Reply:
        if b"initialize" in inbound.body:
            await asyncio.sleep(0)
            return Reply(200, b"0", (("Mcp-Session-Id", "s1"),))
        return await echo(inbound)

    house = House(answer)
    await house.speak(request(1, "initialize"), request(2))
    assert [inbound.head.headers.get("mcp-session-id") for inbound in house.seen] == [None, "s1"]
    assert house.said == [0, 2]


async def test_a_notification_is_never_answered() -> None:
    """Not even where the endpoint refuses it."""

    async def refuse(_: Inbound) -> Reply:
        return Reply(400, b'"no"')

    house = House(refuse)
    await house.speak(
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}
    )
    assert (house.said, len(house.seen)) == ([], 2)


async def test_an_answer_without_a_body_is_no_line() -> None:
    """202 and 499 are for HTTP."""

    async def accept(_: Inbound) -> Reply:
        return Reply(202)

    house = House(accept)
    await house.speak(request(1))
    assert house.said == []


async def test_a_request_can_be_taken_back() -> None:
    """`notifications/cancelled` tells the request's `gone`; its own notification still reaches the endpoint."""

    async def answer(inbound: Inbound) -> Reply:
        if b"cancelled" in inbound.body:
            return Reply(202)
        await inbound.gone()
        return Reply(499)

    house = House(answer)
    await house.speak(
        request(1, "slow"), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    )
    assert (house.said, len(house.seen)) == ([], 2)


async def test_a_call_that_runs_at_the_end_is_cancelled_after_the_grace() -> None:
    """Cleanup runs, and the drain ends."""
    cleaned = asyncio.Event()

    async def hang(_: Inbound) -> Reply:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        raise AssertionError

    house = House(hang)
    await house.door.serve(each(json.dumps(request(1)).encode()))
    await house.door.drain(0.01)
    assert cleaned.is_set()


async def test_what_is_said_on_the_way_are_lines_of_their_own() -> None:
    """An event stream's data, event by event, and the answer last; what is returned beside it is not said twice."""

    async def answer(inbound: Inbound) -> Reply:
        assert inbound.begin is not None
        inbound.begin(Reply(200, each(b": alive\n\n", b"event: message\ndata: 1\n\nda", b"ta: 2\n\n")))
        return Reply(200, b'"ignored"')

    house = House(answer)
    await house.speak(request(1))
    assert house.said == [1, 2]


async def test_what_follows_an_answer_is_run() -> None:
    """`Reply.after`, once the line is out; what it raises goes to the log."""
    ran = []

    async def after() -> None:
        ran.append(len(house.said))
        raise ValueError

    async def answer(_: Inbound) -> Reply:
        return Reply(200, b"1", after=after)

    house = House(answer)
    await house.speak(request(1))
    assert (ran, house.reports) == ([1], ["after.failed"])


async def test_a_line_that_is_too_long_is_refused_and_the_next_one_served() -> None:
    """The entrance has the words for it."""
    house = House(echo)
    await house.speak(None, request(1))
    assert house.said == ["too large", 1]


async def test_anything_unforeseen_is_an_answer() -> None:
    """`-32603` with the request's id, and a report."""

    async def fail(_: Inbound) -> Reply:
        raise KeyError

    house = House(fail)
    await house.speak(request(7))
    assert (house.said[0]["id"], house.said[0]["error"]["code"], house.reports) == (7, -32603, ["request.failed"])


@pytest.mark.parametrize(("language", "sent"), [("uk", "uk"), ("", None)])
async def test_the_language_is_said_in_every_request(language: str, sent: str | None) -> None:
    """A pipe has no `Accept-Language`; the command line has."""
    house = House(echo, language)
    await house.speak(request(1))
    assert house.seen[0].head.headers.get("accept-language") == sent


async def test_events_are_read_across_pieces() -> None:
    """Whatever the pieces are cut into; comments and fields that are not data are left out."""
    stream = b': x\r\n\r\nid: 1\r\ndata: {"a"\r\ndata: :1}\r\n\r\ndata:2\n\n'
    for size in (1, 2, 7, 100):
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [json.loads(data) async for data in messages(each(*pieces))] == [{"a": 1}, 2]
