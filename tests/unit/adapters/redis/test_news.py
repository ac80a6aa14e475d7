"""What those who share a Redis hear of each other, over each kind of Redis, and what they know while they hear nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

import pytest

from rpcgw.adapters.redis.news import BEAT, GOOD, RedisNews
from rpcgw.adapters.stores.redis import RedisPool
from tests.support.redisservers import Cluster, RedisProcess, Watched, redis_process

PATIENCE = 30.0
KINDS = ["plain", "TLS", "Sentinels", "Cluster"]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> str:
    """Every kind of Redis."""
    found: RedisProcess | Watched | Cluster
    match request.param:
        case "plain":
            address: str = request.getfixturevalue("redis_url")
            return address
        case "TLS":
            found = request.getfixturevalue("tls_redis")
        case "Sentinels":
            found = request.getfixturevalue("watched")
        case _:
            found = request.getfixturevalue("cluster")
    return found.url


class Listener:
    """One host: its pool, what it heard, and how often it may have missed something."""

    def __init__(self, url: str) -> None:
        self.pool = RedisPool(url, timeout=1.0)
        self.news: RedisNews = self.pool.news()
        self.dropped: list[str] = []
        self.gaps = 0
        self.news.follow(self.dropped.append, self._missed)

    def _missed(self) -> None:
        self.gaps += 1

    def is_good(self) -> bool:
        return self.news.good_until > monotonic()


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Listener]:
    """A host that listens, and is known to hear everything."""
    made = Listener(url)
    task = asyncio.create_task(made.news.run())
    try:
        await until(made.is_good)
        yield made
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await made.pool.close()


async def until(true: Callable[[], bool]) -> None:
    ends = monotonic() + PATIENCE
    while not true():
        assert monotonic() < ends, "not true in time"
        await asyncio.sleep(0.005)


async def test_what_one_withdraws_the_other_hears(url: str) -> None:
    """Once, by its key, whichever master has it; and it is gone. What was not there is heard of as well."""
    async with listening(url) as one, listening(url) as other:
        keys = [f"ufo_mcp_mcp_{number}" for number in range(20)]
        for key in keys:
            await one.pool.set(key, b"1", 60)
            assert await one.pool.withdraw(key)
            assert not await one.pool.withdraw(key)
        await until(lambda: len(other.dropped) == 40)
        assert sorted(other.dropped) == sorted(2 * keys)
        assert await other.pool.get_many(keys) == [None] * 20


async def test_hearing_everything_is_proven_again_and_again(url: str) -> None:
    """The proof is never older than a second, and comes anew before it is over."""
    async with listening(url) as one:
        before = one.news.good_until
        assert before <= monotonic() + GOOD
        await until(lambda: one.news.good_until > before + 2 * BEAT)
        assert one.gaps == 1


async def test_a_channel_that_is_cut() -> None:
    """At once nothing is known; it begins again by itself, and then tells that something may have been missed."""
    with redis_process() as server:
        async with listening(server.url) as one:
            heard = one.news.heard
            server.ask("CLIENT", "KILL", "TYPE", "pubsub")
            await until(lambda: not one.is_good())
            await until(one.is_good)
            assert (one.gaps, one.news.heard > heard) == (2, True)


async def test_a_server_that_freezes() -> None:
    """No connection breaks, and still nothing is known within a second; it goes on once the server does."""
    with redis_process() as server:
        async with listening(server.url) as one:
            server.freeze()
            frozen = monotonic()
            await until(lambda: not one.is_good())
            assert one.news.good_until <= frozen + GOOD
            server.thaw()
            await until(one.is_good)


async def test_a_server_that_is_restarted() -> None:
    """It is listened to anew."""
    with redis_process() as server:
        async with listening(server.url) as one:
            server.stop()
            await until(lambda: not one.is_good())
            server.start()
            await until(one.is_good)
            await one.pool.withdraw("a")
            await until(lambda: one.dropped == ["a"])


async def test_a_user_who_may_not_publish() -> None:
    """Withdrawing works all the same, and nothing is taken for complete."""
    with redis_process() as server:
        server.ask("ACL", "SETUSER", "shy", "on", ">secret", "~*", "+@all", "resetchannels")
        made = Listener(server.url.replace("redis://", "redis://shy:secret@"))
        task = asyncio.create_task(made.news.run())
        await made.pool.set("a", b"1", 60)
        assert await made.pool.withdraw("a")
        assert not made.is_good()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await made.pool.close()
