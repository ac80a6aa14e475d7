"""Work that outlives the call that began it: because it must end, or because it does not end when it should."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from rpcgw.kernel.threads import DEFAULT_SIZE, nobody

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


class Strays:
    """Async procedures that go on although their calls gave up on them, as threads of sync ones do.

    Args:
        spare: How many there may be.
        exhausted: Called once, when there is one more: the worker should be replaced.
    """

    def __init__(self, spare: int = DEFAULT_SIZE, exhausted: Callable[[], None] = nobody) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._spare = spare
        self._exhausted = exhausted
        self._told = False

    @property
    def count(self) -> int:
        """How many go on."""
        return len(self._tasks)

    def leave(self, work: Coroutine[Any, Any, Any]) -> None:
        """Let work go on unheard."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        if len(self._tasks) > self._spare and not self._told:
            self._told = True
            self._exhausted()

    def close(self) -> None:
        """Ask those that are left once more to end; nobody waits for them."""
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen: its caller was told of the deadline, and nobody is left to be told more
