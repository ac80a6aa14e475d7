"""How many MCP sessions live: asked of the pool's index when somebody scrapes, since no process sees them all."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from rpcgw.adapters.telemetry.collector import rendered
from rpcgw.adapters.telemetry.families import SESSIONS_ACTIVE
from rpcgw.daemon.compiled import Scrape
from rpcgw.endpoints.census import Census
from rpcgw.kernel.ports import Clock, StoreError

_KEPT: Final = 1.0
"""Seconds for which a count is good."""
_PATIENCE: Final = 2.0
"""Seconds that a scrape waits for a count; it is left out of one that would wait longer."""


class ActiveSessions:
    """The gauge `rpcgw_sessions_active`, by group; asking also finds out which sessions have expired."""

    def __init__(self, census: Census, groups: Collection[str], clock: Clock) -> None:
        self._census = census
        self._groups = sorted(groups)
        self._clock = clock
        self._counts: Mapping[tuple[str, ...], float] = {}
        self._until = 0.0

    def beside(self, scrape: Scrape | None) -> Scrape | None:
        """A scrape that tells this too."""
        if scrape is None:
            return None
        read = scrape.read

        async def both(*, openmetrics: bool) -> bytes:
            counts = await self._read()  # first: it counts what has expired
            active = b"" if counts is None else rendered(SESSIONS_ACTIVE, counts, openmetrics=openmetrics)
            return await read(openmetrics=openmetrics) + active

        return replace(scrape, read=both)

    async def _read(self) -> Mapping[tuple[str, ...], float] | None:
        """How many there are by group; None where nobody can say."""
        if self._clock.monotonic() >= self._until:
            try:
                async with asyncio.timeout(_PATIENCE):
                    counts = {group: await self._census.count(group) for group in self._groups}
            except (StoreError, TimeoutError):
                return None
            self._counts = {(group,): count for group, count in counts.items()}
            self._until = self._clock.monotonic() + _KEPT
        return self._counts
