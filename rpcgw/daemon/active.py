"""How many MCP sessions live: counted in the pool when somebody scrapes, since no process sees them all."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Final

from rpcgw.adapters.telemetry.collector import rendered
from rpcgw.adapters.telemetry.families import SESSIONS_ACTIVE
from rpcgw.daemon.compiled import Scrape
from rpcgw.kernel.ports import Clock, Pool, StoreError

_PREFIX: Final = "ufo_mcp_"
_KEPT: Final = 10.0
"""Seconds for which a count is good: counting looks at every key of the pool."""
_PATIENCE: Final = 2.0
"""Seconds that a scrape waits for a count; it is left out of one that would wait longer."""


class ActiveSessions:
    """The gauge `rpcgw_sessions_active`, by group."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._text = b""
        self._until = 0.0

    def beside(self, scrape: Scrape | None) -> Scrape | None:
        """A scrape that tells this too."""
        if scrape is None:
            return None
        read = scrape.read

        async def both() -> bytes:
            return await read() + await self._read()

        return replace(scrape, read=both)

    async def _read(self) -> bytes:
        if self._clock.monotonic() >= self._until:
            try:
                async with asyncio.timeout(_PATIENCE):
                    keys = await self._pool.keys(_PREFIX)
            except (StoreError, TimeoutError):
                return b""
            groups = Counter(key.removeprefix(_PREFIX).rpartition("_")[0] for key in keys)
            self._text = rendered(SESSIONS_ACTIVE, {(group,): count for group, count in groups.items()})
            self._until = self._clock.monotonic() + _KEPT
        return self._text
