"""The jobs that a process has in hand: a bounded number, each a task, none left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self


class Crew:
    """So many tasks at a time. As a context it waits for them at its end; after an error they are cancelled."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()

    @property
    def free(self) -> int:
        """How many more may begin now."""
        return self._size - len(self._tasks)

    async def until_free(self, stopping: asyncio.Event) -> bool:
        """Wait until one more may begin; False where `stopping` was set before."""
        while self.free <= 0 and not stopping.is_set():
            self._changed.clear()
            await first(self._changed, stopping)
        return not stopping.is_set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a job; it tells its own errors."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._changed.set()

    async def finish(self) -> None:
        """Wait for all."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await self.finish()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)


async def first(*events: asyncio.Event, within: float | None = None) -> None:
    """Wait until one of some events is set, at most so many seconds."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
