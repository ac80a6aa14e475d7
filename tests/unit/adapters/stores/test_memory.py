"""What the pool in memory promises beyond the others."""

from __future__ import annotations

import pytest

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.kernel.ports import StoreError


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pool(time: Time) -> MemoryPool:
    """Room for three small values, not for four."""
    return MemoryPool(max_bytes=1000, now=time)


async def fill(pool: MemoryPool, ttl: float) -> None:
    for number in range(3):
        await pool.set(f"{number}", b"1", ttl)


async def test_a_full_pool_refuses(pool: MemoryPool) -> None:
    """No live value is dropped to make room: it may be a lock."""
    await fill(pool, 10)
    with pytest.raises(StoreError, match="full"):
        await pool.set("3", b"1", 10)
    with pytest.raises(StoreError, match="full"):
        await pool.add("3", b"1", 10)
    assert [await pool.get(f"{number}") for number in range(4)] == [b"1", b"1", b"1", None]


async def test_a_full_pool_still_replaces(pool: MemoryPool) -> None:
    """A value may take the place of one of its size; one that is refused leaves the old one."""
    await fill(pool, 10)
    await pool.set("0", b"2", 10)
    with pytest.raises(StoreError):
        await pool.set("0", b"x" * 500, 10)
    assert await pool.get("0") == b"2"


async def test_the_expired_make_room(pool: MemoryPool, time: Time) -> None:
    """What has expired is dropped by the next write, though nobody asked for it."""
    await fill(pool, 10)
    time.now = 10
    await fill(pool, 10)
    assert len(await pool.keys("")) == 3


async def test_the_touched_stay(pool: MemoryPool, time: Time) -> None:
    """A value that was touched is not dropped at its old time, and is at its new one."""
    await fill(pool, 10)
    await pool.touch("1", 20)
    time.now = 10
    await pool.set("new", b"1", 100)
    assert sorted(await pool.keys("")) == ["1", "new"]
    time.now = 20
    await fill(pool, 10) if await pool.get("1") else await pool.set("2", b"1", 1)
    assert sorted(await pool.keys("")) == ["2", "new"]


async def test_the_deleted_make_room(pool: MemoryPool) -> None:
    """Room is counted back to the byte."""
    for _ in range(100):
        await fill(pool, 10)
        for number in range(3):
            await pool.delete(f"{number}")
    await fill(pool, 10)


async def test_replacing_for_ever_needs_no_more_memory(time: Time) -> None:
    """The record of expiries does not grow with writes of the same key."""
    pool = MemoryPool(now=time)
    for _ in range(1000):
        await pool.set("key", b"1", 10)
    assert len(pool._expiries) < 200
