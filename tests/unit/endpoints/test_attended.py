"""Work that is interrupted from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.endpoints.attended import Attended, Watch, attended


class Watcher:
    """Notes when work is attended to, and interrupts it once `when` is set."""

    def __init__(self, when: asyncio.Event | None = None) -> None:
        self.when = when
        self.begun = 0
        self.stopped = 0
        self.work: Attended[Any] | None = None

    def attend(self, work: Attended[Any]) -> Watch:
        self.begun += 1
        self.work = work
        if self.when is None:
            return self._stop()
        task = asyncio.get_running_loop().create_task(self._wait(self.when, work))
        return self._stop(task.cancel)

    async def _wait(self, when: asyncio.Event, work: Attended[Any]) -> None:
        await when.wait()
        work.interrupt()

    def _stop(self, also: Callable[[], object] = lambda: None) -> Watch:
        def stop() -> None:
            self.stopped += 1
            also()

        return stop


async def for_ever() -> str:
    await asyncio.Event().wait()
    return "never"


async def test_interrupted_work_ends_there() -> None:
    """It is cancelled, its cleanup runs, and the task goes on after it."""
    now, cleaned = asyncio.Event(), []

    async def work() -> str:
        try:
            return await for_ever()
        finally:
            cleaned.append("yes")

    asyncio.get_running_loop().call_soon(now.set)
    async with asyncio.timeout(5):
        assert await attended(work(), Watcher(now).attend) is None
    assert cleaned == ["yes"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_watching_ends_with_the_work() -> None:
    """The work's own result counts, and nothing goes on watching after it."""
    before, watcher = asyncio.all_tasks(), Watcher(asyncio.Event())

    async def work() -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() > before
        return "done"

    assert await attended(work(), watcher.attend) == "done"
    for _ in range(3):
        await asyncio.sleep(0)
    assert (watcher.begun, watcher.stopped) == (1, 1)
    assert asyncio.all_tasks() == before


async def test_work_that_never_waits_is_not_attended_to() -> None:
    """Nothing is made for it."""
    watcher = Watcher(asyncio.Event())

    async def work() -> str:
        return "done"

    assert await attended(work(), watcher.attend) == "done"
    await asyncio.sleep(0)
    assert watcher.begun == 0
    assert len(asyncio.all_tasks()) == 1


async def test_work_that_is_over_is_left_alone() -> None:
    """Who interrupts it too late cancels nothing else of the task."""
    watcher = Watcher()
    await attended(asyncio.sleep(0), watcher.attend)
    assert watcher.work is not None
    watcher.work.interrupt()
    await asyncio.sleep(0)


async def test_work_that_ends_all_the_same_counts() -> None:
    """Its result is given, and the task is as before."""
    now = asyncio.Event()

    async def work() -> str:
        try:
            return await for_ever()
        except asyncio.CancelledError:
            return "anyway"

    asyncio.get_running_loop().call_soon(now.set)
    async with asyncio.timeout(5):
        assert await attended(work(), Watcher(now).attend) == "anyway"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_the_work_waits_for_reaches_it() -> None:
    """Results and errors of futures, timeouts of its own, all in the one task."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    async def work() -> str:
        first: asyncio.Future[str] = loop.create_future()
        loop.call_soon(first.set_result, "x")
        second: asyncio.Future[str] = loop.create_future()
        loop.call_soon(second.set_exception, KeyError("y"))
        found = await first
        with pytest.raises(KeyError):
            await second
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await for_ever()
        assert asyncio.current_task() is task
        return found

    assert await attended(work(), Watcher().attend) == "x"


@pytest.mark.parametrize("waits", [True, False], ids=["after it waited", "at once"])
async def test_an_error_passes_through(waits: bool) -> None:
    """What the work raises is its own business."""

    async def work() -> None:
        if waits:
            await asyncio.sleep(0)
        raise ValueError("own")

    watcher = Watcher()
    with pytest.raises(ValueError, match="own"):
        await attended(work(), watcher.attend)
    assert watcher.stopped == watcher.begun == int(waits)


async def test_a_cancellation_from_elsewhere_passes_through() -> None:
    """A worker that stops its tasks is not taken for a client that gave up."""

    async def work() -> None:
        await attended(for_ever(), Watcher().attend)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_at_once_is_a_cancellation() -> None:
    """Where the work is interrupted and the task is cancelled too, the task ends."""
    now = asyncio.Event()

    async def work() -> None:
        await attended(for_ever(), Watcher(now).attend)

    task = asyncio.create_task(work())
    for _ in range(3):
        await asyncio.sleep(0)
    now.set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
