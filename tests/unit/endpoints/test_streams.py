"""The stream between a call that speaks and a door that writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from rpcgw.endpoints.streams import MOST_UNREAD, Stream
from rpcgw.exchange import Reply
from rpcgw.protocol.mcp.notices import KEEP_ALIVE, event


class Door:
    """Takes replies; reads when it is told to."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    def stream(self, silence: float = 60.0) -> Stream:
        return Stream(self.replies.append, "uk", silence)

    @property
    def pieces(self) -> AsyncIterator[bytes]:
        (reply,) = self.replies
        assert not isinstance(reply.body, bytes)
        return reply.body

    async def rest(self) -> bytes:
        return b"".join([piece async for piece in self.pieces])


async def test_nothing_begins_before_something_is_said() -> None:
    """Until then the answer may have any status; an end without a word is no stream."""
    door = Door()
    stream = door.stream()
    stream.end(b"{}")
    assert (stream.begun, door.replies) == (False, [])


async def test_what_is_said_comes_in_order_and_then_the_end() -> None:
    """Events, the last message, and nothing after it."""
    door = Door()
    stream = door.stream()
    await stream.say(b"1")
    await stream.say(b"2")
    stream.end(b"3")
    stream.end(b"4")
    await stream.say(b"5")
    assert await door.rest() == event(b"1") + event(b"2") + event(b"3")


async def test_a_call_that_was_given_up_ends_without_a_last_message() -> None:
    """MCP, Cancellation: no answer is sent."""
    door = Door()
    stream = door.stream()
    await stream.say(b"1")
    stream.end()
    assert await door.rest() == event(b"1")


async def test_its_headers_ask_that_it_flows() -> None:
    """Neither proxies nor caches may collect or change it."""
    door = Door()
    await door.stream().say(b"1")
    (reply,) = door.replies
    assert reply.status == 200
    assert set(reply.headers) == {
        ("Content-Type", "text/event-stream"),
        ("Cache-Control", "no-cache, no-transform"),
        ("X-Accel-Buffering", "no"),
        ("Vary", "Accept-Language"),
        ("Content-Language", "uk"),
    }


async def test_silence_is_broken_by_comments() -> None:
    """What stands between sees that the connection lives."""
    door = Door()
    stream = door.stream(silence=0.01)
    stream.show_life()
    async with asyncio.timeout(5):
        assert [await anext(door.pieces) for _ in range(3)] == [KEEP_ALIVE] * 3


async def test_who_speaks_waits_for_who_reads() -> None:
    """A slow client does not fill the memory; what waited is sent once there is room."""
    door = Door()
    stream = door.stream()
    for _ in range(MOST_UNREAD):
        await stream.say(b"1")
    waiting = asyncio.create_task(stream.say(b"2"))
    await asyncio.sleep(0)
    assert not waiting.done()
    await anext(door.pieces)
    async with asyncio.timeout(5):
        await waiting
        assert await anext(door.pieces) == event(b"2")


@pytest.mark.parametrize("read", [True, False], ids=["after it has read", "before it has read anything"])
async def test_who_speaks_to_nobody_does_not_wait(read: bool) -> None:
    """A client that left, in a session: its call goes on unheard."""
    door = Door()
    stream = door.stream()
    for _ in range(MOST_UNREAD):
        await stream.say(b"1")
    if read:
        await anext(door.pieces)
    waiting = [asyncio.create_task(stream.say(b"2")) for _ in range(2 * MOST_UNREAD)]
    await asyncio.sleep(0)
    await stream.aclose()
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
        await stream.say(b"3")
