"""The three stores as one suite sees them: a pool, and a way to let its time pass."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rpcgw.adapters.stores.files import FilePool
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.kernel.ports import Pool, StoreError

DEADLINE = 10.0


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


async def poll(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask until it holds; another process is involved, so there is a deadline and no event to wait for."""
    end = time.monotonic() + DEADLINE
    while not await holds():
        assert time.monotonic() < end, "nothing happened in time"
        await asyncio.sleep(0.005)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class RedisServer:
    """A Redis of this test run's own, on loopback, without a disk."""

    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/3"

    def start(self) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            pytest.skip("no redis-server on this machine")
        quiet = ["--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--loglevel", "warning"]
        self.process = subprocess.Popen([binary, "--port", str(self.port), *quiet, *self.options])

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    async def ready(self) -> None:
        pool = RedisPool(self.url)

        async def answers() -> bool:
            try:
                await pool.ping()
            except StoreError:
                return False
            return True

        await poll(answers)
        await pool.close()


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    server = RedisServer(free_port())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(free_port(), ("--unixsocket", str(tmp_path / "redis.sock")))
    server.start()
    yield server
    server.stop()


_numbers = itertools.count()


@pytest.fixture(params=["memory", "files", "redis"])
async def stock(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stock]:
    """Each store in turn."""
    prefix = f"{os.getpid()}-{next(_numbers)}-{secrets.token_hex(4)}:"
    clock = ManualClock(time.time())

    async def move(seconds: float) -> None:
        clock.time += seconds

    pool: Pool
    match request.param:
        case "memory":
            pool, expire = MemoryPool(now=clock), move
        case "files":
            pool, expire = FilePool(str(tmp_path / "pool"), now=clock), move
        case _:
            server: RedisServer = request.getfixturevalue("shared_redis")
            await server.ready()
            pool, expire = RedisPool(server.url), asyncio.sleep  # Redis has a clock of its own, which nobody can move
    yield Stock(pool, prefix, expire)
    await pool.close()
