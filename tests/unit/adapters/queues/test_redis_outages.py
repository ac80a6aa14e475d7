"""A queue whose Redis goes away: nothing runs twice that was done, nothing waits for ever, work goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from rpcgw.adapters.queues.redis import CONNECTIONS, RedisQueue
from rpcgw.kernel.ports import StoreError
from tests.support.redisservers import RedisProcess, redis_process
from tests.unit.adapters.queues.conftest import RECLAIM, Bench, Observer

PATIENCE = 30.0


@pytest.fixture
def server() -> Iterator[RedisProcess]:
    """A server of the test's own."""
    with redis_process() as made:
        yield made


async def told(observer: Observer, event: str) -> None:
    """Wait until something was told."""
    async with asyncio.timeout(PATIENCE):
        while event not in [name for name, _ in observer.events]:
            await asyncio.sleep(0.01)


async def test_what_ends_while_redis_is_frozen_is_done_once(
    server: RedisProcess, name: str, observer: Observer, bench: Bench
) -> None:
    """It is acknowledged when Redis is back, although its claim has lapsed long since."""
    queue = RedisQueue(server.url, name, observer, reclaim=RECLAIM, timeout=0.3)
    async with bench.at(queue):
        await queue.put(b"wait")
        await bench.came.get()
        server.freeze()
        bench.opened.set()
        await bench.ended.get()
        await told(observer, "queue.error")
        await asyncio.sleep(2 * RECLAIM)
        server.thaw()
        async with asyncio.timeout(PATIENCE):
            while server.ask("XLEN", name):
                await asyncio.sleep(0.01)
        await put_in_time(queue, b"next")
        assert (await bench.ended.get()).body == b"next"
    assert [(await bench.came.get()).body for _ in range(bench.came.qsize())] == [b"next"]
    await queue.close()


async def put_in_time(queue: RedisQueue, body: bytes) -> None:
    """Put a message, as often as a client would that is refused."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await queue.put(body)
            except StoreError:
                await asyncio.sleep(0.05)


async def test_a_worker_goes_on_with_a_redis_that_came_back_empty(
    server: RedisProcess, name: str, observer: Observer, bench: Bench
) -> None:
    """Stream and group are made anew, by nobody's hand."""
    queue = RedisQueue(server.url, name, observer, reclaim=RECLAIM, timeout=0.5)
    async with bench.at(queue):
        await queue.put(b"before")
        await bench.ended.get()
        server.stop()
        await told(observer, "queue.error")
        server.start()
        await put_in_time(queue, b"after")
        async with asyncio.timeout(PATIENCE):
            assert (await bench.ended.get()).body == b"after"
    await queue.close()


async def test_many_producers_of_a_frozen_redis_are_refused(
    server: RedisProcess, name: str, observer: Observer
) -> None:
    """Each within its time; they hold no more connections than may be."""
    queue = RedisQueue(server.url, name, observer, timeout=0.3)
    await queue.ping()
    server.freeze()
    async with asyncio.timeout(PATIENCE):
        refused = await asyncio.gather(*(queue.put(b"x") for _ in range(500)), return_exceptions=True)
    assert {type(each) for each in refused} == {StoreError}
    server.thaw()
    await put_in_time(queue, b"x")
    assert server.connections() <= CONNECTIONS
    await queue.close()


async def test_a_worker_of_a_frozen_redis_ends_when_it_is_told(
    server: RedisProcess, name: str, observer: Observer, bench: Bench
) -> None:
    """With a job done that cannot be acknowledged: it gives up, and another worker will run it again."""
    queue = RedisQueue(server.url, name, observer, reclaim=RECLAIM, timeout=0.3)
    async with asyncio.timeout(PATIENCE):
        async with bench.at(queue):
            await queue.put(b"wait")
            await bench.came.get()
            server.freeze()
            bench.opened.set()
            await bench.ended.get()
            await told(observer, "queue.error")
    server.thaw()
    await queue.close()
