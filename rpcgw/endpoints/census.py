"""How many MCP sessions live, and how many ended unused: an index in the pool, beside the sessions themselves.

It is told when a session begins, lives on, or ends. It tells what nobody else sees: that the time of one was over.
"""

from __future__ import annotations

from typing import Final

from rpcgw.kernel.ports import Clock, Observer, Pool, StoreError
from rpcgw.protocol.mcp.sessions import index

EVERY: Final = 60.0
"""Seconds after which a group that gets new sessions is counted though nobody asks: no index grows for ever."""


class Census:
    """The numbers of every group's sessions. A store that is away is told, and no session fails for its index."""

    def __init__(self, pool: Pool, clock: Clock, observer: Observer) -> None:
        self._pool = pool
        self._clock = clock
        self._observer = observer
        self._counted: dict[str, float] = {}

    async def enlist(self, group: str, session_id: str, ttl: float) -> None:
        """A session lives `ttl` seconds from now."""
        try:
            await self._pool.enlist(index(group), session_id, ttl)
            if self._clock.monotonic() >= self._counted.setdefault(group, self._clock.monotonic()) + EVERY:
                await self.count(group)
        except StoreError as error:
            self._failed(error)

    async def strike(self, group: str, session_id: str) -> None:
        """A session was ended."""
        try:
            await self._pool.strike(index(group), session_id)
        except StoreError as error:
            self._failed(error)

    async def count(self, group: str) -> int:
        """How many sessions of a group live. Raises `StoreError`."""
        living, lapsed = await self._pool.census(index(group))
        self._counted[group] = self._clock.monotonic()
        if lapsed:
            self._observer.event("session.expired", group=group, count=lapsed)
        return living

    def _failed(self, error: StoreError) -> None:
        self._observer.event("session.store_error", operation="index", reason=str(error))
