"""Where log lines go: whole lines in each `os.write`, so that those of several processes do not mix.

A line is written at once, or together with those of the next moment: a system call for each costs a third of a call.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import deque
from collections.abc import Callable
from select import PIPE_BUF
from typing import Final

STDERR = 2
SOON: Final = 0.01
"""Seconds that a line may wait for others. Whoever is killed takes what waits along."""
MOST_IN_A_PIPE: Final = PIPE_BUF
"""Bytes of the longest write that a pipe takes in one piece (POSIX, `write`)."""
MOST_IN_A_FILE: Final = 65_536
"""Bytes that are written to a file at a time; it takes any number in one piece."""


class Sink:
    """A descriptor, or a file that can be opened anew.

    Never raises once it is made: a line that cannot be written is dropped and counted in `dropped`, `lost` is told of
    it, and serving goes on. Opening a file raises `OSError`.
    """

    def __init__(self, path: str | None = None, descriptor: int = STDERR) -> None:
        self.dropped = 0
        self.lost: Callable[[], None] = _nobody
        self._path = path
        self._descriptor = descriptor if path is None else _open(path)
        self._most = _most(self._descriptor)
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._due = False

    def write(self, line: bytes) -> None:
        """Write a whole line, its end included, and before it all that waits."""
        if self._waiting:
            self.flush()
        self._put(line, 1)

    def write_soon(self, line: bytes) -> None:
        """Write a whole line within `SOON`; at once where no event loop runs."""
        size = self._size = self._size + len(line)
        if size > self._most:
            self.flush()
            self._size = len(line)
        self._waiting.append(line)
        if not self._due:
            self._wait()

    def _wait(self) -> None:
        """See to it that what waits is written."""
        try:
            asyncio.get_running_loop().call_later(SOON, self._waited)
        except RuntimeError:
            self.flush()
        else:
            self._due = True

    def _waited(self) -> None:
        self._due = False
        self.flush()

    def flush(self) -> None:
        """Write what waits."""
        lines = []
        self._size = 0
        while self._waiting:  # a thread that logs may do the same
            try:
                lines.append(self._waiting.popleft())
            except IndexError:
                break
        if lines:
            self._put(b"".join(lines), len(lines))

    def _put(self, data: bytes, lines: int) -> None:
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            for _ in range(lines):
                self.dropped += 1
                self.lost()

    def reopen(self) -> None:
        """Follow a file that was moved away: later lines go to a new one of the old name. Nothing where it is stderr.

        Raises `OSError` where it cannot be opened; the old file then stays.
        """
        if self._path is not None:
            self.flush()
            fresh = _open(self._path)
            os.dup2(fresh, self._descriptor, inheritable=False)
            os.close(fresh)

    def close(self) -> None:
        """Write what waits, and close the file; a descriptor that was given stays open."""
        self.flush()
        if self._path is not None and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self._descriptor >= 0 and os.isatty(self._descriptor)


def _most(descriptor: int) -> int:
    """How much is written to a descriptor at a time."""
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        regular = False
    return MOST_IN_A_FILE if regular else MOST_IN_A_PIPE


def _nobody() -> None:
    """Nobody counts."""


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
