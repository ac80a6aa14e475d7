"""Single flight: of many calls for one cold result one runs, whoever waits, leaves, fails or dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.adapters.stores.files import FilePool
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.adapters.stores.redis import RedisPool
from rpcgw.kernel.call import Done, Failed
from rpcgw.kernel.ports import Pool
from tests.unit.kernel.cached_world import CachedWorld

WAIT = 20.0
BURST = 200


@rpc.procedure("Mill")
class Mill:
    """A slow computation; `runs` counts it."""

    def __init__(self) -> None:
        self.runs = 0
        self.running = asyncio.Event()
        self.go = asyncio.Event()
        self.faults: list[BaseException] = []

    @rpc.cache()
    async def grind(self, grain: str) -> int:
        """Take as long as it takes."""
        self.runs += 1
        number = self.runs
        self.running.set()
        await self.go.wait()
        if self.faults:
            raise self.faults.pop()
        return number

    @rpc.invalidates("Mill.grind", by="grain")
    async def sow(self, grain: str) -> None:
        """Make it stale."""


GRIND = ("Mill.grind", {"grain": "rye"})


async def until(done: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT):
        while not done():
            await asyncio.sleep(0.002)


@pytest.fixture(params=["memory", "files", "redis"])
async def pool(request: pytest.FixtureRequest, tmp_path: Any) -> AsyncIterator[Pool]:
    """Each kind of pool that workers share."""
    if request.param == "redis":
        made: Pool = RedisPool(request.getfixturevalue("redis_url"), timeout=WAIT)
    else:
        made = FilePool(str(tmp_path)) if request.param == "files" else MemoryPool()
    yield made
    await made.close()


async def test_a_burst_runs_once(pool: Pool) -> None:
    """200 calls on a cold key over two workers run the method once, and all have its result."""
    mill = Mill()
    workers = [CachedWorld(mill, pool), CachedWorld(mill, pool)]
    calls = [asyncio.create_task(workers[n % 2].done(*GRIND)) for n in range(BURST)]
    await asyncio.wait_for(mill.running.wait(), WAIT)
    mill.go.set()
    answers = await asyncio.wait_for(asyncio.gather(*calls), WAIT)
    assert mill.runs == 1
    assert {answer.encoded for answer in answers} == {b"1"}
    assert sum(not answer.cached for answer in answers) == 1
    told = [name for worker in workers for name in worker.notes.names]
    assert (told.count("cache.miss"), told.count("cache.write"), told.count("cache.error")) == (1, 1, 0)


async def test_a_burst_shares_a_run_while_the_pool_is_away() -> None:
    """Nothing is kept, but the calls of one process wait for each other; one that comes after a drop runs anew."""
    pool = RedisPool("redis://127.0.0.1:1/0")
    mill = Mill()
    world = CachedWorld(mill, pool)
    calls = [asyncio.create_task(world.done(*GRIND)) for _ in range(20)]
    await until(lambda: world.notes.names.count("cache.error") == len(calls))
    await world.done("Mill.sow", {"grain": "rye"})
    late = asyncio.create_task(world.done(*GRIND))
    await until(lambda: mill.runs == 2)
    mill.go.set()
    answers = await asyncio.wait_for(asyncio.gather(*calls), WAIT)
    assert {answer.encoded for answer in answers} == {b"1"}
    assert (await late).encoded == b"2"
    await pool.close()


async def test_a_late_worker_finds_the_result(pool: Pool) -> None:
    """Who missed before another worker had finished, and asks for the right to compute after it, does not compute."""
    mill = Mill()
    mill.go.set()
    first, second = CachedWorld(mill, pool), CachedWorld(mill, pool)
    for _ in range(20):
        mill.runs = 0
        await first.done("Mill.sow", {"grain": "rye"})
        await asyncio.gather(first.done(*GRIND), second.done(*GRIND))
        assert mill.runs == 1


async def test_other_parameters_are_other_results() -> None:
    """Calls with different parameters do not wait for each other."""
    mill = Mill()
    world = CachedWorld(mill)
    calls = [asyncio.create_task(world.done("Mill.grind", {"grain": grain})) for grain in ("rye", "oats")]
    await until(lambda: mill.runs == 2)
    mill.go.set()
    await asyncio.gather(*calls)


async def test_after_a_failure_each_runs_for_itself() -> None:
    """An error is nobody else's: those who waited run on their own, all at once, and none is answered with it."""
    mill = Mill()
    world = CachedWorld(mill)
    mill.faults = [rpc.LogicError("mill stone")]
    calls = [asyncio.create_task(world.call(*GRIND)) for _ in range(10)]
    await mill.running.wait()
    await asyncio.sleep(0)
    mill.go.set()
    outcomes = await asyncio.wait_for(asyncio.gather(*calls), WAIT)
    assert [isinstance(outcome, Failed) for outcome in outcomes].count(True) == 1
    assert mill.runs == 10


@pytest.mark.parametrize("how", ["left", "late"])
async def test_a_computation_that_is_given_up_is_taken_over(how: str) -> None:
    """Where the computing caller leaves, or its deadline comes, one of those who wait begins anew."""
    mill = Mill()
    world = CachedWorld(mill)
    computing = asyncio.create_task(world.call(*GRIND, timeout=None if how == "left" else 0.2))
    await mill.running.wait()
    waiting = [asyncio.create_task(world.done(*GRIND)) for _ in range(5)]
    await asyncio.sleep(0.01)
    if how == "left":
        computing.cancel()
    await asyncio.wait([computing])
    await until(lambda: mill.runs == 2)
    mill.go.set()
    answers = await asyncio.wait_for(asyncio.gather(*waiting), WAIT)
    assert {answer.encoded for answer in answers} == {b"2"}
    assert mill.runs == 2


async def test_nobody_waits_longer_than_its_deadline() -> None:
    """A call that waits for another's computation ends at its own deadline; the computation goes on."""
    mill = Mill()
    world = CachedWorld(mill)
    computing = asyncio.create_task(world.done(*GRIND))
    await mill.running.wait()
    outcome = await world.call(*GRIND, timeout=0.05)
    assert isinstance(outcome, Failed)
    assert outcome.code == -32300
    mill.go.set()
    assert (await computing).encoded == b"1"
    assert mill.runs == 1


async def test_nobody_is_answered_from_before_a_write() -> None:
    """A call that comes after a write does not wait for a computation that was begun before it."""
    mill = Mill()
    world = CachedWorld(mill)
    old = asyncio.create_task(world.done(*GRIND))
    await mill.running.wait()
    await world.done("Mill.sow", {"grain": "rye"})
    new = asyncio.create_task(world.done(*GRIND))
    await until(lambda: mill.runs == 2)
    mill.go.set()
    assert [(await old).encoded, (await new).encoded] == [b"1", b"2"]
    again = await world.done(*GRIND)
    assert (again.encoded, again.cached) == (b"2", True)


async def test_who_wants_a_new_result_waits_for_nobody() -> None:
    """`ignoreCache` runs the method, whoever is computing."""
    mill = Mill()
    world = CachedWorld(mill)
    calls = [asyncio.create_task(world.done(*GRIND, ignore_cache=fresh)) for fresh in (False, True)]
    await until(lambda: mill.runs == 2)
    mill.go.set()
    await asyncio.gather(*calls)


async def test_others_wait_for_a_new_result() -> None:
    """Who asks while a result is made anew (`ignoreCache`, a warm-up) waits for it, here and in another process."""
    mill = Mill()
    first = CachedWorld(mill)
    second = CachedWorld(mill, first.pool)
    making = asyncio.create_task(first.done(*GRIND, ignore_cache=True))
    await mill.running.wait()
    waiting = [asyncio.create_task(world.done(*GRIND)) for world in (first, second)]
    await asyncio.sleep(0.05)
    mill.go.set()
    assert [(await each).cached for each in (making, *waiting)] == [False, True, True]
    assert mill.runs == 1


async def test_a_worker_that_died_is_waited_for_no_longer_than_its_lease() -> None:
    """The lease of a dead worker lapses, and another computes."""
    mill = Mill()
    dead = CachedWorld(mill, lease_ttl=0.3)
    computing = asyncio.create_task(dead.done(*GRIND))
    await mill.running.wait()
    [lease] = await dead.pool.leases()
    alive = CachedWorld(mill, dead.pool)
    # Nobody renews or ends what the dead one held: it is another's by now.
    computing.cancel()
    await asyncio.wait([computing])
    await until(lambda: not dead.executor._background._tasks)
    await dead.pool.set(lease, b"the dead", 0.3)
    mill.go.set()
    answer = await asyncio.wait_for(alive.done(*GRIND), WAIT)
    assert (answer.encoded, mill.runs) == (b"2", 2)


async def test_a_lease_is_held_while_the_computation_runs() -> None:
    """A computation longer than the lease stays alone: it is renewed."""
    mill = Mill()
    first = CachedWorld(mill, lease_ttl=0.15)
    second = CachedWorld(mill, first.pool, lease_ttl=0.15)
    computing = asyncio.create_task(first.done(*GRIND))
    await mill.running.wait()
    waiting = asyncio.create_task(second.done(*GRIND))
    await asyncio.sleep(0.5)
    assert mill.runs == 1
    mill.go.set()
    assert [(await computing).cached, (await waiting).cached] == [False, True]


async def test_nothing_is_left_behind() -> None:
    """When all is answered nobody holds the right to compute, after a success or a failure."""
    mill = Mill()
    mill.go.set()
    world = CachedWorld(mill)
    await world.done(*GRIND)
    mill.faults = [rpc.LogicError()]
    await world.call("Mill.grind", {"grain": "oats"})
    await world.executor.close()
    assert await world.pool.leases() == []
    assert world.executor._flights._running == {}


async def test_a_store_without_leases_does_not_stop_anybody() -> None:
    """Where the right to compute cannot be had the method runs all the same."""
    mill = Mill()
    mill.go.set()
    world = CachedWorld(mill)
    world.pool.lending = False
    assert isinstance(await world.call(*GRIND), Done)
    assert (await world.done(*GRIND)).cached


async def test_refused_calls_compute_nothing() -> None:
    """A call whose parameters are refused takes no right to compute."""
    world = CachedWorld(Mill())
    assert isinstance(await world.call("Mill.grind", {"grain": 1}), Failed)
    assert "cache.miss" not in world.notes.names
    assert await world.pool.leases() == []
