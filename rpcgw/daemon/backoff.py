"""When a dead worker's slot is filled again. Pure.

A worker that never became ready is tried ever more seldom. One that served is replaced at once, so that a `kill -9` (or
a crash on one bad request) costs nothing; only a slot that keeps dying is held to one try a second.
"""

from __future__ import annotations

import math

FIRST = 0.1
LONGEST = 30.0
AT_ONCE = 5.0
"""How many deaths in a row of a serving worker are replaced without waiting; one more is earned each second."""


class Backoff:
    """The state of one slot; times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._failures = 0
        self._tokens = AT_ONCE
        self._at = 0.0

    def delay(self, now: float, *, served: bool) -> float:
        """Seconds to wait before the next try, after a worker died that had (not) become ready."""
        self._tokens = min(AT_ONCE, self._tokens + now - self._at) - 1
        self._at = now
        if served:
            self._failures = 0
            return max(0.0, -self._tokens)
        self._failures += 1
        return min(LONGEST, FIRST * math.ldexp(1.0, self._failures - 1))
