"""Where log lines go: one `os.write` a line, so that lines of several processes do not mix."""

from __future__ import annotations

import os
from collections.abc import Callable

STDERR = 2


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

    def write(self, line: bytes) -> None:
        """Write a whole line, its end included."""
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError:
            self.dropped += 1
            self.lost()

    def reopen(self) -> None:
        """Follow a file that was moved away: later lines go to a new one of the old name. Nothing where it is stderr.

        Raises `OSError` where it cannot be opened; the old file then stays.
        """
        if self._path is not None:
            fresh = _open(self._path)
            os.dup2(fresh, self._descriptor, inheritable=False)
            os.close(fresh)

    def close(self) -> None:
        """Close the file; a descriptor that was given stays open."""
        if self._path is not None and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self._descriptor >= 0 and os.isatty(self._descriptor)


def _nobody() -> None:
    """Nobody counts."""


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
