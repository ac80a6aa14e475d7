"""The stores as one suite sees them: a pool, and a way to let its time pass."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rpcgw.adapters.stores.files import FilePool
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.kernel.ports import Pool


class ManualClock:
    """A clock that a test moves."""

    def __init__(self, start: float) -> None:
        self.time = start

    def __call__(self) -> float:
        return self.time


@dataclass
class Stock:
    """A pool, a prefix that is this test's alone, and `expire`, which lets so many seconds pass for what is there."""

    pool: Pool
    prefix: str
    expire: Callable[[float], Awaitable[None]]


_numbers = itertools.count()


AGE = """
local past = tonumber(ARGV[1])
if redis.call('TYPE', KEYS[1]).ok == 'zset' then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -past, member) end
end
return redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) - past)
"""
"""Redis has a clock of its own, which nobody can move: what it holds is made so much older instead."""
PATIENCE = 30.0
"""Seconds for a command: what is promised of every store is no matter of time."""
SHARED = {"redis over TLS": "tls_redis", "redis behind Sentinels": "watched", "a Cluster": "cluster"}


@pytest.fixture(params=["memory", "files", "redis", *SHARED])
async def stock(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stock]:
    """Each store in turn."""
    prefix = f"{os.getpid()}-{next(_numbers)}-{secrets.token_hex(4)}:"
    clock = ManualClock(time.time())

    async def move(seconds: float) -> None:
        clock.time += seconds

    def ageing(pool: RedisPool) -> Callable[[float], Awaitable[None]]:
        async def age(seconds: float) -> None:
            for key in await pool.keys(prefix):
                await pool._run(AGE, key, int(seconds * 1000))

        return age

    pool: Pool
    expire: Callable[[float], Awaitable[None]]
    match request.param:
        case "memory":
            pool, expire = MemoryPool(now=clock), move
        case "files":
            pool, expire = FilePool(str(tmp_path / "pool"), now=clock), move
        case "redis":
            pool = RedisPool(request.getfixturevalue("redis_url"), PATIENCE)
            expire = ageing(pool)
        case _:
            pool = RedisPool(request.getfixturevalue(SHARED[request.param]).url, PATIENCE)
            expire = ageing(pool)
    yield Stock(pool, prefix, expire)
    await pool.close()
