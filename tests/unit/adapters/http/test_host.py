"""The task of a connection: what is over at once, what goes on, and what one request leaves to the next."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest

from rpcgw.adapters.http.host import Host

WAIT = 10.0
MINE: ContextVar[object] = ContextVar("MINE")
KEPT: ContextVar[str] = ContextVar("KEPT", default="nothing")


class Connection:
    """A host, and what it says."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.host = Host(asyncio.get_running_loop(), self.ended.set)

    async def run(self, begin: Callable[..., Coroutine[Any, Any, Any] | None], *given: Any) -> bool:
        """Run work as a transport does, outside of any task; whether it was over at once."""
        over = asyncio.get_running_loop().create_future()
        self.ended.clear()
        asyncio.get_running_loop().call_soon(lambda: over.set_result(self.host.run(lambda _: begin(*given), None)))
        return bool(await over)

    async def finish(self, begin: Callable[..., Coroutine[Any, Any, Any] | None], *given: Any) -> bool:
        """Run work to its end; whether it was over at once."""
        if await self.run(begin, *given):
            return True
        await asyncio.wait_for(self.ended.wait(), WAIT)
        return False


@pytest.fixture
async def connection() -> AsyncIterator[Connection]:
    """One that has served a request already, so that its task waits for the next."""
    made = Connection()
    await made.finish(lambda: None)
    await asyncio.sleep(0)
    yield made
    made.host.close()
    if made.host.task is not None:
        await asyncio.wait([made.host.task], timeout=WAIT)
        assert made.host.task.done()


async def test_work_that_waits_for_nothing_is_over_at_once(connection: Connection) -> None:
    """It runs before `run` returns, in the connection's task, whether it is a coroutine or no more than a function."""
    seen: list[object] = []

    async def work() -> None:
        seen.append(asyncio.current_task())

    assert await connection.run(work)
    assert await connection.run(lambda: seen.append(asyncio.current_task()))
    assert seen == [connection.host.task, connection.host.task]
    assert not connection.ended.is_set()


async def test_work_that_waits_goes_on_in_the_same_task(connection: Connection) -> None:
    """Its later steps are the task's own, and its end is told."""
    seen: list[object] = []

    async def work(given: str) -> None:
        seen.append((asyncio.current_task(), given))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        seen.append((asyncio.current_task(), given))

    assert not await connection.finish(work, "this")
    assert seen == [(connection.host.task, "this")] * 2


async def test_the_first_request_makes_the_task() -> None:
    """A connection that never asks anything has none."""
    connection = Connection()
    tasks = [connection.host.task]
    assert not await connection.finish(lambda: None)
    tasks.append(connection.host.task)
    assert [task is None for task in tasks] == [True, False]
    connection.host.close()
    await asyncio.wait(filter(None, tasks), timeout=WAIT)


async def test_work_comes_to_its_end_after_the_idle_task_was_cancelled(connection: Connection) -> None:
    """Whoever was asked before may have kept the task, and cancel it when its own work is long over."""
    seen: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        seen.append("over")

    task = connection.host.task
    assert task is not None
    task.cancel()
    await asyncio.wait([task], timeout=WAIT)
    assert task.cancelled()
    await connection.finish(work)
    assert await connection.run(lambda: seen.append("at once"))
    assert seen == ["over", "at once"]


@pytest.mark.parametrize("steps", [0, 1, 3])
async def test_each_request_has_a_context_of_its_own(connection: Connection, steps: int) -> None:
    """What one sets is seen in its own later steps, and by no other request."""
    seen: list[str] = []

    async def work(name: str) -> None:
        seen.append(KEPT.get())
        KEPT.set(name)
        for _ in range(steps):
            await asyncio.sleep(0)
        seen.append(KEPT.get())

    await connection.finish(work, "first")
    await connection.finish(work, "second")
    assert seen == ["nothing", "first", "nothing", "second"]


async def test_a_time_limit_that_began_in_the_first_step_holds(connection: Connection) -> None:
    """`asyncio.timeout` knows the task that it was entered in."""
    caught: list[str] = []

    async def work() -> None:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            caught.append("late")

    await connection.finish(work)
    assert caught == ["late"]


@pytest.mark.parametrize("turns", [0, 1, 2])
async def test_a_cancellation_reaches_the_task_that_the_work_waits_for(connection: Connection, turns: int) -> None:
    """Whether the connection's task has taken up the work or not yet: nothing that it began runs on without it."""
    begun: list[asyncio.Task[Any]] = []

    async def cancel(task: asyncio.Task[Any]) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()

    async def work() -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        begun.extend([loop.create_task(cancel(task)), loop.create_task(asyncio.Event().wait())])
        with suppress(asyncio.CancelledError):
            await begun[1]

    await connection.finish(work)
    assert begun[1].cancelled()


@pytest.mark.parametrize("turns", [0, 1, 2])
async def test_a_cancellation_from_outside_is_for_the_work_under_way(connection: Connection, turns: int) -> None:
    """Whether the task has taken up the work or not yet; and the next request has nothing to do with it."""
    caught: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            caught.append("cancelled")

    assert not await connection.run(work)
    assert connection.host.task is not None
    for _ in range(turns):
        await asyncio.sleep(0)
    connection.host.task.cancel()
    await asyncio.wait_for(connection.ended.wait(), WAIT)
    assert caught == ["cancelled"]
    assert connection.host.task.cancelling() == 0
    await connection.finish(lambda: caught.append("next"))
    assert caught == ["cancelled", "next"]


@pytest.mark.parametrize("steps", [0, 1])
async def test_who_cancels_the_task_harms_no_later_request(connection: Connection, steps: int) -> None:
    """Work that is over, or that swallows its own cancellation, leaves nothing of it behind."""
    done: list[str] = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        done.append("cancelled itself")

    async def wait() -> None:
        await asyncio.sleep(0)
        done.append("waited")

    await connection.finish(work)
    await connection.finish(wait)
    await connection.finish(wait)
    assert done == ["cancelled itself", "waited", "waited"]


@pytest.mark.parametrize("taken_back", [False, True])
async def test_who_cancels_the_task_at_once_harms_no_request_that_comes_right_after(
    connection: Connection, taken_back: bool
) -> None:
    """Not even where it took that back, so that nothing of it is to be seen."""
    done: list[str] = []

    def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if taken_back:
            task.uncancel()

    async def wait() -> None:
        await asyncio.sleep(0)
        done.append("waited")

    def both() -> None:
        connection.host.run(lambda _: work(), None)
        connection.host.run(lambda _: wait(), None)

    connection.ended.clear()
    asyncio.get_running_loop().call_soon(both)
    await asyncio.wait_for(connection.ended.wait(), WAIT)
    assert done == ["waited"]


async def test_a_task_that_hands_in_work_has_it_done_later(connection: Connection) -> None:
    """Two tasks cannot take a step at once."""
    done: list[object] = []
    connection.ended.clear()
    assert not connection.host.run(lambda _: done.append(asyncio.current_task()), None)
    assert done == []
    await asyncio.wait_for(connection.ended.wait(), WAIT)
    assert done == [connection.host.task]


async def test_a_task_that_somebody_keeps_is_known(connection: Connection) -> None:
    """Who only looked at it while the work ran, set a time limit or had tasks of its own does not keep it."""
    seen: list[bool] = []
    mine: list[object] = []

    async def waits() -> None:
        async with asyncio.timeout(WAIT), asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        assert asyncio.current_task() is not None

    async def keeps() -> None:
        mine.append(asyncio.current_task())

    async def keeps_later() -> None:
        await asyncio.sleep(0)
        mine.append(asyncio.current_task())

    for work in (waits, keeps, keeps_later):
        await connection.finish(work)
        await asyncio.sleep(0)
        seen.append(connection.host.kept)
        mine.clear()
        seen.append(connection.host.kept)
    assert seen == [False, False, True, False, True, False]


@pytest.mark.parametrize("steps", [0, 1])
async def test_nothing_is_kept_of_work_that_is_over(steps: int) -> None:
    """Neither what it was given, such as a body, nor its context, however long the connection stays idle."""
    connection = Connection()
    left: list[weakref.ref[Any]] = []

    class Thing:
        """What can be watched."""

    async def work(given: Thing) -> None:
        mine = Thing()
        MINE.set(mine)
        left.extend([weakref.ref(given), weakref.ref(mine)])
        for _ in range(steps):
            await asyncio.sleep(0)

    for _ in range(3):
        await connection.finish(work, Thing())
        await asyncio.sleep(0)
        gc.collect()
        assert [each() for each in left] == [None] * len(left)
    connection.host.close()
    assert connection.host.task is not None
    await asyncio.wait([connection.host.task], timeout=WAIT)


async def test_closing_lets_work_end(connection: Connection) -> None:
    """What is under way is finished, and then the task ends."""
    go_on = asyncio.Event()
    assert not await connection.run(go_on.wait)
    connection.host.close()
    assert connection.host.task is not None
    await asyncio.sleep(0)
    assert not connection.host.task.done()
    go_on.set()
    await asyncio.wait([connection.host.task], timeout=WAIT)
    assert connection.ended.is_set()
    assert connection.host.task.done()
    assert not connection.host.task.cancelled()


async def test_an_idle_task_can_be_cancelled(connection: Connection) -> None:
    """As every task is when its loop is closed."""
    assert connection.host.task is not None
    connection.host.task.cancel()
    await asyncio.wait([connection.host.task], timeout=WAIT)
    assert connection.host.task.cancelled()
