"""Lines of standard input and output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from rpcgw.adapters.stdio.pipes import Descriptors, Pipes, ReaderGone, Splitter

LIMIT = 8


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        pytest.param([b"one\ntwo\n"], [b"one", b"two"], id="two lines at once"),
        pytest.param([b"o", b"ne\nt", b"wo\n"], [b"one", b"two"], id="lines in pieces"),
        pytest.param([b"one\r\n\r\n \n\n"], [b"one"], id="carriage returns and empty lines"),
        pytest.param([b"one\ntwo"], [b"one", b"two"], id="a last line without an end"),
        pytest.param([b"12345678\n"], [b"12345678"], id="a line of exactly the limit"),
        pytest.param([b"12345678\r\n"], [b"12345678"], id="a line of the limit and a carriage return"),
        pytest.param([b"123456789\none\n"], [None, b"one"], id="a line one byte too long"),
        pytest.param([b"1234567", b"89012", b"345\none\n"], [None, b"one"], id="a long line in pieces"),
        pytest.param([b"1234567890123"], [None], id="a long line without an end"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_input_is_cut_into_lines(chunks: list[bytes], lines: list[bytes | None]) -> None:
    """A line that is too long is told of, and costs only itself."""
    splitter = Splitter(LIMIT)
    found = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.finish()
    assert found == lines


@pytest.fixture
def ends() -> Iterator[tuple[int, int, int, int]]:
    """Two pipes: what the client writes to, what the process reads and writes, what the client reads."""
    incoming, client_out = os.pipe()
    client_in, outgoing = os.pipe()
    yield client_out, incoming, outgoing, client_in
    for descriptor in (client_out, incoming, outgoing, client_in):
        try:
            os.close(descriptor)
        except OSError:
            continue


async def test_lines_come_until_the_input_ends(ends: tuple[int, int, int, int]) -> None:
    """The end of the input is the end of the lines."""
    client_out, incoming, outgoing, _ = ends
    os.write(client_out, b"one\ntwo\n")
    os.close(client_out)
    with closing(Pipes(Descriptors(incoming, outgoing))) as pipes:
        assert [line async for line in pipes.lines(LIMIT)] == [b"one", b"two"]


async def test_long_lines_go_out_whole_and_in_order(ends: tuple[int, int, int, int]) -> None:
    """More than a pipe holds waits for its reader, and no line stands inside another."""
    _, incoming, outgoing, client_in = ends
    lines = [bytes([letter]) * 200_000 for letter in b"abc"]
    with closing(Pipes(Descriptors(incoming, outgoing))) as pipes:
        writing = asyncio.gather(*(pipes.write(line) for line in lines))
        got = b""
        while got.count(b"\n") < len(lines):
            got += await asyncio.to_thread(os.read, client_in, 65536)
        await writing
    assert got.split(b"\n") == [*lines, b""]


async def test_a_client_that_reads_no_more_is_told_of(ends: tuple[int, int, int, int]) -> None:
    """A broken pipe is `ReaderGone`, not the end of the process."""
    _, incoming, outgoing, client_in = ends
    os.close(client_in)
    with closing(Pipes(Descriptors(incoming, outgoing))) as pipes, pytest.raises(ReaderGone):
        await pipes.write(b"x")


async def test_a_full_pipe_does_not_keep_the_process(ends: tuple[int, int, int, int]) -> None:
    """Once closed, a line that nobody takes is given up."""
    _, incoming, outgoing, _ = ends
    pipes = Pipes(Descriptors(incoming, outgoing))
    writing = asyncio.create_task(pipes.write(b"x" * 1_000_000))
    await asyncio.sleep(0)
    pipes.close()
    with pytest.raises((ReaderGone, asyncio.CancelledError)):
        await writing
