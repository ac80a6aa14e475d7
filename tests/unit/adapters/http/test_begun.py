"""Streams that begin while their answer is still worked on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from rpcgw.exchange import Inbound, Reply

REQUEST = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"

Serve = Callable[..., Any]
Make = Callable[..., Any]


class Work:
    """A call that begins a stream, and ends when it is told to."""

    def __init__(self, last: bytes = b"two") -> None:
        self.end = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.ran = asyncio.Event()
        self.closed = asyncio.Event()
        self._last = last

    async def answer(self, inbound: Inbound) -> Reply:
        assert inbound.begin is not None
        inbound.begin(Reply(200, self._pieces(), (("Content-Type", "text/event-stream"),)))
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            self.end.set()
            raise
        return Reply(500, b"is not written", after=self._after)

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await self.end.wait()
            yield self._last
        finally:
            self.closed.set()

    async def _after(self) -> None:
        self.ran.set()


async def test_it_goes_out_before_the_answer_is_ready(serve: Serve, make_entrance: Make) -> None:
    """Of what is returned in the end only `after` counts; the connection serves on."""
    work = Work()
    served = await serve(make_entrance(work.answer))
    client = await served.connect()
    await client.send(REQUEST)
    await client.reader.readuntil(b"one\r\n")
    assert not work.ran.is_set()
    work.end.set()
    assert await client.reader.readuntil(b"0\r\n\r\n") == b"3\r\ntwo\r\n0\r\n\r\n"
    async with asyncio.timeout(5):
        await work.ran.wait()
    assert (await client.ask()).body == b"onetwo"


async def test_a_reader_that_has_gone_does_not_end_the_work(serve: Serve, make_entrance: Make) -> None:
    """Whether it goes on is the endpoint's business; the stream ends, nothing is reported."""
    work = Work(last=b"x" * 1_000_000)
    served = await serve(make_entrance(work.answer))
    client = await served.connect()
    await client.send(REQUEST)
    await client.reader.readuntil(b"one\r\n")
    client.writer.transport.abort()
    work.end.set()
    async with asyncio.timeout(5):
        await work.ran.wait()
        await work.closed.wait()
    assert not work.cancelled.is_set()
    assert served.events == []


async def test_its_last_words_go_out_when_the_work_is_cut_off(serve: Serve, make_entrance: Make) -> None:
    """At the end of a drain's grace: the chunks end as they should, and the connection too."""
    work = Work()
    served = await serve(make_entrance(work.answer))
    client = await served.connect()
    await client.send(REQUEST)
    await client.reader.readuntil(b"one\r\n")
    await served.door.drain(0.05, 0.0)
    assert await client.reader.read() == b"3\r\ntwo\r\n0\r\n\r\n"
    assert work.cancelled.is_set()


@pytest.mark.parametrize("written", [True, False], ids=["after the first piece", "before anything is out"])
async def test_an_unforeseen_error_ends_it(written: bool, serve: Serve, make_entrance: Make) -> None:
    """A broken stream has no last chunk; where nothing is out yet it is 500 as ever."""
    go_on = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        if not written:
            await asyncio.Event().wait()
        yield b"one"
        go_on.set()
        await asyncio.Event().wait()

    async def answer(inbound: Inbound) -> Reply:
        assert inbound.begin is not None
        inbound.begin(Reply(200, pieces()))
        if written:
            await go_on.wait()
        raise ZeroDivisionError

    served = await serve(make_entrance(answer))
    client = await served.connect()
    await client.send(REQUEST)
    if written:
        assert (await client.reader.read()).endswith(b"3\r\none\r\n")
    else:
        assert (await client.answer()).status == 500
    assert [name for name, _ in served.events] == ["http.failed"]
