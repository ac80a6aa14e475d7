"""How a door ends: nothing that is asked is left without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.exchange import Inbound, Reply

REQUEST = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"

Serve = Callable[..., Any]
Make = Callable[..., Any]


async def test_a_connection_that_is_open_is_answered_once_more(serve: Serve, make_entrance: Make) -> None:
    """An idle connection asks during the drain: an answer that says `Connection: close`, and then the end."""
    served = await serve(make_entrance())
    used, silent = await served.connect(), await served.connect()
    assert (await used.ask(body=b"{}")).header("Connection") is None
    drained = asyncio.create_task(served.door.drain(20))
    await asyncio.sleep(0)
    for client, path in ((used, "/call"), (silent, "/nowhere")):
        answer = await client.ask(path=path, body=b"{}")
        assert (answer.status, answer.header("Connection")) == (200 if path == "/call" else 404, "close")
        assert await client.ended()
    async with asyncio.timeout(5):
        await drained


async def test_a_request_half_sent_is_answered(serve: Serve, make_entrance: Make) -> None:
    """Its first bytes came before the drain, its last ones after."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(REQUEST[:30])
    drained = asyncio.create_task(served.door.drain(20))
    await asyncio.sleep(0)
    await client.send(REQUEST[30:])
    answer = await client.answer()
    assert (answer.status, answer.header("Connection")) == (200, "close")
    await drained


async def test_idle_connections_are_closed_when_their_time_is_over_and_busy_ones_are_not(
    serve: Serve, make_entrance: Make
) -> None:
    """`idle` ends connections without a request; the call in flight has the whole grace."""
    release, entered = asyncio.Event(), asyncio.Event()

    async def answer(_: Inbound) -> Reply:
        entered.set()
        await release.wait()
        return Reply(200, b"late")

    served = await serve(make_entrance(answer))
    idle, busy = await served.connect(), await served.connect()
    await busy.send(REQUEST)
    await entered.wait()
    drained = asyncio.create_task(served.door.drain(20, 0.05))
    assert await idle.ended()
    assert not drained.done()
    release.set()
    reply = await busy.answer()
    assert (reply.body, reply.header("Connection")) == (b"late", "close")
    async with asyncio.timeout(5):
        await drained


async def test_a_drain_can_be_hurried(serve: Serve, make_entrance: Make) -> None:
    """A reload's drain waits for idle connections; a stop meanwhile does not."""
    served = await serve(make_entrance())
    idle = await served.connect()
    await idle.ask(body=b"{}")
    drained = asyncio.create_task(served.door.drain(60))
    await asyncio.sleep(0)
    served.door.hurry(20, 0.0)
    assert await idle.ended()
    async with asyncio.timeout(5):
        await drained


async def test_the_keep_alive_timer_runs_on(serve: Serve, make_entrance: Make) -> None:
    """Without `idle` an idle connection lives for as long as it would have lived anyway."""
    served = await serve(make_entrance(), keep_alive=0.2)
    client = await served.connect()
    await client.ask(body=b"{}")
    async with asyncio.timeout(5):
        await served.door.drain(60)
    assert await client.ended()


async def test_calls_beyond_the_grace_are_cancelled_and_answered(serve: Serve, make_entrance: Make) -> None:
    """503, the connection ends, and what was running sees its cancellation."""
    cancelled, entered = asyncio.Event(), asyncio.Event()

    async def answer(_: Inbound) -> Reply:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return Reply(200)

    served = await serve(make_entrance(answer))
    client = await served.connect()
    await client.send(REQUEST)
    await entered.wait()
    await served.door.drain(0.05, 0.0)
    reply = await client.answer()
    assert (reply.status, reply.header("Connection")) == (503, "close")
    assert cancelled.is_set()


async def test_what_comes_after_answers_is_waited_for(serve: Serve, make_entrance: Make) -> None:
    """A drain with no connection left still has work to end."""
    done = asyncio.Event()

    async def after() -> None:
        await asyncio.sleep(0.1)
        done.set()

    served = await serve(make_entrance(lambda _: Reply(200, b"1", (), after)))
    client = await served.connect()
    await client.ask(body=b"{}")
    await served.door.drain(20, 0.0)
    assert done.is_set()


async def test_new_connections_are_left_to_others(serve: Serve, make_entrance: Make) -> None:
    """A draining door does not accept."""
    served = await serve(make_entrance())
    await served.door.drain(1)
    with pytest.raises(ConnectionRefusedError):
        await served.connect()
