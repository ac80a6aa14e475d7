"""Taking turns: large pieces of requests are read one in a millisecond, so that everybody else comes between.

Who sends a little is never made to wait. A piece that uvloop has read is 250 kB at most, so all that send much at once
are read with 250 MB a second together, and keep nobody waiting for longer than one of them takes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

LARGE: Final = 16_384
"""Bytes of a piece that has to wait for its turn; usual requests are smaller."""
APART: Final = 0.001
"""Seconds from one turn to the next."""


class Turns:
    """Whose turn it is, in the order in which they came."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], None]] = deque()
        self._taken = False

    def take(self) -> bool:
        """Take the turn, if nobody has it: whether it was to be had."""
        if self._taken:
            return False
        self._taken = True
        self._loop.call_later(APART, self._next)
        return True

    def wait(self, work: Callable[[], None]) -> None:
        """Do something in a turn of its own. Somebody has the turn now."""
        self._waiting.append(work)

    def _next(self) -> None:
        self._taken = False
        if self._waiting:
            self.take()
            self._waiting.popleft()()


class Gate:
    """A transport that two may keep from reading who know nothing of each other: its protocol, and whoever holds it.

    `wanted` says that the protocol has not paused it.
    """

    __slots__ = ("_held", "_transport", "is_closing", "wanted", "write")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.is_closing, self.write = transport.is_closing, transport.write  # each answer needs them
        self.wanted = True
        self._held = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        """The protocol wants nothing more for now."""
        self.wanted = False
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """The protocol wants more; it gets that once nobody holds the gate."""
        if self.wanted:
            return
        self.wanted = True
        if not self._held:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Let nothing come, whatever the protocol wants."""
        self._held = True
        with suppress(RuntimeError):  # nothing comes from one that is closing
            self._transport.pause_reading()

    def release(self) -> None:
        """Let come what the protocol wants."""
        self._held = False
        if self.wanted:
            with suppress(RuntimeError):
                self._transport.resume_reading()
