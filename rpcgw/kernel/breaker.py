"""A circuit breaker: a method that fails again and again is left in peace for a while, then tried with single calls.

Closed, calls pass and failures in a row are counted. Open, calls are refused. After the pause it is half open: one call
at a time is let through; so many successes in a row close it, one failure opens it again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

from rpcgw.api.errors import (
    AsyncError,
    CapabilityMissing,
    CircuitOpen,
    InternalError,
    NotNow,
    RpcError,
    RuntimeFault,
    ServerError,
)
from rpcgw.kernel.language import Phrase

_FAULTS: Final = (InternalError, RuntimeFault, ServerError, AsyncError)
_PROBING: Final = 1.0
"""Seconds after which another try is worth it while one call is probing."""


class State(Enum):
    """What happens to calls."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


class Breaker:
    """One method's breaker in a worker.

    Args:
        method: Its name.
        failures: After how many failures in a row it opens.
        pause: For how many seconds.
        probes: How many calls must succeed, one after the other, until it closes.
        monotonic: The clock, in seconds.
        opened: Told each time that it opens.
    """

    def __init__(
        self,
        method: str,
        failures: int,
        pause: float,
        probes: int,
        *,
        monotonic: Callable[[], float],
        opened: Callable[[], None],
    ) -> None:
        self._method = method
        self._failures = failures
        self._pause = pause
        self._probes = probes
        self._monotonic = monotonic
        self._opened = opened
        self._until = 0.0
        self._count = 0
        self._probing = False
        self.state = State.CLOSED

    def enter(self) -> bool:
        """Let a call pass; says whether it is a probe.

        Raises:
            CircuitOpen: It must not.
        """
        if self.state is State.CLOSED:
            return False
        wait = self._until - self._monotonic()
        if self.state is State.OPEN and wait <= 0:
            self.state, self._count = State.HALF_OPEN, 0
        if self.state is State.OPEN or self._probing:
            left = max(wait, _PROBING)
            raise CircuitOpen(Phrase("error.circuit", method=self._method, seconds=f"{left:.0f}"), retry_after=left)
        self._probing = True
        return True

    def leave(self, *, probe: bool, failed: bool | None) -> None:
        """A call that passed has ended; `failed` None says nothing of the method: its caller gave up."""
        if probe:
            self._probing = False
        stale = not probe and self.state is not State.CLOSED  # it began before the breaker opened
        if failed is None or stale:
            return
        if failed:
            self._count += 1
            if probe or self._count >= self._failures:
                self._open()
        elif probe:
            self._count += 1
            if self._count >= self._probes:
                self.state, self._count = State.CLOSED, 0
        else:
            self._count = 0

    def _open(self) -> None:
        self.state = State.OPEN
        self._count = 0
        self._until = self._monotonic() + self._pause
        self._opened()


def is_fault(error: BaseException) -> bool:
    """Whether an exception says that the method does not work: what nobody foresaw, and what it says of itself.

    An answer about the caller's data or about what is not there comes from a method that works.
    """
    if not isinstance(error, RpcError):
        return True
    return isinstance(error, _FAULTS) and not isinstance(error, CapabilityMissing | NotNow)
