"""Cancels work that nobody waits for any more: the peer has left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self


class Presence:
    """A block that is cancelled when `gone()` ends; `left` says that it was, and the cancellation stops there.

    A cancellation from elsewhere passes through. Watching costs one callback where the block never waits, and a task
    where it does. To be entered once, inside a task.
    """

    def __init__(self, gone: Callable[[], Awaitable[None]]) -> None:
        self.left = False
        self._gone = gone
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a presence is watched inside a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._start = asyncio.get_running_loop().call_soon(self._watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._start.cancel()
        if self._watcher is None:
            return False
        self._watcher.cancel()
        if not self.left:
            return False
        ours_alone = self._task.uncancel() <= self._cancelling
        return ours_alone and kind is asyncio.CancelledError

    def _watch(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> None:
        await self._gone()
        self.left = True
        self._task.cancel()
