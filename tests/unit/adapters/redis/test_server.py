"""A Redis that goes away in every way there is, seen by a pool: bounded in time, connections and attempts, and back soon.

What a timeout may cost is asserted with room for a machine that is busy; that a command ends at all is the promise.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.kernel.ports import StoreError
from tests.support.certificates import SECOND
from tests.support.redisservers import (
    SOON,
    Cluster,
    RedisProcess,
    Watched,
    redis_cluster,
    redis_process,
    watched_redis,
)

TIMEOUT = 0.5
CONNECTIONS = 8
CAUSE = r"Connect call failed|closed by server|reset by peer|Broken pipe|no answer within 0\.5 s"
"""What a command may meet where a server has just ended: its connection, on the way or there, or a machine too busy."""
PATIENCE = 90.0
BURST = 200
pytestmark = pytest.mark.timeout(300)


@asynccontextmanager
async def pool_of(url: str, timeout: float = TIMEOUT, connections: int = CONNECTIONS) -> AsyncIterator[RedisPool]:
    """A pool that has answered once."""
    pool = RedisPool(url, timeout, connections)
    await eventually(pool.ping)
    yield pool
    await pool.close()


async def eventually(ask: Callable[[], Awaitable[object]]) -> float:
    """Ask until it is answered; how many seconds that took."""
    start = time.monotonic()
    while True:
        try:
            await ask()
        except StoreError:
            assert time.monotonic() < start + PATIENCE, "no answer in time"
            await asyncio.sleep(0.01)
        else:
            return time.monotonic() - start


async def settled(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    ends = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < ends, "not true in time"
        await asyncio.sleep(0.01)


async def outcomes(pool: RedisPool, count: int = BURST) -> list[bytes | BaseException | None]:
    """What so many reads at the same time come to."""
    return await asyncio.gather(*(pool.get(f"{number}") for number in range(count)), return_exceptions=True)


def descriptors() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(params=["plain", "TLS"])
def server(request: pytest.FixtureRequest) -> Iterator[RedisProcess]:
    """A server of the test's own."""
    with redis_process(tls=request.param == "TLS") as made:
        yield made


# -- one server


async def test_a_server_that_is_away_is_dialled_a_few_times_only() -> None:
    """A thousand commands while it is away are a handful of connections, and none of them waits."""
    with socket.create_server(("127.0.0.1", 0)) as closing:
        dialled = 0

        async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal dialled
            dialled += 1
            writer.close()

        listener = await asyncio.start_server(hang_up, sock=closing)
        pool = RedisPool(f"redis://127.0.0.1:{closing.getsockname()[1]}", TIMEOUT, 8)
        refused = 0
        for _ in range(1000):
            try:
                await pool.get("key")
            except StoreError:
                refused += 1
        assert refused == 1000
        assert dialled <= 20
        await pool.close()
        listener.close()
        await listener.wait_closed()


async def test_a_frozen_server_holds_nobody_up_for_long(server: RedisProcess) -> None:
    """The first commands wait for the timeout; then everybody is told at once, and connections stay bounded."""
    async with pool_of(server.url) as pool:
        await outcomes(pool)
        server.freeze()
        for _ in range(3):
            found = await outcomes(pool)
            assert all(isinstance(each, StoreError) for each in found)
        # What waits for the kernel to take it is dialled by trials only.
        start = time.monotonic()
        found = await outcomes(pool, 1000)
        assert all(isinstance(each, StoreError) for each in found)
        assert time.monotonic() - start < 10 * TIMEOUT
        server.thaw()
        await eventually(pool.ping)
        assert await outcomes(pool) == [None] * BURST
        assert server.connections() <= 8


async def test_a_restarted_server_is_found_and_empty(server: RedisProcess) -> None:
    """Values are gone, scripts work, and there is no error more than while it was away."""
    async with pool_of(server.url) as pool:
        await pool.set("key", b"1", 60)
        await outcomes(pool)
        server.stop()
        assert all(isinstance(each, StoreError) for each in await outcomes(pool))
        server.start()
        await eventually(pool.ping)
        assert await pool.get("key") is None
        assert await pool.add("key", b"1", 60)
        assert await pool.delete_if("key", b"1")
        assert await outcomes(pool) == [None] * BURST


async def test_an_outage_is_logged_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    """One line each, however many commands fail; errors go on saying what was wrong, and no password is told."""
    user = ("ACL", "SETUSER", "ann", "on", ">hunter2", "~*", "+@all")
    with redis_process() as server:
        server.ask(*user)
        pool = RedisPool(f"redis://ann:hunter2@127.0.0.1:{server.port}", TIMEOUT)
        await eventually(pool.ping)
        caplog.clear()
        server.stop()
        found = [*await outcomes(pool), *await outcomes(pool)]
        server.start()
        server.ask(*user)
        await eventually(pool.ping)
        await pool.close()
    assert [record.name for record in caplog.records] == ["rpcgw.redis", "rpcgw.redis"]
    away, back = (record.getMessage() for record in caplog.records)
    assert all(isinstance(each, StoreError) for each in found)
    said = {str(each).removeprefix("Redis: ") for each in found}
    met = {why for why in said if not why.startswith("away")}
    assert all(re.search(CAUSE, why) for why in met), met
    assert said - met <= {f"away, and asked again within 0.5 s ({why})" for why in met}
    assert away in {f"Redis at 127.0.0.1:{server.port} is away: {why}" for why in met}
    assert back == f"Redis at 127.0.0.1:{server.port} is back"
    assert "hunter2" not in caplog.text


async def test_outages_leave_no_descriptor_and_no_task_behind(server: RedisProcess) -> None:
    """With ten of them behind it a pool has its connections and nothing more; once it is closed, nothing at all."""
    before, tasks = descriptors(), asyncio.all_tasks()
    async with pool_of(server.url, 0.2, CONNECTIONS) as pool:
        for _ in range(5):
            server.freeze()
            await outcomes(pool)
            server.thaw()
            await eventually(pool.ping)
            server.stop()
            await outcomes(pool)
            server.start()
            await eventually(pool.ping)
            await outcomes(pool)
        # What is closed is closed by the loop, in its next turns.
        await settled(lambda: descriptors() <= before + CONNECTIONS and asyncio.all_tasks() == tasks)
    await settled(lambda: descriptors() == before and asyncio.all_tasks() == tasks)


async def test_cancelled_commands_leave_their_place(server: RedisProcess) -> None:
    """Callers that leave while it is frozen give their connections back."""
    async with pool_of(server.url, 20.0, 2) as pool:
        server.freeze()
        waiting = [asyncio.ensure_future(pool.get(f"{number}")) for number in range(20)]
        await asyncio.sleep(0)
        for each in waiting:
            each.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*waiting, return_exceptions=True)
        )
        server.thaw()
        assert await outcomes(pool) == [None] * BURST


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    """Without the right authority, or for another name, there is no pool; the check of names can be left out."""
    with redis_process(tls=True) as server:
        assert server.certificate is not None
        refused = [f"rediss://127.0.0.1:{server.port}", f"rediss://127.0.0.1:{server.port}?ssl_ca_certs={SECOND.cert}"]
        for url in refused:
            pool = RedisPool(url, 10.0)
            with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED"):
                await pool.ping()
            await pool.close()
        pool = RedisPool(f"rediss://127.0.0.2:{server.port}?ssl_ca_certs={server.certificate.cert}", 10.0)
        with pytest.raises(StoreError):
            await pool.ping()
        await pool.close()


async def test_a_client_may_have_to_show_a_certificate() -> None:
    """A server that wants one gets it."""
    with redis_process("--tls-auth-clients", "yes", tls=True) as server:
        assert server.certificate is not None
        own = server.certificate
        shown = RedisPool(f"{server.url}&ssl_certfile={own.cert}&ssl_keyfile={own.key}", 10.0)
        await shown.ping()
        await shown.close()
        wrong = RedisPool(f"{server.url}&ssl_certfile={SECOND.cert}&ssl_keyfile={SECOND.key}", 10.0)
        with pytest.raises(StoreError):
            await wrong.ping()
        await wrong.close()


# -- behind Sentinels


@pytest.fixture
def watched() -> Iterator[Watched]:
    """Servers and Sentinels of the test's own."""
    with watched_redis(SOON) as made:
        yield made


@pytest.fixture(scope="module")
def calm() -> Iterator[Watched]:
    """Servers and Sentinels that several tests share, who leave them as they are."""
    with watched_redis() as made:
        yield made


@pytest.mark.parametrize("loss", [RedisProcess.stop, RedisProcess.freeze])
async def test_the_next_master_takes_over(watched: Watched, loss: Callable[[RedisProcess], None]) -> None:
    """A master that ends or freezes is replaced; what had reached the replica is there, and writes go on."""
    async with pool_of(watched.url) as pool:
        await pool.set("key", b"1", 600)
        await eventually(lambda: _replicated(watched, "key"))
        first = watched.master()
        loss(first)
        await eventually(lambda: pool.set("other", b"2", 600))
        assert watched.master() is not first
        assert await pool.get("key") == b"1"
        assert await pool.get("other") == b"2"


async def _replicated(watched: Watched, key: str) -> None:
    if any(one.ask("EXISTS", key) != 1 for one in watched.servers):
        raise StoreError("not yet")


async def test_a_frozen_sentinel_is_passed_over(calm: Watched) -> None:
    """The others are asked within the time of one command."""
    calm.sentinels[0].freeze()
    try:
        pool = RedisPool(calm.url, 4.0)
        await pool.set("key", b"1", 60)
        assert await pool.get("key") == b"1"
        await pool.close()
    finally:
        calm.sentinels[0].thaw()


async def test_sentinels_that_know_no_such_master_are_a_store_error(calm: Watched) -> None:
    """The error says which Sentinel knows nothing."""
    pool = RedisPool(calm.url.replace("/mymaster/", "/other/"), 4.0)
    with pytest.raises(StoreError, match="no Sentinel names the master 'other'"):
        await pool.ping()
    await pool.close()


# -- in a Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Three masters of the test's own, one of them with a replica."""
    with redis_cluster(SOON, replica=True) as made:
        yield made


@pytest.mark.parametrize("loss", [RedisProcess.stop, RedisProcess.freeze])
async def test_a_replica_takes_over(cluster: Cluster, loss: Callable[[RedisProcess], None]) -> None:
    """A node that ends or freezes is replaced by its replica, with what it held; the others' keys stay."""
    keys = [f"key-{number}" for number in range(60)]
    async with pool_of(cluster.url) as pool:
        for key in keys:
            await pool.set(key, key.encode(), 600)
        await eventually(lambda: _caught_up(cluster))
        loss(cluster.nodes[0])
        for key in keys:
            await eventually(lambda key=key: pool.touch(key, 600))  # type: ignore[misc]  # a default binds the loop's value
        assert await pool.get_many(keys) == [key.encode() for key in keys]
        await eventually(pool.ping)
        assert sorted(await pool.keys("key-")) == sorted(keys)


async def _caught_up(cluster: Cluster) -> None:
    if cluster.nodes[3].ask("DBSIZE") != cluster.nodes[0].ask("DBSIZE"):
        raise StoreError("not yet")


async def test_a_cluster_that_is_gone_comes_back(cluster: Cluster) -> None:
    """All nodes frozen is an outage like any other."""
    async with pool_of(cluster.url) as pool:
        await pool.set("key", b"1", 600)
        for node in cluster.nodes:
            node.freeze()
        assert all(isinstance(each, StoreError) for each in await outcomes(pool))
        for node in cluster.nodes:
            node.thaw()
        await eventually(pool.ping)
        await eventually(lambda: pool.get("key"))
        assert await pool.get("key") == b"1"
