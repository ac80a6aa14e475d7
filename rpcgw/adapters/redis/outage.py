"""When a server that does not answer is asked again. Pure: it is told the time, and asks nothing itself.

Without it a server that is away would be dialled once for each request, and each request would wait for its timeout.
After a few failures in a row everybody is refused at once, and one command at a time finds out whether the server is
back: after 50 ms, then twice as long each time, at most half a second.
"""

from __future__ import annotations

from typing import Final

PATIENCE: Final = 3
"""Failures in a row, without an answer in between, after which a server counts as away."""
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 0.5
"""Seconds between two trials at most: a server is served from again within these and the time of one command."""


class Outage:
    """Whether one server may be asked. Times are seconds of any clock that never goes back."""

    def __init__(self) -> None:
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._trying = False

    @property
    def away(self) -> bool:
        """Whether the server counts as away."""
        return self._pause > 0

    def admits(self, now: float, trial: float) -> bool:
        """Whether a command may go out now. Of a server that is away it is a trial, which may take `trial` seconds."""
        if not self.away:
            return True
        if now < self._until:
            return False
        self._trying, self._until = True, now + trial
        return True

    def answered(self) -> None:
        """The server gave an answer, be it a refusal."""
        self._failures, self._pause, self._trying = 0, 0.0, False

    def failed(self, now: float) -> None:
        """A command had no answer."""
        if self._trying:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        elif self.away:
            return  # one that went out before
        else:
            self._failures += 1
            if self._failures < PATIENCE:
                return
            self._pause = FIRST_PAUSE
        self._trying, self._until = False, now + self._pause
