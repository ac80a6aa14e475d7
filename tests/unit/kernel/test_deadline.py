"""When a call is too late, and who says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable

import pytest

from rpcgw.api.errors import AsyncError
from rpcgw.kernel.deadline import Deadlines

SOON = 0.01
LATER = 30.0


async def test_what_is_in_time_is_left_alone() -> None:
    """A body that ends before its deadline is not touched, and its task can go on awaiting."""
    deadlines = Deadlines()
    with deadlines.guard(LATER):
        await asyncio.sleep(0)
    await asyncio.sleep(0)


async def within(seconds: float, body: Awaitable[None]) -> None:
    with Deadlines().guard(seconds):
        await body


async def test_what_never_ends_is_cancelled() -> None:
    """At the deadline the body gets a CancelledError, its clean-up runs, and the caller gets an AsyncError."""
    cleaned = asyncio.Event()

    async def body() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.set()

    with pytest.raises(AsyncError, match=r"deadline of 0\.01 s"):
        await within(SOON, body())
    assert cleaned.is_set()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_swallowing_the_cancellation_is_late_all_the_same() -> None:
    """A body that answers after its deadline has passed has failed."""

    async def body() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    with pytest.raises(AsyncError):
        await within(SOON, body())


async def test_an_error_of_the_clean_up_is_kept_as_the_cause() -> None:
    """What goes wrong after the deadline is told to whoever looks."""

    async def body() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            int("clean-up")

    with pytest.raises(AsyncError) as caught:
        await within(SOON, body())
    assert isinstance(caught.value.__cause__, ValueError)


async def test_a_cancellation_from_outside_passes() -> None:
    """Whoever cancels the task gets the cancellation back, not an error of ours."""
    begun = asyncio.Event()

    async def call() -> None:
        with Deadlines().guard(LATER):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_from_outside_passes_at_the_deadline_too() -> None:
    """Where the caller leaves and the time is up during the same clean-up, the caller's wish counts."""
    begun, rung = asyncio.Event(), asyncio.Event()

    async def call() -> None:
        with Deadlines().guard(SOON):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                # Cancelled from outside by now: the deadline interrupts the clean-up.
                try:
                    await asyncio.Event().wait()
                finally:
                    rung.set()

    task = asyncio.create_task(call())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rung.is_set()


async def test_each_call_has_its_own_time() -> None:
    """Of calls with the same seconds the later one rings later; one that has ended never rings."""
    deadlines = Deadlines()
    loop = asyncio.get_running_loop()
    rung: list[tuple[int, float]] = []

    async def call(number: int) -> None:
        with pytest.raises(AsyncError), deadlines.guard(SOON) as guard:
            await asyncio.Event().wait()
        rung.append((number, loop.time() - guard.when))

    with deadlines.guard(SOON):
        first = asyncio.create_task(call(1))
        await asyncio.sleep(0)
    second = asyncio.create_task(call(2))
    await asyncio.gather(first, second)
    assert [number for number, _ in rung] == [1, 2]
    # uvloop and the selectors count in milliseconds.
    assert all(late >= -0.002 for _, late in rung)


async def test_seconds_of_different_calls_do_not_mix() -> None:
    """A long deadline does not hold up a short one."""
    deadlines = Deadlines()
    with deadlines.guard(LATER), pytest.raises(AsyncError), deadlines.guard(SOON):
        await asyncio.Event().wait()


async def test_what_is_stopped_never_rings() -> None:
    """After `stop` the body may take its time."""
    deadlines = Deadlines()
    rung = asyncio.Event()

    async def other() -> None:
        with pytest.raises(AsyncError), deadlines.guard(SOON):
            await asyncio.Event().wait()
        rung.set()

    with deadlines.guard(SOON) as guard:
        guard.stop()
        await asyncio.create_task(other())
    assert rung.is_set()


async def test_numbers_of_seconds_are_not_collected() -> None:
    """A number of seconds that no call has any more leaves nothing behind: clients choose them."""
    deadlines = Deadlines()
    for number in range(1, 6):
        with pytest.raises(AsyncError), deadlines.guard(number / 1000):
            await asyncio.Event().wait()
    assert deadlines._queues == {}
