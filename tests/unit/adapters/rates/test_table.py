"""Counters that processes share: exact, bounded, and worth nothing to a thief."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rpcgw.adapters.rates.table import Table

MINUTE = 60
NOON = 1_000_000 * MINUTE + 0.0


@pytest.fixture(params=["of one process", "shared"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    with closing(Table(None if request.param == "of one process" else tmp_path / "run/limits")) as made:
        yield made


def taken(table: Table, key: str, times: int, now: float, limit: int = 5) -> int:
    """How many of so many tries were counted."""
    return sum(table.take(key, limit, MINUTE, now) for _ in range(times))


def test_no_more_than_the_limit_in_a_window(table: Table) -> None:
    """The sixth of five is refused, and another key has its own five."""
    assert taken(table, "a", 8, NOON) == 5
    assert taken(table, "b", 8, NOON) == 5


@pytest.mark.parametrize(
    ("later", "free"),
    [
        pytest.param(0, 0, id="in the window"),
        pytest.param(MINUTE, 0, id="as the next one begins, the last counts in full"),
        pytest.param(MINUTE + 30, 3, id="in its middle, half of the last counts"),
        pytest.param(2 * MINUTE, 5, id="a window later it is forgotten"),
        pytest.param(10 * MINUTE, 5, id="much later too"),
    ],
)
def test_the_window_slides(table: Table, later: float, free: int) -> None:
    """What was counted fades: no two windows meet at a border where twice as much passes."""
    taken(table, "a", 5, NOON)
    assert taken(table, "a", 9, NOON + later) == free


def test_what_was_refused_does_not_count(table: Table) -> None:
    """Who keeps trying is not refused for longer."""
    taken(table, "a", 100, NOON)
    assert table.look("a", MINUTE, NOON)[:2] == (0, 5)


def test_a_key_can_be_forgotten(table: Table) -> None:
    """And everything at once."""
    taken(table, "a", 5, NOON)
    table.forget("a")
    assert taken(table, "a", 5, NOON) == 5
    table.clear()
    assert taken(table, "a", 5, NOON) == 5


def test_a_flood_of_keys_does_not_drown_what_counts_much(tmp_path: Path) -> None:
    """A full bucket gives up the entry that has counted least."""
    with closing(Table(tmp_path / "limits", buckets=4)) as small:
        taken(small, "the group", 50, NOON, limit=50)
        for number in range(1000):
            small.take(f"address {number}", 5, MINUTE, NOON)
        assert taken(small, "the group", 1, NOON, limit=50) == 0


def test_no_key_can_be_read_from_the_file(tmp_path: Path) -> None:
    """The file holds hashes under a secret of its own: the same key looks different in every file."""
    contents = []
    for name in ("one", "other"):
        with closing(Table(tmp_path / name)) as made:
            made.take("203.0.113.9", 5, MINUTE, NOON)
        contents.append((tmp_path / name).read_bytes())
    assert b"203.0.113.9" not in contents[0]
    assert contents[0] != contents[1]
    assert (tmp_path / "one").stat().st_mode & 0o077 == 0


def test_the_file_has_its_place_on_the_disk_from_the_start(tmp_path: Path) -> None:
    """A hole in a mapped file would end the worker with a SIGBUS once the disk is full."""
    with closing(Table(tmp_path / "limits")):
        assert (tmp_path / "limits").stat().st_blocks * 512 >= (tmp_path / "limits").stat().st_size


def _take_many(path: str, start: object, counted: object) -> None:
    with closing(Table(Path(path))) as table:
        start.wait()  # type: ignore[attr-defined]
        count = sum(table.take("everybody", 1000, MINUTE, NOON) for _ in range(600))
    counted.put(count)  # type: ignore[attr-defined]


def test_processes_count_together(tmp_path: Path) -> None:
    """Four processes with 600 tries each get exactly the 1,000 that are allowed, at the same time."""
    context = multiprocessing.get_context("spawn")
    start, counted = context.Barrier(4), context.Queue()
    processes = [
        context.Process(target=_take_many, args=(os.fspath(tmp_path / "limits"), start, counted)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    total = sum(counted.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert total == 1000
