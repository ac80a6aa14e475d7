"""Work that can be interrupted from outside, once it waits for something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import coroutine
from typing import Any, Generic, TypeVar

from rpcgw.kernel.driving import Steps, Work, begun

Watch = Callable[[], None]
"""Ends what `attend` began."""

_T = TypeVar("_T")


@coroutine
def attended(work: Work[_T], attend: Callable[[Attended[_T]], Watch]) -> Steps[_T | None]:
    """What `work` gives, or None where it was interrupted.

    `attend` is called once, when the work first waits for something, and returns what ends the watching: work that
    never waits costs nothing. It runs in the task that awaits it. A cancellation from elsewhere passes through, and
    work that ends in spite of an interruption counts.
    """
    # The first step is taken by hand: it tells work that waits from work that is done at once.
    try:
        waiting = work.send(None)
    except StopIteration as done:
        result: _T = done.value
        return result
    return (yield from Attended(work).rest(waiting, attend))


class Attended(Generic[_T]):
    """Work that waits for something, and that `interrupt()` cancels."""

    __slots__ = ("_interrupted", "_task", "_work")

    def __init__(self, work: Work[_T]) -> None:
        self._work = work
        self._interrupted = False
        self._task: asyncio.Task[Any] | None = None

    def interrupt(self) -> None:
        """Cancel the work; once is enough, and work that is over is left alone."""
        if self._task is not None and not self._interrupted:
            self._interrupted = True
            self._task.cancel()

    def rest(self, waiting: Any, attend: Callable[[Attended[_T]], Watch]) -> Steps[_T | None]:
        """The work to its end, while it is watched; `waiting` is what it waits for first."""
        task = self._task = asyncio.current_task()
        assert task is not None, "it is awaited inside a task"
        cancelling = task.cancelling()
        stop = attend(self)
        try:
            result = yield from begun(self._work, waiting)
        except asyncio.CancelledError:
            if self._interrupted and task.uncancel() <= cancelling:
                return None
            raise
        else:
            if self._interrupted:
                task.uncancel()
            return result
        finally:
            self._task = None
            stop()
