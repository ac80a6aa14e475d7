"""One line on the terminal: what lasts, for how long already, and how far it is. Nothing where nobody looks."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 0.4
"""Seconds after which something lasts."""

_BEAT = 0.1
_SPINNER = "|/-\\"
_CLEAR = "\r\x1b[K"


class Progress:
    """How far something is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._how_far = ""
        self._began = time.monotonic()

    def tell(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far it is; `total` is when it ends, where that is known."""
        figure = f"{progress:g}" if not total else f"{progress / total:.0%}"
        self._how_far = f"{figure} {message}" if message else figure

    def line(self, now: float) -> str:
        """The line at a time of the monotonic clock, in seconds; empty while it does not last yet."""
        lasted = now - self._began
        if lasted < PATIENCE:
            return ""
        return " ".join(part for part in (self._spinner(lasted), self._what, self._how_far, f"{lasted:.0f} s") if part)

    @staticmethod
    def _spinner(lasted: float) -> str:
        return _SPINNER[int(lasted / _BEAT) % len(_SPINNER)]


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show on standard error that something lasts, until the block ends."""
    progress = Progress(what)
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield progress
        return
    over = threading.Event()
    thread = threading.Thread(target=_draw, args=(progress, over), daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()


def _draw(progress: Progress, over: threading.Event) -> None:
    drawn = False
    while not over.wait(_BEAT):
        line = progress.line(time.monotonic())
        if line:
            drawn = True
            width = os.get_terminal_size(sys.stderr.fileno()).columns
            sys.stderr.write(f"{_CLEAR}{line[: max(1, width - 1)]}")
            sys.stderr.flush()
    if drawn:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()
