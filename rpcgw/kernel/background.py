"""Work that must end whatever becomes of the call that began it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class Background:
    """The tasks that outlive their callers; they never raise on their own account."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begin a piece of work; its task is kept until it has ended."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do a piece of work to its end; a caller that is cancelled meanwhile leaves it running."""
        return await asyncio.shield(self.spawn(work))

    async def settle(self) -> None:
        """Wait until everything that was begun has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)
