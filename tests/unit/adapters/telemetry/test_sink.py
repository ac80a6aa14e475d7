"""Where lines go: whole, and without ever stopping the work."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpcgw.adapters.telemetry.sink import MOST_IN_A_PIPE, Sink


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


async def test_lines_of_the_same_moment_are_written_together() -> None:
    """They wait a little, in their order; one that is written at once takes those before it along."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    sink = Sink(descriptor=writing)
    sink.write_soon(b"1\n")
    sink.write_soon(b"2\n")
    with pytest.raises(BlockingIOError):
        os.read(reading, 100)
    arrived = asyncio.Event()
    asyncio.get_running_loop().add_reader(reading, arrived.set)
    await asyncio.wait_for(arrived.wait(), 10)
    asyncio.get_running_loop().remove_reader(reading)
    assert os.read(reading, 100) == b"1\n2\n"
    sink.write_soon(b"3\n")
    sink.write(b"4\n")
    assert os.read(reading, 100) == b"3\n4\n"
    os.close(reading)
    os.close(writing)


async def test_no_more_is_written_together_than_a_pipe_takes_in_one_piece() -> None:
    """Lines of several processes do not mix in a pipe either."""
    reading, writing = os.pipe()
    sink = Sink(descriptor=writing)
    line = b"x" * (MOST_IN_A_PIPE // 2) + b"\n"
    sink.write_soon(line)
    sink.write_soon(line)
    assert os.read(reading, 2 * MOST_IN_A_PIPE) == line
    sink.close()
    assert os.read(reading, 2 * MOST_IN_A_PIPE) == line
    os.close(reading)
    os.close(writing)


def test_without_an_event_loop_nothing_waits(tmp_path: Path) -> None:
    """A command's lines are out when it goes on."""
    sink = Sink(str(tmp_path / "log"))
    sink.write_soon(b"line\n")
    assert (tmp_path / "log").read_bytes() == b"line\n"
    sink.close()


async def test_lines_that_wait_when_a_reader_leaves_are_counted() -> None:
    """Each of them."""
    reading, writing = os.pipe()
    sink = Sink(descriptor=writing)
    sink.write_soon(b"1\n")
    sink.write_soon(b"2\n")
    os.close(reading)
    sink.flush()
    assert sink.dropped == 2
    os.close(writing)
