"""A block that ends when its peer leaves."""

from __future__ import annotations

import asyncio

import pytest

from rpcgw.endpoints.presence import Presence


async def test_a_block_ends_when_its_peer_leaves() -> None:
    """The work is cancelled, its cleanup runs, and the task goes on after the block."""
    left, cleaned = asyncio.Event(), []

    async def gone() -> None:
        await left.wait()

    asyncio.get_running_loop().call_soon(left.set)
    async with asyncio.timeout(5):
        with Presence(gone) as peer:
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append("yes")
    assert peer.left
    assert cleaned == ["yes"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_a_peer_that_stays_changes_nothing() -> None:
    """The block's own end counts, and nothing goes on watching after it."""
    before = asyncio.all_tasks()
    with Presence(asyncio.Event().wait) as peer:  # type: ignore[arg-type]  # it never ends
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() > before
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not peer.left
    assert asyncio.all_tasks() == before


async def test_a_block_that_never_waits_makes_no_task() -> None:
    """Watching begins only where the work waits for something."""
    with Presence(asyncio.Event().wait):  # type: ignore[arg-type]  # it never ends
        pass
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


async def test_an_error_passes_through() -> None:
    """What the block raises is its own business."""
    with pytest.raises(ValueError, match="own"), Presence(asyncio.Event().wait):  # type: ignore[arg-type]  # it never ends
        raise ValueError("own")


async def test_a_cancellation_from_elsewhere_passes_through() -> None:
    """A worker that stops its tasks is not taken for a peer that left."""

    async def work() -> None:
        with Presence(asyncio.Event().wait):  # type: ignore[arg-type]  # it never ends
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_at_once_is_a_cancellation() -> None:
    """Where the peer leaves and the task is cancelled too, the task ends."""
    left = asyncio.Event()

    async def gone() -> None:
        await left.wait()

    async def work() -> None:
        with Presence(gone):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    for _ in range(3):
        await asyncio.sleep(0)
    left.set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
