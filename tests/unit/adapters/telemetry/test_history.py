"""Sums over workers and generations: each number once, whatever is folded when."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from rpcgw.adapters.telemetry.history import HISTORY, clear, fold, read_all, settle
from rpcgw.adapters.telemetry.slotfile import COUNTER, FOLDED, GAUGE, HISTOGRAM, LEVEL, SlotFile, records


def worker(directory: Path, name: str, calls: float) -> None:
    """A worker that lived, counted and left its file."""
    file = SlotFile(str(directory / name))
    for kind, series, values in (
        (COUNTER, b'["calls"]', [calls]),
        (HISTOGRAM, b'["seconds"]', [1.0, calls, 3.0]),
        (GAUGE, b'["in_flight"]', [1.0]),
        (LEVEL, b'["generation"]', [7.0]),
        (COUNTER, f'["only","{name}"]'.encode(), [1.0]),
    ):
        view, start = file.series(kind, series, len(values))
        for index, value in enumerate(values):
            view[start + index] += value
    file.close()


def names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


def total(directory: Path, series: bytes) -> list[float]:
    sums: list[float] = []
    for content in read_all(str(directory)).values():
        cells = memoryview(content).cast("d")
        for record in records(content):
            if record.name == series:
                values = list(cells[record.start : record.start + record.cells])
                sums = [a + b for a, b in zip(sums, values, strict=True)] if sums else values
    return sums


def test_folding_changes_no_sum(tmp_path: Path) -> None:
    """Counters and histograms of ended generations are in the history, their files are gone."""
    worker(tmp_path, "g1-0.slot", 10)
    worker(tmp_path, "g1-1.slot", 20)
    worker(tmp_path, "g2-0.slot", 5)
    fold(str(tmp_path), ["g1-0.slot", "g1-1.slot"])
    assert sorted(names_in(tmp_path)) == ["g2-0.slot", HISTORY]
    assert total(tmp_path, b'["calls"]') == [35.0]
    assert total(tmp_path, b'["seconds"]') == [3.0, 35.0, 9.0]
    assert total(tmp_path, b'["only","g1-1.slot"]') == [1.0]
    fold(str(tmp_path), ["g2-0.slot"])
    assert total(tmp_path, b'["calls"]') == [35.0]


def test_gauges_end_with_their_generation(tmp_path: Path) -> None:
    """What is in flight and what level there was is true of living workers only."""
    worker(tmp_path, "g1-0.slot", 10)
    fold(str(tmp_path), ["g1-0.slot"])
    assert total(tmp_path, b'["in_flight"]') == []
    assert total(tmp_path, b'["generation"]') == []


def test_a_dead_worker_is_settled(tmp_path: Path) -> None:
    """Between a worker's death and its successor its gauges are 0 and its counters stand."""
    worker(tmp_path, "g1-0.slot", 10)
    settle(str(tmp_path / "g1-0.slot"))
    assert total(tmp_path, b'["in_flight"]') == [0.0]
    assert total(tmp_path, b'["generation"]') == [0.0]
    assert total(tmp_path, b'["calls"]') == [10.0]
    settle(str(tmp_path / "no such file"))


def test_a_fold_cut_short_counts_nothing_twice(tmp_path: Path) -> None:
    """The history was replaced and the process died before it removed the file: readers and the next fold see it once."""
    worker(tmp_path, "g1-0.slot", 10)
    shutil.copy(tmp_path / "g1-0.slot", tmp_path / "kept")
    fold(str(tmp_path), ["g1-0.slot"])
    shutil.move(tmp_path / "kept", tmp_path / "g1-0.slot")
    assert total(tmp_path, b'["calls"]') == [10.0]
    worker(tmp_path, "g2-0.slot", 1)
    fold(str(tmp_path), ["g2-0.slot"])
    assert total(tmp_path, b'["calls"]') == [11.0]
    fold(str(tmp_path), ["g1-0.slot"])
    assert total(tmp_path, b'["calls"]') == [11.0]
    assert names_in(tmp_path) == [HISTORY]


def test_the_history_does_not_grow_with_reloads(tmp_path: Path) -> None:
    """A thousand reloads leave a history of its series, and of so many names."""
    for generation in range(400):
        worker(tmp_path, f"g{generation}-0.slot", 1)
        fold(str(tmp_path), [f"g{generation}-0.slot"])
    kinds = [record.kind for record in records(read_all(str(tmp_path))[HISTORY])]
    assert kinds.count(FOLDED) < 300
    assert total(tmp_path, b'["calls"]') == [400.0]


def test_a_reader_sees_each_number_once_while_files_are_folded(tmp_path: Path) -> None:
    """However a scrape and a fold fall together, the sum neither drops nor jumps."""
    for number in range(60):
        worker(tmp_path, f"g{number}-0.slot", 1)
    names = sorted(name for name in names_in(tmp_path) if name.endswith(".slot"))

    def fold_all() -> None:
        for name in names:
            fold(str(tmp_path), [name])

    folding = threading.Thread(target=fold_all)
    folding.start()
    seen = []
    while folding.is_alive():
        seen.append(total(tmp_path, b'["calls"]'))
    folding.join()
    assert set(map(tuple, seen)) <= {(60.0,)}
    assert total(tmp_path, b'["calls"]') == [60.0]


def test_another_shape_under_an_old_name_breaks_nothing(tmp_path: Path) -> None:
    """A histogram with other buckets is not added to the old one."""
    worker(tmp_path, "g1-0.slot", 10)
    file = SlotFile(str(tmp_path / "g2-0.slot"))
    file.series(HISTOGRAM, b'["seconds"]', 7)
    file.close()
    fold(str(tmp_path), ["g1-0.slot"])
    fold(str(tmp_path), ["g2-0.slot"])
    assert total(tmp_path, b'["seconds"]') == [1.0, 10.0, 3.0]


def test_a_new_daemon_begins_at_nothing(tmp_path: Path) -> None:
    """Files of an earlier life are removed, other people's are not; the directory is made."""
    worker(tmp_path, "g1-0.slot", 10)
    fold(str(tmp_path), ["g1-0.slot"])
    worker(tmp_path, "g1-1.slot", 10)
    (tmp_path / "README").write_text("mine")
    clear(str(tmp_path))
    assert names_in(tmp_path) == ["README"]
    clear(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()


def test_workers_of_queues_live_on(tmp_path: Path) -> None:
    """What belongs to a worker of a queue outlives the daemon beside it, and is counted."""
    worker(tmp_path, "jobs-rpc_async-0.slot", 10)
    clear(str(tmp_path))
    assert names_in(tmp_path) == ["jobs-rpc_async-0.slot"]
    assert list(read_all(str(tmp_path))) == [HISTORY, "jobs-rpc_async-0.slot"]


def test_no_directory_is_no_numbers(tmp_path: Path) -> None:
    """A scrape before anything was counted is empty, not an error."""
    assert read_all(str(tmp_path / "missing")) == {}
