"""The order in which the items of a batch run."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import pytest

from rpcgw.endpoints.batches import run


class Yard:
    """Items that end when they are told to, or at once."""

    def __init__(self, *held: int) -> None:
        self.story: list[str] = []
        self.running: set[int] = set()
        self.most = 0
        self.gates = {place: asyncio.Event() for place in held}

    async def execute(self, place: int) -> str:
        self.running.add(place)
        self.most = max(self.most, len(self.running))
        self.story.append(f"+{place}")
        await (self.gates[place].wait() if place in self.gates else asyncio.sleep(0))
        self.running.remove(place)
        self.story.append(f"-{place}")
        return f"outcome {place}"


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize(
    "waits",
    [
        pytest.param({}, id="nothing"),
        pytest.param({0: [], 1: [], 2: [], 3: []}, id="items on their own"),
        pytest.param({0: [1], 1: [2], 2: [3], 3: []}, id="a chain, its end first"),
        pytest.param({0: [], 1: [0], 2: [0], 3: [1, 2]}, id="a diamond"),
        pytest.param({0: [], 1: [0], 2: [0], 3: [0], 4: [0], 5: [1, 4]}, id="many children"),
        pytest.param({5: [2], 7: [5, 3]}, id="parents that ran before"),
    ],
)
async def test_parents_first(waits: Mapping[int, Collection[int]], limit: int) -> None:
    """Every item runs once, after all that it waits for, and never more than the limit at a time."""
    yard = Yard()
    assert await run(waits, limit, yard.execute) == {place: f"outcome {place}" for place in waits}
    for place, parents in waits.items():
        for parent in set(parents) & set(waits):
            assert yard.story.index(f"-{parent}") < yard.story.index(f"+{place}")
    assert len(yard.story) == 2 * len(waits)
    assert yard.most <= limit


async def test_a_slow_item_holds_up_its_children_alone() -> None:
    """What does not wait for it goes on, as far as the limit allows."""
    yard = Yard(0)
    task = asyncio.create_task(run({0: [], 1: [0], 2: [], 3: [2], 4: [3]}, 2, yard.execute))
    async with asyncio.timeout(5):
        while "-4" not in yard.story:
            await asyncio.sleep(0)
    assert "+1" not in yard.story
    yard.gates[0].set()
    assert sorted(await task) == [0, 1, 2, 3, 4]


async def test_children_start_together() -> None:
    """All that one result frees runs at once."""
    yard = Yard(1, 2, 3)
    task = asyncio.create_task(run({0: [], 1: [0], 2: [0], 3: [0]}, 10, yard.execute))
    async with asyncio.timeout(5):
        while len(yard.running) < 3:
            await asyncio.sleep(0)
    for gate in yard.gates.values():
        gate.set()
    await task
    assert yard.most == 3


async def test_cancelled() -> None:
    """A batch whose request is cancelled leaves nothing running."""
    yard = Yard(0, 1)
    task = asyncio.create_task(run({0: [], 1: [], 2: [0]}, 5, yard.execute))
    async with asyncio.timeout(5):
        while len(yard.running) < 2:
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "+2" not in yard.story
