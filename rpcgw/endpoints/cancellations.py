"""Calls of sessions that their client may give up while they run (MCP 2025-11-25, Cancellation).

A client's notification comes on a connection of its own, so to any worker and any host. The worker that runs the call
knows at once. Any other leaves a mark in the pool, which is looked for every `EVERY` seconds while calls run that long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from rpcgw.kernel.codec import encode
from rpcgw.kernel.ports import Observer, Pool, StoreError
from rpcgw.protocol.mcp.faults import RequestId

EVERY: Final = 1.0
MARK_TTL: Final = 30.0
"""Seconds for which a mark is kept: long enough for every worker to look."""


class Marks:
    """What workers and hosts tell each other: which calls were given up. A store that is away tells nothing."""

    def __init__(self, pool: Pool, observer: Observer) -> None:
        self._pool = pool
        self._observer = observer

    async def leave(self, session_id: str, request_id: RequestId) -> None:
        """Tell the others."""
        try:
            await self._pool.set(_key(session_id, request_id), b"1", MARK_TTL)
        except StoreError as error:
            self._failed(error)

    async def found(self, session_id: str, request_id: RequestId) -> bool:
        """Whether one of the others told."""
        try:
            return await self._pool.get(_key(session_id, request_id)) is not None
        except StoreError as error:
            self._failed(error)
            return False

    def _failed(self, error: StoreError) -> None:
        self._observer.event("session.store_error", operation="cancel", reason=str(error))


class Cancellations:
    """The running calls of this worker, by session and request; `marks` are for calls that others run."""

    def __init__(self, marks: Marks | None = None, every: float = EVERY) -> None:
        self._marks = marks
        self._every = every
        self._running: dict[tuple[str, RequestId], Callable[[], None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    def enter(self, session_id: str, request_id: RequestId, interrupt: Callable[[], None]) -> Callable[[], None]:
        """Note a call that runs; what is returned takes it out again."""
        key = (session_id, request_id)
        self._running[key] = interrupt
        self._wind()

        def leave() -> None:
            if self._running.get(key) is interrupt:
                del self._running[key]

        return leave

    async def cancel(self, session_id: str, request_id: RequestId) -> None:
        """Give up a call, wherever it runs; one that is over, or never was, is nobody's business."""
        interrupt = self._running.get((session_id, request_id))
        if interrupt is not None:
            interrupt()
        elif self._marks is not None:
            await self._marks.leave(session_id, request_id)

    def _wind(self) -> None:
        if self._marks is not None and self._timer is None and self._looking is None:
            self._timer = asyncio.get_running_loop().call_later(self._every, self._ring, self._marks)

    def _ring(self, marks: Marks) -> None:
        self._timer = None
        if self._running:
            self._looking = asyncio.get_running_loop().create_task(self._look(marks))

    async def _look(self, marks: Marks) -> None:
        """Interrupt the calls that another worker was told to give up."""
        try:
            for key in list(self._running):
                if await marks.found(*key) and (interrupt := self._running.get(key)):
                    interrupt()
        finally:
            self._looking = None
            if self._running:
                self._wind()


def _key(session_id: str, request_id: RequestId) -> str:
    return "rpcgw_cancelled_" + sha256(session_id.encode() + b"\n" + encode(request_id)).hexdigest()[:32]
