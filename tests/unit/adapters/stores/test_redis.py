"""What the pool in Redis promises beyond the others: exact keys, and a clear end when Redis is away."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.kernel.ports import StoreError
from tests.support.redis import free_port

DEADLINE = 10.0


@dataclass
class Server:
    """A Redis that a test may stop, freeze and start again."""

    port: int
    socket: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, *options: str) -> None:
        quiet = ["--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--unixsocket", str(self.socket)]
        command = ["redis-server", "--port", str(self.port), *quiet, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(free_port(), tmp_path / "redis.sock")
    server.start()
    yield server
    server.stop()


async def eventually(ask: Callable[[], Awaitable[object]]) -> float:
    """Ask until it is answered; how many seconds that took."""
    start = time.monotonic()
    while True:
        try:
            await ask()
        except StoreError:
            assert time.monotonic() < start + DEADLINE, "no answer in time"
            await asyncio.sleep(0.01)
        else:
            return time.monotonic() - start


OPERATIONS = [
    pytest.param(lambda pool: pool.get("key"), id="get"),
    pytest.param(lambda pool: pool.set("key", b"1", 60), id="set"),
    pytest.param(lambda pool: pool.add("key", b"1", 60), id="add"),
    pytest.param(lambda pool: pool.touch("key", 60), id="touch"),
    pytest.param(lambda pool: pool.delete("key"), id="delete"),
    pytest.param(lambda pool: pool.delete_if("key", b"1"), id="delete_if"),
    pytest.param(lambda pool: pool.touch_if("key", b"1", 60), id="touch_if"),
    pytest.param(lambda pool: pool.keys("k"), id="keys"),
    pytest.param(lambda pool: pool.ping(), id="ping"),
]


@pytest.mark.clause("C-21")
async def test_the_key_is_exactly_as_given(redis_url: str) -> None:
    """Another product that looks for a session's key finds it."""
    pool = RedisPool(redis_url)
    await pool.set("ufo_mcp_internal_0123456789abcdef", b"state", 60)
    client = Redis.from_url(redis_url)
    assert await client.keys() == [b"ufo_mcp_internal_0123456789abcdef"]
    assert await client.get("ufo_mcp_internal_0123456789abcdef") == b"state"
    assert 59 <= await client.ttl("ufo_mcp_internal_0123456789abcdef") <= 60
    await client.aclose()
    await pool.close()


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_nobody_there_is_a_store_error(operation: Callable[[RedisPool], Awaitable[object]]) -> None:
    """A refused connection is told in the house's words, without the password."""
    pool = RedisPool(f"redis://user:hunter2@127.0.0.1:{free_port()}/0")
    with pytest.raises(StoreError, match=r"^Redis: ") as caught:
        await operation(pool)
    assert "hunter2" not in str(caught.value)
    await pool.close()


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_frozen_redis_is_a_store_error(
    server: Server, operation: Callable[[RedisPool], Awaitable[object]]
) -> None:
    """A server that takes bytes and never answers costs the timeout, not more, and answers again once it is thawed."""
    pool = RedisPool(server.url, timeout=0.2)
    await eventually(pool.ping)
    server.send(signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(StoreError):
        await operation(pool)
    assert time.monotonic() - start < 1.0
    server.send(signal.SIGCONT)
    assert await eventually(pool.ping) < 2.0
    assert await pool.get("another key") is None
    await pool.close()


async def test_a_restarted_redis_serves_the_same_pool(server: Server) -> None:
    """Old connections are replaced without an error, scripts are known, values are gone."""
    pool = RedisPool(server.url)
    await eventually(pool.ping)
    await asyncio.gather(*(pool.set(f"{number}", b"1", 60) for number in range(20)))
    assert await pool.touch_if("0", b"1", 60)
    server.stop()
    with pytest.raises(StoreError):
        await pool.get("0")
    server.start()
    assert await eventually(pool.ping) < 2.0
    assert await asyncio.gather(*(pool.get(f"{number}") for number in range(20))) == [None] * 20
    assert not await pool.touch_if("0", b"1", 60)
    await pool.close()


async def test_a_full_redis_is_a_store_error(server: Server) -> None:
    """Redis out of memory refuses writes; reads go on."""
    server.stop()
    server.start("--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
    pool = RedisPool(server.url)
    await eventually(pool.ping)
    with pytest.raises(StoreError, match="maxmemory"):
        await asyncio.gather(*(pool.set(f"{number}", b"x" * 100_000, 60) for number in range(30)))
    await pool.get("key")
    await pool.close()


async def test_connections_are_bounded_and_shared(server: Server) -> None:
    """Many calls at once wait their turn on a few connections."""
    pool = RedisPool(server.url, connections=3)
    await eventually(pool.ping)
    await asyncio.gather(*(pool.set(f"{number}", b"%d" % number, 60) for number in range(200)))
    client = Redis.from_url(server.url)
    assert len(await client.client_list()) <= 4
    await client.aclose()
    await pool.close()


@pytest.mark.parametrize("turns", range(12))
async def test_a_cancelled_call_leaves_no_answer_behind(server: Server, turns: int) -> None:
    """Whenever a call is cancelled, it ends, and the next call gets its own answer."""
    pool = RedisPool(server.url, connections=1)
    await eventually(pool.ping)
    await pool.set("b", b"B", 60)
    server.send(signal.SIGSTOP)
    reading = asyncio.ensure_future(pool.get("a"))
    for _ in range(turns):
        await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    server.send(signal.SIGCONT)
    assert await pool.get("b") == b"B"
    await pool.close()


async def test_a_unix_socket_will_do(server: Server) -> None:
    """`unix:` names a socket on this host."""
    pool = RedisPool(f"unix://{server.socket}?db=1")
    await eventually(pool.ping)
    assert await pool.add("key", b"1", 60)
    assert await pool.get("key") == b"1"
    await pool.close()


async def test_a_value_ends_by_the_clock_of_redis(server: Server) -> None:
    """Nobody has to do anything for it: not before its time, and then for good, in an index too."""
    pool = RedisPool(server.url, DEADLINE)
    await eventually(pool.ping)
    began = time.monotonic()
    await pool.enlist("index", "member", 0.3)
    await pool.set("key", b"1", 0.3)
    while await pool.get("key") is not None:
        assert time.monotonic() < began + DEADLINE
        await asyncio.sleep(0.01)
    assert time.monotonic() - began >= 0.29
    assert await pool.census("index") == (0, 1)
    await pool.close()
