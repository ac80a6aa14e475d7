"""Locks of calls over a real pool: one holder at a time, and always let go."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.api.errors import InternalError, LockedError
from rpcgw.api.marks import Lock
from rpcgw.kernel.background import Background
from rpcgw.kernel.call import Call, Outcome
from rpcgw.kernel.lock import CallLocks, Held, PoolLocks
from rpcgw.kernel.ports import StoreError

WAIT = 10.0
NOW = Lock(by=None, ttl=None, wait=None)
PATIENT = Lock(by=None, ttl=None, wait=WAIT)


class Numbers:
    """Tokens that tests can read."""

    def __init__(self) -> None:
        self.last = 0

    def token(self) -> str:
        self.last += 1
        return f"owner-{self.last}"


@dataclass
class Notes:
    """An observer that writes down."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def call_started(self, call: Call) -> None: ...

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]


class AwayPool(MemoryPool):
    """A pool whose store goes away when told."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.touched = asyncio.Event()
        self.adding: asyncio.Event | None = None
        self.added = asyncio.Event()

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        if self.away:
            raise StoreError("away")
        answer = await super().add(key, value, ttl)
        self.added.set()
        if self.adding is not None:
            await self.adding.wait()
        return answer

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        self.touched.set()
        if self.away:
            raise StoreError("away")
        return await super().touch_if(key, value, ttl)

    async def delete_if(self, key: str, value: bytes) -> bool:
        if self.away:
            raise StoreError("away")
        return await super().delete_if(key, value)


@dataclass
class Bench:
    pool: AwayPool = field(default_factory=AwayPool)
    notes: Notes = field(default_factory=Notes)

    def __post_init__(self) -> None:
        self.background = Background()
        self.port = PoolLocks(self.pool, Numbers())
        self.locks = CallLocks(self.port, self.notes, self.background)

    async def held(self) -> list[str]:
        return await self.pool.keys("rpc_lock:")


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_the_port_over_a_pool(bench: Bench) -> None:
    """Any pool is a store of locks: one owner, kept and let go by the owner only."""
    owner = await bench.port.acquire("x", WAIT)
    assert owner is not None
    assert await bench.port.acquire("x", WAIT) is None
    assert await bench.port.acquire("y", WAIT) is not None
    await bench.port.release("x", "another")
    assert not await bench.port.renew("x", "another", WAIT)
    assert await bench.port.renew("x", owner, WAIT)
    await bench.port.release("x", owner)
    assert not await bench.port.renew("x", owner, WAIT)
    assert await bench.port.acquire("x", WAIT) is not None


async def test_a_second_call_is_refused_at_once(bench: Bench) -> None:
    """-32400 while the lock is held; free again when the first has ended and left."""
    held = await bench.locks.take("Catalog.rename:abc", NOW)
    with pytest.raises(LockedError, match=r"^Catalog\.rename is locked by another call$") as caught:
        await bench.locks.take("Catalog.rename:abc", NOW)
    assert caught.value.wire_code == -32400
    held.ended()
    await held.leave()
    await (await bench.locks.take("Catalog.rename:abc", NOW)).leave()


async def test_a_patient_call_waits(bench: Bench) -> None:
    """With `wait` a call gets the lock when it is let go."""
    held = await bench.locks.take("x", NOW)
    waiting = asyncio.create_task(bench.locks.take("x", PATIENT))
    await asyncio.sleep(0)
    assert not waiting.done()
    held.ended()
    await held.leave()
    assert isinstance(await asyncio.wait_for(waiting, WAIT), Held)


async def test_patience_ends(bench: Bench) -> None:
    """After `wait` seconds the call is refused."""
    await bench.locks.take("x", NOW)
    with pytest.raises(LockedError):
        await bench.locks.take("x", Lock(by=None, ttl=None, wait=0.02))


async def test_a_caller_that_leaves_first_keeps_the_lock_until_the_end(bench: Bench) -> None:
    """The lock of a thread that still runs stays; it goes when the thread ends."""
    held = await bench.locks.take("x", NOW)
    await held.leave()
    assert await bench.held() == ["rpc_lock:x"]
    held.ended()
    await bench.background.settle()
    assert await bench.held() == []


async def test_a_running_call_holds_on(bench: Bench) -> None:
    """A lock is renewed while its call runs, again and again."""
    held = await bench.locks.take("x", Lock(by=None, ttl=1.5, wait=None))
    for _ in range(3):
        bench.pool.touched.clear()
        await asyncio.wait_for(bench.pool.touched.wait(), WAIT)
    assert await bench.held() == ["rpc_lock:x"]
    held.ended()
    await held.leave()
    assert bench.notes.events == []


async def test_nobody_holds_on_for_a_caller_that_left(bench: Bench) -> None:
    """Once its caller has left, a lock lapses by its ttl even if the thread never ends."""
    held = await bench.locks.take("x", Lock(by=None, ttl=0.05, wait=None))
    await held.leave()
    assert isinstance(await bench.locks.take("x", PATIENT), Held)
    assert not bench.pool.touched.is_set()


async def test_a_lost_lock_is_told(bench: Bench) -> None:
    """A lock that another has by now is noted, and not renewed again."""
    held = await bench.locks.take("x", Lock(by=None, ttl=0.03, wait=None))
    await bench.pool.set("rpc_lock:x", b"another", WAIT)
    await asyncio.wait_for(bench.pool.touched.wait(), WAIT)
    await bench.background.settle()
    assert bench.notes.events == [("lock.lost", {"lock": "x"})]
    held.ended()
    await held.leave()
    assert await bench.pool.get("rpc_lock:x") == b"another"


async def test_a_store_that_is_away_refuses(bench: Bench) -> None:
    """No lock can be had, so the call is an error: it never runs without."""
    bench.pool.away = True
    with pytest.raises(InternalError, match="store of locks"):
        await bench.locks.take("x", NOW)
    assert bench.notes.names == ["lock.error"]


async def test_a_store_that_goes_away_meanwhile(bench: Bench) -> None:
    """A lock that cannot be let go does not spoil the call; it is noted and lapses."""
    held = await bench.locks.take("x", NOW)
    bench.pool.away = True
    held.ended()
    await held.leave()
    assert bench.notes.events == [("lock.error", {"action": "release", "lock": "x", "error": "away"})]


async def test_a_caller_that_leaves_while_the_store_answers_leaves_no_lock(bench: Bench) -> None:
    """The store said yes to somebody who has gone: the lock is given back."""
    bench.pool.adding = asyncio.Event()
    task = asyncio.create_task(bench.locks.take("x", NOW))
    await bench.pool.added.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    bench.pool.adding.set()
    await bench.background.settle()
    assert await bench.held() == []


async def test_of_many_calls_one_has_the_lock(bench: Bench) -> None:
    """Patient calls of one name run one after the other."""
    inside = 0
    most = 0

    async def call() -> None:
        nonlocal inside, most
        held = await bench.locks.take("x", PATIENT)
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        held.ended()
        await held.leave()

    await asyncio.gather(*(call() for _ in range(8)))
    assert most == 1
