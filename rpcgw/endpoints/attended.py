"""A block of work that can be interrupted from outside, once it waits for something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

Watch = Callable[[], None]
"""Ends what `attend` began."""


class Attended:
    """A block whose `interrupt()` cancels it; the cancellation stops there, and `interrupted` says that it was.

    `attend` is called once, when the block first waits for something, and returns what ends the watching; a block that
    never waits costs one callback. A cancellation from elsewhere passes through. To be entered once, inside a task.
    """

    __slots__ = ("_attend", "_cancelling", "_start", "_stop", "_task", "interrupted")

    def __init__(self, attend: Callable[[Attended], Watch]) -> None:
        self.interrupted = False
        self._attend = attend
        self._stop: Watch | None = None

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a block is attended to inside a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._start = loop.call_soon(self._begin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._start.cancel()
        if self._stop is None:
            return False
        self._stop()
        self._stop = None
        if not self.interrupted:
            return False
        ours_alone = self._task.uncancel() <= self._cancelling
        return ours_alone and kind is asyncio.CancelledError

    def interrupt(self) -> None:
        """Cancel the block; once is enough, and a block that is over is left alone."""
        if not self.interrupted and self._stop is not None:
            self.interrupted = True
            self._task.cancel()

    def _begin(self) -> None:
        self._stop = self._attend(self)
