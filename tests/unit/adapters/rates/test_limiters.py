"""Limiters: memory that workers share, and Redis. The same promises."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rpcgw.adapters.rates.redis import RedisLimiter
from rpcgw.adapters.rates.shared import SharedLimiter
from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import Counts, StoreError
from tests.support.redis import free_port

SERVERS = {"redis over TLS": "tls_redis", "redis behind Sentinels": "watched", "a Cluster": "cluster"}
KINDS = ["shared", "redis", *SERVERS]
PATIENCE = 30.0
"""Seconds for a command: what is promised here is no matter of time."""
HOURLY = Rate(5, 3600)


@asynccontextmanager
async def limiters(
    kind: str, request: pytest.FixtureRequest, count: int = 2
) -> AsyncIterator[list[SharedLimiter | RedisLimiter]]:
    """Several that count together."""
    made: list[SharedLimiter | RedisLimiter]
    if kind == "shared":
        path: Path = request.getfixturevalue("tmp_path") / "limits"
        made = [SharedLimiter(path, time.time) for _ in range(count)]
    else:
        server = SERVERS.get(kind)
        url = request.getfixturevalue(server).url if server else request.getfixturevalue("redis_url")
        made = [RedisLimiter(url, PATIENCE) for _ in range(count)]
    try:
        yield made
    finally:
        for each in made:
            await each.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_all_count_together(kind: str, request: pytest.FixtureRequest) -> None:
    """Of 40 at once on two limiters exactly five pass, and the others hear how long to wait."""
    async with limiters(kind, request) as (one, other):
        waits = await asyncio.gather(*(each.hit(HOURLY, "group", "a") for each in (one, other) for _ in range(20)))
    assert waits.count(0.0) == 5
    assert all(0 < wait <= 7200 for wait in waits if wait)


@pytest.mark.parametrize("kind", KINDS)
async def test_keys_and_rates_count_apart(kind: str, request: pytest.FixtureRequest) -> None:
    """Another key, and another rate for the same key, have their own counts."""
    async with limiters(kind, request, 1) as (one,):
        for _ in range(6):
            await one.hit(HOURLY, "group", "a")
        assert await one.hit(HOURLY, "group", "a") > 0
        assert await one.hit(HOURLY, "group", "b") == 0.0
        assert await one.hit(Rate(5, 7200), "group", "a") == 0.0


@pytest.mark.parametrize("kind", KINDS)
async def test_several_are_counted_up_to_the_first_that_is_full(kind: str, request: pytest.FixtureRequest) -> None:
    """Two limiters together stay within the narrower count; what is counted there counts for others too."""
    everybody = (Rate(8, 3600), ("several", "everybody"))
    a, b = (Counts((HOURLY, ("several", key)), everybody) for key in "ab")
    async with limiters(kind, request) as (one, other):
        first = await asyncio.gather(*(each.hit_each(a) for each in (one, other) for _ in range(10)))
        second = await asyncio.gather(*(each.hit_each(b) for each in (one, other) for _ in range(2)))
        assert await one.hit(HOURLY, "several", "a") > 0
    assert sorted(within for within, wait in first) == [0] * 15 + [2] * 5
    assert sorted(within for within, wait in second) == [1] + [2] * 3
    assert all((wait == 0.0) is (within == 2) for within, wait in (*first, *second))


async def test_a_wait_is_long_enough_and_no_longer(tmp_path: Path) -> None:
    """Who waits as long as was said passes; who comes a little earlier does not."""
    now = [1_000_000.0]
    one = SharedLimiter(tmp_path / "limits", lambda: now[0])
    rate = Rate(7, 60)
    for _ in range(20):
        while not (wait := await one.hit(rate, "a")):
            now[0] += 1.3
        now[0] += wait - 0.001
        assert await one.hit(rate, "a") > 0
        now[0] += 0.002
        assert await one.hit(rate, "a") == 0.0
    await one.close()


async def test_nobody_stands_in_redis(request: pytest.FixtureRequest) -> None:
    """Keys are hashes, and go by themselves."""
    async with limiters("redis", request, 1) as (one,):
        await one.hit(HOURLY, "address", "203.0.113.9")
        keys = await one._storage.bridge.get_connection().keys("*")  # type: ignore[union-attr]
    assert keys
    assert not [key for key in keys if b"203.0.113.9" in key]


async def test_redis_away_is_a_store_error() -> None:
    """Nobody can count, and says so within the timeout."""
    away = RedisLimiter(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(StoreError, match="Redis"):
        await away.hit(HOURLY, "a")
    await away.close()
