"""How many calls run at a time."""

from __future__ import annotations

import asyncio

import pytest

from rpcgw.api.errors import Overloaded
from rpcgw.kernel.turns import Turns


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_as_many_as_may_and_the_next_in_order() -> None:
    """Two run, two wait; whoever ends lets the one in who came first."""
    turns = Turns("Slow.work", 2, 2)
    began: list[int] = []

    async def work(number: int) -> None:
        await turns.take()
        began.append(number)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    await settle()
    assert began == [0, 1]
    turns.give_back()
    await settle()
    assert began == [0, 1, 2]
    turns.give_back()
    await asyncio.gather(*tasks)
    assert began == [0, 1, 2, 3]


async def test_the_queue_is_bounded() -> None:
    """One too many is refused at once, and told when to try again."""
    turns = Turns("Slow.work", 1, 0)
    await turns.take()
    with pytest.raises(Overloaded, match=r"Slow\.work has 1 calls running and 0 waiting") as refused:
        await turns.take()
    assert refused.value.retry_after == 1.0
    turns.give_back()
    await turns.take()


@pytest.mark.parametrize(
    "given", [pytest.param(False, id="while it waits"), pytest.param(True, id="as it is its turn")]
)
async def test_who_leaves_the_queue_keeps_nobody_waiting(given: bool) -> None:
    """A caller that gives up while it waits, or in the very moment of its turn, takes no turn with it."""
    turns = Turns("Slow.work", 1, 2)
    await turns.take()
    leaver = asyncio.create_task(turns.take())
    follower = asyncio.create_task(turns.take())
    await settle()
    if given:
        turns.give_back()
        leaver.cancel()
    else:
        leaver.cancel()
        await settle()
        turns.give_back()
    await asyncio.wait_for(follower, 10)
    with pytest.raises(asyncio.CancelledError):
        await leaver
