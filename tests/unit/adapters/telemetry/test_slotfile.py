"""The file of a worker slot: what is written is read, whatever happens to the writer."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rpcgw.adapters.telemetry.slotfile import COUNTER, GAUGE, HISTOGRAM, LEVEL, SlotFile, read, records, series_name

KINDS = [pytest.param(COUNTER, id="counter"), pytest.param(HISTOGRAM, id="histogram")]


def numbers(path: Path) -> dict[bytes, list[float]]:
    content = read(str(path))
    cells = memoryview(content).cast("d")
    return {record.name: list(cells[record.start : record.start + record.cells]) for record in records(content)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "g1-0.slot"


def test_a_reader_sees_what_is_written_at_once(path: Path) -> None:
    """Numbers are in the file when they are counted, without a flush or a close."""
    file = SlotFile(str(path))
    view, start = file.series(COUNTER, series_name("calls", ["a"]))
    view[start] += 2
    assert numbers(path) == {b'["calls","a"]': [2.0]}
    view[start] += 1
    assert numbers(path) == {b'["calls","a"]': [3.0]}
    file.close()


def test_a_series_is_one_place(path: Path) -> None:
    """Asking for a series again gives the same cells."""
    file = SlotFile(str(path))
    assert file.series(COUNTER, b"x") == file.series(COUNTER, b"x")
    assert file.series(COUNTER, b"x").start != file.series(COUNTER, b"y").start
    file.close()


def test_the_file_grows_as_series_come(path: Path) -> None:
    """Thousands of series of different sizes lie in it, each with its own numbers."""
    file = SlotFile(str(path))
    wanted = {}
    for number in range(6000):
        name = series_name("family", ["label" * (number % 7), str(number)])
        cells = number % 17 + 1
        view, start = file.series(HISTOGRAM, name, cells)
        for cell in range(cells):
            view[start + cell] = number + cell / 100
        wanted[name] = [number + cell / 100 for cell in range(cells)]
    assert path.stat().st_size > 600_000
    assert numbers(path) == wanted
    file.close()


def test_the_next_worker_goes_on_where_the_dead_one_was(path: Path) -> None:
    """Counters and histograms go on; gauges and levels begin at 0; new series are appended."""
    first = SlotFile(str(path))
    for number in range(3000):
        first.series(COUNTER, b"counter-%d" % number).view[first.series(COUNTER, b"counter-%d" % number).start] = number
    for kind, name in ((GAUGE, b"gauge"), (LEVEL, b"level")):
        view, start = first.series(kind, name)
        view[start] = 5
    first.close()
    second = SlotFile(str(path))
    assert numbers(path)[b"gauge"] == [0.0]
    assert numbers(path)[b"level"] == [0.0]
    view, start = second.series(COUNTER, b"counter-2999")
    view[start] += 1
    view, start = second.series(COUNTER, b"new")
    view[start] += 1
    found = numbers(path)
    assert len(found) == 3003
    assert found[b"counter-2999"] == [3000.0]
    assert found[b"counter-17"] == [17.0]
    assert found[b"new"] == [1.0]
    second.close()


CHILD = """
import os, sys
from rpcgw.adapters.telemetry.slotfile import COUNTER, GAUGE, SlotFile
file = SlotFile(sys.argv[1])
gauge = file.series(GAUGE, b"gauge")
gauge.view[gauge.start] = 1
print("up", flush=True)
number = 0
while True:
    name = b"counter-%d" % (number % 5000)
    view, start = file.series(COUNTER, name)
    view[start] += 1
    number += 1
"""


def test_a_killed_worker_leaves_a_sound_file(path: Path) -> None:
    """A kill -9 at any time, also while series are appended, loses no number that was counted."""
    total = 0.0
    for _ in range(8):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        while sum(map(sum, numbers(path).values())) < total + 100:
            pass
        child.kill()
        child.communicate()
        found = numbers(path)
        counted = [value for name, [value] in found.items() if name != b"gauge"]
        assert max(counted) - min(counted) <= 8
        assert sum(counted) > total
        total = sum(counted)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"rpcgwm1\n", id="cut in the header"),
        pytest.param(b"something else entirely, and long enough", id="another file"),
        pytest.param(b"rpcgwm1\n" + (1 << 40).to_bytes(8, "little"), id="more in use than there is"),
        pytest.param(b"rpcgwm1\n" + (17).to_bytes(8, "little") + bytes(16), id="an odd size"),
    ],
)
def test_a_file_of_no_sense_is_begun_anew(path: Path, content: bytes) -> None:
    """A damaged file is empty to readers, and the next writer replaces it."""
    path.write_bytes(content)
    assert numbers(path) == {}
    file = SlotFile(str(path))
    view, start = file.series(COUNTER, b"x")
    view[start] = 1
    assert file.trouble == ""
    assert numbers(path) == {b"x": [1.0]}
    file.close()


def test_records_of_no_sense_end_the_reading(path: Path) -> None:
    """A record that runs over the end is left out, and no reader fails."""
    file = SlotFile(str(path))
    file.series(COUNTER, b"x")
    file.series(COUNTER, b"y", 3)
    file.close()
    content = bytearray(read(str(path)))
    for place in range(16, len(content)):
        damaged = bytes(content[:place]) + b"\xff" + bytes(content[place + 1 :])
        for record in records(damaged):
            assert record.start + record.cells <= len(damaged) // 8


@pytest.mark.parametrize("limit", [pytest.param(0, id="from the start"), pytest.param(300_000, id="later")])
def test_a_full_disk_costs_numbers_and_nothing_else(path: Path, limit: int) -> None:
    """Where the file cannot grow the worker counts on, in memory; what was in the file before is still read."""
    script = """
        import resource, sys
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
        from rpcgw.adapters.telemetry.slotfile import COUNTER, SlotFile
        file = SlotFile(sys.argv[1])
        for number in range(20_000):
            view, start = file.series(COUNTER, b"counter-%06d" % number)
            view[start] += number
        view, start = file.series(COUNTER, b"counter-019999")
        assert view[start] == 19_999, view[start]
        print(file.trouble)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path), str(limit)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "too large" in done.stdout
    found = numbers(path)
    assert (len(found) > 1000) == (limit > 0)
    assert all(value == [float(name[-6:])] for name, value in found.items())


def test_a_directory_that_is_not_there_costs_numbers_and_nothing_else(tmp_path: Path) -> None:
    """The worker serves all the same, and says why it is not seen."""
    file = SlotFile(str(tmp_path / "missing" / "g1-0.slot"))
    view, start = file.series(COUNTER, b"x")
    view[start] = 1
    assert view[start] == 1
    assert "missing" in file.trouble
    file.close()


def test_the_supervisors_part_needs_the_standard_library_alone() -> None:
    """What the supervisor imports of telemetry loads neither prometheus_client nor structlog nor msgspec."""
    code = (
        "import sys; from rpcgw.adapters.telemetry import families, history, slotfile, slots;"
        "print(sorted({'prometheus_client', 'structlog', 'msgspec', 'aiohttp', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=dict(os.environ)
    )
    assert done.stdout == "[]\n"
