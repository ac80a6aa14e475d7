"""Calls that are given up on the worker that runs them, and on others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.endpoints.cancellations import Cancellations, Marks
from rpcgw.kernel.ports import StoreError
from tests.unit.endpoints.house import Observer

SOON = 0.01


def workers(pool: Any = None) -> tuple[Cancellations, Cancellations]:
    """Two of one host."""
    marks = Marks(pool or MemoryPool(), Observer())
    return Cancellations(marks, SOON), Cancellations(marks, SOON)


async def test_a_call_is_interrupted_where_it_runs_at_once() -> None:
    """No store is asked."""
    one, told = Cancellations(), asyncio.Event()
    one.enter("s", 1, told.set)
    await one.cancel("s", 1)
    assert told.is_set()


async def test_a_call_is_interrupted_from_another_worker() -> None:
    """Through a mark in the pool that both share."""
    one, other = workers()
    told = asyncio.Event()
    leave = one.enter("s", 1, told.set)
    await other.cancel("s", 1)
    async with asyncio.timeout(5):
        await told.wait()
    leave()


@pytest.mark.parametrize(
    ("session", "request_id"),
    [
        pytest.param("s", 2, id="another request"),
        pytest.param("s", "1", id="a text is no number"),
        pytest.param("t", 1, id="another session"),
    ],
)
async def test_others_are_left_alone(session: str, request_id: int | str) -> None:
    """On the same worker and on another one."""
    one, other = workers()
    told = asyncio.Event()
    leave = one.enter("s", 1, told.set)
    await one.cancel(session, request_id)
    await other.cancel(session, request_id)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(told.wait(), 5 * SOON)
    leave()


async def test_a_call_that_is_over_is_nobodys_business() -> None:
    """Its number may have a new call meanwhile, which leaving does not take out."""
    one, first, second = Cancellations(), asyncio.Event(), asyncio.Event()
    leave = one.enter("s", 1, first.set)
    one.enter("s", 1, second.set)
    leave()
    await one.cancel("s", 1)
    assert (first.is_set(), second.is_set()) == (False, True)


async def test_nothing_goes_on_looking_without_calls() -> None:
    """No task is left when the last call has ended."""
    one, _ = workers()
    before = asyncio.all_tasks()
    leave = one.enter("s", 1, lambda: None)
    async with asyncio.timeout(5):
        while asyncio.all_tasks() == before:
            await asyncio.sleep(0)
        leave()
        while asyncio.all_tasks() != before:
            await asyncio.sleep(0)
    assert one._timer is None


class Away:
    """A pool whose store is away."""

    async def get(self, key: str) -> bytes | None:
        raise StoreError("away")

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        raise StoreError("away")


async def test_a_store_that_is_away_is_told_and_ends_nothing() -> None:
    """Cancelling is a courtesy: neither the notification nor the call fails."""
    observer = Observer()
    one = Cancellations(Marks(Away(), observer), SOON)  # type: ignore[arg-type]  # only what is asked of it
    leave = one.enter("s", 1, lambda: None)
    await one.cancel("s", 2)
    async with asyncio.timeout(5):
        while len(observer.named("session.store_error")) < 2:
            await asyncio.sleep(0)
    leave()
    assert {fields["operation"] for fields in observer.named("session.store_error")} == {"cancel"}
