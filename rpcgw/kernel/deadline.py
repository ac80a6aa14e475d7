"""Deadlines of calls: one timer for all calls with the same number of seconds.

A timer for each call costs some five microseconds, and nearly none of them ever rings. Calls with the same number of
seconds ring in the order in which they began, so a queue of them needs one timer: it looks at the first, and sleeps
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, Self, TypeVar

from rpcgw.api.errors import AsyncError
from rpcgw.kernel.driving import Work, until_given_up
from rpcgw.kernel.language import Phrase

GRACE: Final = 1.0
"""Seconds that a call has to clean up after its deadline, before its caller is told in spite of it."""

_T = TypeVar("_T")


class Deadlines:
    """The deadlines of all running calls of one event loop."""

    def __init__(self, grace: float = GRACE) -> None:
        self._queues: dict[float, _Queue] = {}
        self._grace = grace

    def guard(self, seconds: float) -> Guard:
        """A context in which the current task is cancelled after `seconds`, which becomes an `AsyncError`."""
        queue = self._queues.get(seconds)
        if queue is None:
            queue = self._queues[seconds] = _Queue(seconds, self._queues)
        return Guard(queue, self._grace)


class Guard:
    """One call's deadline.

    A cancellation that came from elsewhere passes through as it is. A procedure that swallows the cancellation and
    returns is late all the same; one that swallows it and goes on is left to itself after its `grace`, where it is
    awaited through `hold`.
    """

    __slots__ = ("_before", "_given_up", "_grace", "_queue", "_task", "_timer", "rung", "when")

    def __init__(self, queue: _Queue, grace: float) -> None:
        self._queue = queue
        self._grace = grace
        self._timer: asyncio.TimerHandle | None = None
        self.rung = False
        self._given_up = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None, "a call runs in a task"
        self._task = task
        self._before = task.cancelling()
        self.when = self._queue.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._timer is None:
            self._queue.guards.pop(self, None)
            return
        self._timer.cancel()
        if self._given_up:
            self._task.uncancel()
        cancelled_elsewhere = self._task.uncancel() > self._before
        if not (cancelled_elsewhere and isinstance(error, asyncio.CancelledError)):
            raise AsyncError(Phrase("error.deadline", seconds=f"{self._queue.seconds:g}")) from error

    def hold(self, work: Work[_T], leave: Callable[[Work[_T]], None]) -> Awaitable[_T]:
        """Await `work` for as long as its caller does; `leave` is given the rest of what was given up."""
        return until_given_up(work, self, leave)

    def given_up(self) -> bool:
        """Whether the grace is over, too."""
        return self._given_up

    def stop(self) -> None:
        """What follows is no longer held to the deadline."""
        self._queue.guards.pop(self, None)

    def ring(self) -> None:
        """The time is up."""
        self.rung = True
        self._timer = asyncio.get_running_loop().call_later(self._grace, self._give_up)
        self._task.cancel()

    def _give_up(self) -> None:
        self._given_up = True
        self._task.cancel()


class _Queue:
    """The running calls with one number of seconds, in the order in which they began."""

    def __init__(self, seconds: float, queues: dict[float, _Queue]) -> None:
        self.seconds = seconds
        self._queues = queues
        self.guards: dict[Guard, float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, guard: Guard) -> float:
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
            loop.call_later(self.seconds, self._look)
        when = self.guards[guard] = loop.time() + self.seconds
        return when

    def _look(self) -> None:
        assert self._loop is not None, "a queue that looks has begun"
        now = self._loop.time()
        for guard, when in list(self.guards.items()):
            if when > now:
                self._loop.call_at(when, self._look)
                return
            del self.guards[guard]
            guard.ring()
        # A queue without calls goes, and with it its timer: clients choose numbers of seconds.
        self._loop = None
        self._queues.pop(self.seconds, None)
