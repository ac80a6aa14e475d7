"""The stores as one suite sees them: a pool, and a way to let its time pass."""

from __future__ import annotations

import asyncio
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
    """A pool, a prefix that is this test's alone, and `expire`, which waits or moves time past a ttl."""

    pool: Pool
    prefix: str
    expire: Callable[[float], Awaitable[None]]


_numbers = itertools.count()


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

    async def wait(seconds: float) -> None:
        await asyncio.sleep(seconds)

    pool: Pool
    match request.param:
        case "memory":
            pool, expire = MemoryPool(now=clock), move
        case "files":
            pool, expire = FilePool(str(tmp_path / "pool"), now=clock), move
        case "redis":
            # Redis has a clock of its own, which nobody can move.
            pool, expire = RedisPool(request.getfixturevalue("redis_url"), PATIENCE), wait
        case _:
            pool, expire = RedisPool(request.getfixturevalue(SHARED[request.param]).url, PATIENCE), wait
    yield Stock(pool, prefix, expire)
    await pool.close()
