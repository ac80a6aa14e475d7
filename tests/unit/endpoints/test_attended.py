"""A block that is interrupted from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from rpcgw.endpoints.attended import Attended, Watch


class Watcher:
    """Notes when a block is attended to, and interrupts it once `when` is set."""

    def __init__(self, when: asyncio.Event | None = None) -> None:
        self.when = when
        self.begun = 0
        self.stopped = 0
        self.block: Attended | None = None

    def attend(self, block: Attended) -> Watch:
        self.begun += 1
        self.block = block
        if self.when is None:
            return self._stop()
        task = asyncio.get_running_loop().create_task(self._wait(self.when, block))
        return self._stop(task.cancel)

    async def _wait(self, when: asyncio.Event, block: Attended) -> None:
        await when.wait()
        block.interrupt()

    def _stop(self, also: Callable[[], object] = lambda: None) -> Watch:
        def stop() -> None:
            self.stopped += 1
            also()

        return stop


async def test_an_interrupted_block_ends_there() -> None:
    """The work is cancelled, its cleanup runs, and the task goes on after the block."""
    now, cleaned = asyncio.Event(), []
    asyncio.get_running_loop().call_soon(now.set)
    async with asyncio.timeout(5):
        with Attended(Watcher(now).attend) as block:
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append("yes")
    assert block.interrupted
    assert cleaned == ["yes"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_watching_ends_with_the_block() -> None:
    """The block's own end counts, and nothing goes on watching after it."""
    before, watcher = asyncio.all_tasks(), Watcher(asyncio.Event())
    with Attended(watcher.attend) as block:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() > before
    for _ in range(3):
        await asyncio.sleep(0)
    assert not block.interrupted
    assert (watcher.begun, watcher.stopped) == (1, 1)
    assert asyncio.all_tasks() == before


async def test_a_block_that_never_waits_is_not_attended_to() -> None:
    """Nothing is made for it."""
    watcher = Watcher(asyncio.Event())
    with Attended(watcher.attend):
        pass
    await asyncio.sleep(0)
    assert watcher.begun == 0
    assert len(asyncio.all_tasks()) == 1


async def test_a_block_that_is_over_is_left_alone() -> None:
    """Who interrupts it too late cancels nothing else of the task."""
    watcher = Watcher()
    with Attended(watcher.attend):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert watcher.block is not None
    watcher.block.interrupt()
    await asyncio.sleep(0)
    assert not watcher.block.interrupted


async def test_an_error_passes_through() -> None:
    """What the block raises is its own business."""
    with pytest.raises(ValueError, match="own"), Attended(Watcher().attend):
        raise ValueError("own")


async def test_a_cancellation_from_elsewhere_passes_through() -> None:
    """A worker that stops its tasks is not taken for a client that gave up."""

    async def work() -> None:
        with Attended(Watcher().attend):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_at_once_is_a_cancellation() -> None:
    """Where the block is interrupted and the task is cancelled too, the task ends."""
    now = asyncio.Event()

    async def work() -> None:
        with Attended(Watcher(now).attend):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    for _ in range(3):
        await asyncio.sleep(0)
    now.set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
