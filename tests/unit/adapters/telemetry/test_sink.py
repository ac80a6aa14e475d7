"""Where lines go: whole, and without ever stopping the work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rpcgw.adapters.telemetry.sink import Sink


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    """Four processes write long lines to one file: every line is whole."""
    code = (
        "import sys; from rpcgw.adapters.telemetry.sink import Sink; sink = Sink(sys.argv[1])\n"
        "for _ in range(500): sink.write(sys.argv[2].encode() * 3000 + b'\\n')"
    )
    path = tmp_path / "log"
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "abcd"]
    assert [child.wait() for child in children] == [0] * 4
    lines = path.read_bytes().splitlines()
    assert len(lines) == 2000
    assert all(line == line[:1] * 3000 for line in lines)


def test_a_reader_that_left_is_no_error() -> None:
    """A closed pipe drops lines and counts them."""
    reading, writing = os.pipe()
    os.close(reading)
    sink = Sink(descriptor=writing)
    sink.write(b"line\n")
    sink.write(b"line\n")
    assert sink.dropped == 2
    os.close(writing)


def test_a_line_larger_than_a_pipe_arrives_whole() -> None:
    """What the system takes in parts is written in parts."""
    reading, writing = os.pipe()
    reader = subprocess.Popen(["wc", "-c"], stdin=reading, stdout=subprocess.PIPE)
    os.close(reading)
    Sink(descriptor=writing).write(b"x" * 300_000 + b"\n")
    os.close(writing)
    assert int(reader.communicate()[0]) == 300_001


def test_a_moved_file_is_followed(tmp_path: Path) -> None:
    """After `reopen` lines go to a new file of the old name; what was moved away keeps its lines."""
    path = tmp_path / "log"
    sink = Sink(str(path))
    sink.write(b"before\n")
    path.rename(tmp_path / "log.1")
    sink.write(b"between\n")
    sink.reopen()
    sink.write(b"after\n")
    assert (tmp_path / "log.1").read_bytes() == b"before\nbetween\n"
    assert path.read_bytes() == b"after\n"
    sink.close()


def test_reopen_leaves_a_given_descriptor_alone(tmp_path: Path) -> None:
    """Standard error is nobody's to reopen."""
    descriptor = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    sink = Sink(descriptor=descriptor)
    sink.reopen()
    sink.close()
    sink.write(b"line\n")
    assert (tmp_path / "log").read_bytes() == b"line\n"
    os.close(descriptor)
