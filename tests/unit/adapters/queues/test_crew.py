"""A bounded number of tasks, none left behind."""

from __future__ import annotations

import asyncio

import pytest

from rpcgw.adapters.queues.crew import Crew, first


async def test_bounded() -> None:
    """One more begins when one has ended."""
    gates = [asyncio.Event() for _ in range(2)]
    stopping = asyncio.Event()

    async def work(at: int) -> None:
        await gates[at].wait()

    async with Crew(1) as crew:
        crew.begin(work(0))
        waiting = asyncio.create_task(crew.until_free(stopping))
        await asyncio.sleep(0)
        assert not waiting.done()
        gates[0].set()
        assert await waiting
        assert crew.free == 1


async def test_stopped() -> None:
    """Nothing more is begun once the end is told."""
    stopping, gate = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    async with Crew(1) as crew:
        crew.begin(work())
        waiting = asyncio.create_task(crew.until_free(stopping))
        stopping.set()
        assert not await waiting
        gate.set()


async def test_waits_for_all() -> None:
    """The block ends when all have."""
    ended: list[int] = []

    async def work(at: int) -> None:
        await asyncio.sleep(0)
        ended.append(at)

    async with Crew(3) as crew:
        for at in range(3):
            crew.begin(work(at))
    assert ended == [0, 1, 2]


async def test_cancelled() -> None:
    """A block that is cancelled cancels them, and they have ended when it has."""
    story: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            story.append("ended")

    async def block() -> None:
        async with Crew(1) as crew:
            crew.begin(work())

    task = asyncio.create_task(block())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert story == ["ended"]


async def test_first() -> None:
    """Whichever event comes first, or time."""
    one, other = asyncio.Event(), asyncio.Event()
    other.set()
    await first(one, other)
    await first(one, within=0.001)
