"""A process's standard input and output as lines. Both may be pipes, files or terminals.

They are read and written in threads, since the loop cannot watch a file, and since making a descriptor non-blocking
changes it for everyone who shares it, such as the shell behind a terminal.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from rpcgw.api.records import record

STDIN, STDOUT, STDERR = 0, 1, 2
CHUNK = 65536
_AT_ONCE = select.PIPE_BUF
"""What can be written without waiting once a pipe says that it can be written to (POSIX)."""
_WAITING_CHUNKS = 8
_GLANCE_MS = 200


class ReaderGone(Exception):
    """Nobody reads what is written any more."""


@record(frozen=True, slots=True)
class Descriptors:
    """Where a client's lines come from and go to."""

    incoming: int
    outgoing: int


def take_over() -> Descriptors:
    """Keep standard input and output for the client alone.

    From now on whoever else reads finds nothing, and what anybody prints goes to standard error.
    """
    taken = Descriptors(os.dup(STDIN), os.dup(STDOUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    os.dup2(STDERR, STDOUT)
    return taken


class Splitter:
    """Cuts what comes in into lines of at most `limit` bytes; one that is longer is skipped and stands as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that a chunk completes; empty ones are left out."""
        *whole, rest = chunk.split(b"\n")
        lines = [line for part in whole if (line := self._complete(part)) != b""]
        self._add(rest)
        return lines

    def finish(self) -> list[bytes | None]:
        """The last line, where nothing ends it."""
        return [line] if (line := self._complete(b"")) != b"" else []

    def _add(self, part: bytes) -> None:
        if not self._skipping:
            self._rest += part
            # One more for a carriage return, which is no part of the line.
            self._skipping = len(self._rest) > self._limit + 1

    def _complete(self, part: bytes) -> bytes | None:
        self._add(part)
        line = bytes(self._rest).removesuffix(b"\r")
        too_long = self._skipping or len(line) > self._limit
        self._rest.clear()
        self._skipping = False
        return None if too_long else line.strip(b" \t")


class Pipes:
    """Lines from one descriptor and to another. Made inside a running loop; `close` it there."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(_WAITING_CHUNKS)
        self._writer = ThreadPoolExecutor(1, "stdout")
        self._closed = threading.Event()

    async def lines(self, limit: int) -> AsyncIterator[bytes | None]:
        """Every line until the end of the input; None stands for one of more than `limit` bytes."""
        threading.Thread(target=self._read, name="stdin", daemon=True).start()
        splitter = Splitter(limit)
        while chunk := await self._chunks.get():
            for line in splitter.feed(chunk):
                yield line
        for line in splitter.finish():
            yield line

    async def write(self, line: bytes) -> None:
        """Write a line, after those that were given before.

        Raises:
            ReaderGone: Nobody reads any more.
        """
        await self._loop.run_in_executor(self._writer, self._write, line + b"\n")

    def close(self) -> None:
        """Write no more: a line that nobody takes is given up."""
        self._closed.set()
        self._writer.shutdown(wait=False, cancel_futures=True)

    def _read(self) -> None:
        """In a thread, which ends with the input, or with the process."""
        while True:
            try:
                chunk = os.read(self._descriptors.incoming, CHUNK)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):  # the loop has ended
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), self._loop).result()
            if not chunk or self._closed.is_set():
                return

    def _write(self, data: bytes) -> None:
        out = self._descriptors.outgoing
        watch = select.poll()
        watch.register(out, select.POLLOUT)
        rest = memoryview(data)
        while rest:
            if watch.poll(_GLANCE_MS):
                try:
                    rest = rest[os.write(out, rest[:_AT_ONCE]) :]
                except OSError as error:
                    raise ReaderGone(error.strerror) from error
            elif self._closed.is_set():
                raise ReaderGone("the client reads no more")
