"""When the supervisor is told that what it serves has changed on disk."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rpcgw.daemon import lookout
from rpcgw.daemon.contents import Contents, Digests
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.lookout import Lookout


class Counted(Contents):
    """Tells how often somebody looked."""

    looks = 0

    def now(self) -> Digests:
        Counted.looks += 1
        return super().now()


class Told:
    """What was told so far."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    async def some(self, count: int = 1) -> str:
        """The n-th reason, once it has come."""
        async with asyncio.timeout(20):
            while len(self.reasons) < count:
                await asyncio.sleep(0.005)
        return self.reasons[count - 1]

    async def rest(self) -> None:
        """Several looks."""
        enough = Counted.looks + 6
        async with asyncio.timeout(20):
            while Counted.looks < enough:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def looking(place: Path) -> AsyncIterator[tuple[Lookout, Told]]:
    """A lookout that follows a directory with `a.yaml`, a file that is old."""
    told = Told()
    with (place.parent / "log").open("wb") as log:
        found = Lookout(Lines("json", log.fileno()), told.reasons.append)
        await found.begins()
        await found.follow([str(place)])
        task = asyncio.create_task(found.run())
        yield found, told
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks follow each other quickly, and are counted."""
    monkeypatch.setattr(lookout, "Contents", Counted)
    monkeypatch.setattr(lookout, "LOOK_EVERY", 0.02)


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    made = tmp_path / "etc"
    made.mkdir()
    (made / "a.yaml").write_text("a: 1")
    while time.time() < (made / "a.yaml").stat().st_ctime + 5 * lookout.COARSE:
        await asyncio.sleep(0.01)
    return made


async def test_a_change_is_told_once(place: Path) -> None:
    """By the file's name; and again when it changes again."""
    async with looking(place) as (_, told):
        (place / "a.yaml").write_text("a: 2")
        assert await told.some() == f"changed on disk: {place}/a.yaml"
        await told.rest()
        assert len(told.reasons) == 1
        (place / "a.yaml").write_text("a: 3")
        await told.some(2)


async def test_many_changes_are_one(place: Path) -> None:
    """Three of them are named."""
    async with looking(place) as (_, told):
        for number in range(5):
            (place / f"b{number}.yaml").write_text("")
        assert (await told.some()).endswith(f"{place}/b2.yaml and 2 more")


async def test_what_is_changed_back_is_no_change(place: Path) -> None:
    """The content that was served is the content again: nothing is told of the touched file, a new one is."""
    async with looking(place) as (_, told):
        (place / "a.yaml").write_text("a: 1")
        (place / "c.yaml").write_text("")
        assert await told.some() == f"changed on disk: {place}/c.yaml"


async def compiled(found: Lookout, place: Path, change: Callable[[], object] = lambda: None) -> None:
    """A reload that reads the files, with something that happens meanwhile."""
    await found.begins()
    change()
    await found.follow([str(place)])


async def test_a_change_during_a_reload_is_told_after_it(place: Path) -> None:
    """Nobody knows whether it was read: it is read once more."""
    async with looking(place) as (found, told):
        await compiled(found, place, lambda: (place / "a.yaml").write_text("a: 2"))
        await told.some()


async def test_what_a_reload_has_read_is_not_told(place: Path) -> None:
    """An edit, and somebody who asks for the reload at once."""
    async with looking(place) as (found, told):
        (place / "a.yaml").write_text("a: 2")
        await compiled(found, place)
        await told.rest()
        assert told.reasons == []


async def test_a_refused_reload_waits_for_another_change(place: Path, tmp_path: Path) -> None:
    """Nothing is told while the mistake stands; the file that holds it counts, wherever it lies."""
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("wrong")
    async with looking(place) as (found, told):
        await found.begins()
        await found.refused([str(elsewhere), ""])
        await told.rest()
        assert told.reasons == []
        elsewhere.write_text("right")
        assert await told.some() == f"changed on disk: {elsewhere}"


async def test_a_file_that_each_reload_changes_stops_counting(place: Path, tmp_path: Path) -> None:
    """Else reloads would never end; the log says which file."""
    file = place / "version.json"
    async with looking(place) as (found, told):
        for number in range(1, lookout.UNSTEADY):
            await compiled(found, place, lambda number=number: file.write_text(str(number)))  # type: ignore[misc]
            await told.some(number)
        await compiled(found, place, lambda: file.write_text("last"))
        await told.rest()
        assert len(told.reasons) == lookout.UNSTEADY - 1
    (line,) = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert (line["event"], line["path"]) == ("watch.unsteady", str(file))


async def test_nothing_is_looked_at_that_is_not_to_be(place: Path) -> None:
    """A generation may turn the watch off, and a later one on again: it has read what changed in between."""
    async with looking(place) as (found, told):
        await found.begins()
        await found.follow([])
        (place / "a.yaml").write_text("a: 2")
        while time.time() < (place / "a.yaml").stat().st_ctime + 5 * lookout.COARSE:
            await asyncio.sleep(0.01)
        await compiled(found, place)
        await told.rest()
        assert told.reasons == []
