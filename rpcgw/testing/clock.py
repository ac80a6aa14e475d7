"""Time that a test moves."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta


class MovableClock:
    """`rpcgw.kernel.ports.Clock`: the host's time, and as much ahead of it as a test wants."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time() + self._ahead

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic() + self._ahead

    def advance(self, by: float | timedelta) -> None:
        """Let so much time pass, in seconds or as a timedelta: kept results, sessions, locks and tokens grow older.

        Raises:
            ValueError: Time would go back.
        """
        seconds = by.total_seconds() if isinstance(by, timedelta) else by
        if seconds < 0:
            raise ValueError("time does not go back")
        self._ahead += seconds


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers go by a movable clock: deadlines, and whatever sleeps."""

    def __init__(self, clock: MovableClock) -> None:
        self._movable = clock
        super().__init__()

    def time(self) -> float:
        """Seconds of the movable clock."""
        return self._movable.monotonic()
