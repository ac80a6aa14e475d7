"""Deadlines of calls: one timer for all calls with the same number of seconds.

A timer for each call costs some five microseconds, and nearly none of them ever rings. Calls with the same number of
seconds ring in the order in which they began, so a queue of them needs one timer: it looks at the first, and sleeps
again.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from rpcgw.api.errors import AsyncError
from rpcgw.kernel.language import Phrase


class Deadlines:
    """The deadlines of all running calls of one event loop."""

    def __init__(self) -> None:
        self._queues: dict[float, _Queue] = {}

    def guard(self, seconds: float) -> Guard:
        """A context in which the current task is cancelled after `seconds`, which becomes an `AsyncError`."""
        queue = self._queues.get(seconds)
        if queue is None:
            queue = self._queues[seconds] = _Queue(seconds, self._queues)
        return Guard(queue)


class Guard:
    """One call's deadline.

    A cancellation that came from elsewhere passes through as it is. A procedure that swallows the cancellation and
    returns is late all the same.
    """

    __slots__ = ("_before", "_queue", "_rung", "_task", "when")

    def __init__(self, queue: _Queue) -> None:
        self._queue = queue
        self._rung = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None, "a call runs in a task"
        self._task = task
        self._before = task.cancelling()
        self.when = self._queue.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not self._rung:
            self._queue.guards.pop(self, None)
            return
        cancelled_elsewhere = self._task.uncancel() > self._before
        if not (cancelled_elsewhere and isinstance(error, asyncio.CancelledError)):
            raise AsyncError(Phrase("error.deadline", seconds=f"{self._queue.seconds:g}")) from error

    def stop(self) -> None:
        """What follows is no longer held to the deadline."""
        self._queue.guards.pop(self, None)

    def ring(self) -> None:
        """The time is up."""
        self._rung = True
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
