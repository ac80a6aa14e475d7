"""The usage log as a worker writes it: nothing is lost without a word."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rpcgw.adapters.stores import usage
from rpcgw.adapters.stores.ledger import Ledger
from rpcgw.adapters.stores.sqlite import open_file
from rpcgw.adapters.stores.usage import UsageLog
from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.webmcp.beacons import Begun, Ended
from rpcgw.protocol.webmcp.statistics import A_DAY, Query
from tests.unit.endpoints.house import Clock, Observer


def begun(call: str, at: int = 1_000_000) -> Begun:
    return Begun(site="main", tool="a", client="x", call=call.rjust(16, "0"), at=at)


def ended(call: str) -> Ended:
    return Ended(site="main", call=call.rjust(16, "0"), outcome="ok", ms=1)


class House:
    """A log over a file, and what is told of it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path / "usage.db")
        self.clock = Clock()
        self.observer = Observer()

    def ledger(self) -> Ledger:
        return open_file(self.path)

    @asynccontextmanager
    async def log(self, writer: Ledger | None = None, **settings: Any) -> AsyncIterator[UsageLog]:
        log = UsageLog(writer or self.ledger(), self.ledger(), self.clock, self.observer, **settings)
        log.start()
        try:
            yield log
        finally:
            await log.close()

    def counted(self) -> Counter[str]:
        """What became of each beacon."""
        told = [fields for name, fields in self.observer.events if name == "webmcp.beacon"]
        return sum((Counter({fields["outcome"]: fields.get("count", 1)}) for fields in told), Counter())

    async def until(self, done: Callable[[], bool]) -> None:
        """Wait for something that the log does by itself."""
        async with asyncio.timeout(30):
            while not done():
                await asyncio.sleep(0.01)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.asyncio
async def test_what_was_added_is_kept(house: House) -> None:
    """Once `add` has returned, any other process finds the row."""
    async with house.log() as log:
        await log.add(begun("1"))
        assert len(house.ledger().rows(Query(7), house.clock.now())) == 1
        assert [use.tool for use in await log.rows(Query(7))] == ["a"]
        assert (await log.read(Query(7))).tools == ["a"]
    assert house.counted() == {"begun": 1}


@pytest.mark.asyncio
async def test_what_comes_together_is_written_together(house: House) -> None:
    """A thousand beacons are a few batches."""
    written: list[int] = []

    class Counting(Ledger):
        def write(self, told: Any) -> list[bool]:
            written.append(len(told))
            return super().write(told)

    ledger = house.ledger()
    ledger.__class__ = Counting
    async with house.log(ledger) as log:
        await asyncio.gather(*(log.add(begun(str(number))) for number in range(1000)))
    assert (sum(written), len(written) <= 5) == (1000, True)
    assert house.counted() == {"begun": 1000}


@pytest.mark.asyncio
async def test_an_end_waits_for_its_beginning(house: House) -> None:
    """The beginning may be another worker's, and come a moment later."""
    async with house.log() as log:
        await log.add(ended("1"))
        house.ledger().write([begun("1")])
        await house.until(lambda: house.counted()["ended"] == 1)
        assert [use.outcome for use in await log.rows(Query(7))] == ["ok"]


@pytest.mark.asyncio
async def test_an_end_does_not_wait_for_ever(house: House) -> None:
    """An end whose beginning never comes is counted as such."""
    async with house.log() as log:
        await log.add(ended("1"))
        house.clock.time += usage.LATE + 1
        await house.until(lambda: house.counted()["unmatched"] == 1)


@pytest.mark.asyncio
async def test_an_end_that_waits_is_counted_at_the_end(house: House) -> None:
    """Closing tells what became of everything."""
    async with house.log() as log:
        await log.add(ended("1"))
    assert house.counted() == {"unmatched": 1}


class Stuck(Ledger):
    """A log that is as slow as a test wants it to be."""

    def __init__(self, ledger: Ledger) -> None:
        self.inner = ledger
        self.began, self.go = threading.Event(), threading.Event()

    def write(self, told: Any) -> list[bool]:
        self.began.set()
        assert self.go.wait(30)
        return self.inner.write(told)

    def prune(self, now: int, keep: int) -> int:
        return self.inner.prune(now, keep)

    def close(self) -> None:
        self.inner.close()


@pytest.mark.asyncio
async def test_more_than_may_wait_is_refused(house: House) -> None:
    """A log that does not keep up says so at once, and what waited is kept all the same."""
    ledger = Stuck(house.ledger())
    async with house.log(ledger, waiting=3) as log:
        first = asyncio.create_task(log.add(begun("first")))
        await house.until(ledger.began.is_set)
        waiting = [asyncio.create_task(log.add(begun(str(number)))) for number in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(StoreError, match="does not keep up"):
            await log.add(begun("last"))
        ledger.go.set()
        await asyncio.gather(first, *waiting)
    assert house.counted() == {"begun": 4, "overflow": 1}


@pytest.mark.asyncio
async def test_what_waits_is_written_at_the_end(house: House) -> None:
    """Closing waits for what was taken."""
    async with house.log() as log:
        added = [asyncio.create_task(log.add(begun(str(number)))) for number in range(50)]
        await asyncio.sleep(0)
    await asyncio.gather(*added)
    assert len(house.ledger().rows(Query(7), house.clock.now())) == 50


@pytest.mark.asyncio
async def test_nothing_is_taken_after_the_end(house: House) -> None:
    """A log that is closed refuses."""
    async with house.log() as log:
        pass
    with pytest.raises(StoreError):
        await log.add(begun("1"))


class Failing(Ledger):
    """A log that fails until it is mended."""

    def __init__(self, ledger: Ledger) -> None:
        self.inner = ledger
        self.broken = True

    def write(self, told: Any) -> list[bool]:
        if self.broken:
            raise StoreError("the disk is full")
        return self.inner.write(told)

    def prune(self, now: int, keep: int) -> int:
        raise StoreError("the disk is full")

    def close(self) -> None:
        self.inner.close()


@pytest.mark.asyncio
async def test_a_log_that_fails(house: House) -> None:
    """Who added something hears that it is not kept, it is counted and logged; the next one finds the log mended."""
    ledger = Failing(house.ledger())
    async with house.log(ledger) as log:
        with pytest.raises(StoreError, match="full"):
            await log.add(begun("1"))
        ledger.broken = False
        await log.add(begun("2"))
    assert house.counted() == {"failed": 1, "begun": 1}
    assert [fields["refused"] for name, fields in house.observer.events if name == "webmcp.log_failed"] == [0, 1]


@pytest.mark.asyncio
async def test_who_gives_up_waiting_loses_nothing(house: House) -> None:
    """A client that leaves does not take its row with it."""
    async with house.log() as log:
        added = asyncio.create_task(log.add(begun("1")))
        await asyncio.sleep(0)
        added.cancel()
        await log.add(begun("2"))
    assert house.counted() == {"begun": 2}


@pytest.mark.asyncio
async def test_what_is_old_is_removed_when_the_log_begins(house: House) -> None:
    """The retention job runs at once, and tells how many calls went."""
    house.ledger().write([begun("1", at=1_000_000 - 8 * A_DAY), begun("2")])
    async with house.log(keep=7 * A_DAY) as log:
        await log.add(begun("3"))
        assert len(house.ledger().rows(Query(90), house.clock.now())) == 2
    assert [fields for name, fields in house.observer.events if name == "webmcp.pruned"] == [{"calls": 1}]


@pytest.mark.asyncio
async def test_what_is_old_is_removed_each_hour(house: House) -> None:
    """The retention job runs again, with whatever comes next."""
    async with house.log(keep=A_DAY) as log:
        await log.add(begun("1"))
        house.clock.time += 2 * A_DAY
        await log.add(begun("2", at=int(house.clock.now())))
        await log.add(begun("3", at=int(house.clock.now())))
        assert len(house.ledger().rows(Query(90), house.clock.now())) == 2
