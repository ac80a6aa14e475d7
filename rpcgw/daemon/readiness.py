"""What `/readyz?verbose` lists: the generation, the configuration on disk, plugins, pools."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from rpcgw.daemon.compiled import Part
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Clock, Pool, StoreError

KEPT: Final = 1.0
"""Seconds for which a look at the pools is good: however often somebody asks, a pool is asked once."""
PATIENCE: Final = 2.0
"""Seconds that a pool has for an answer."""


class Readiness:
    """The parts of one worker. Only a pool that is required makes it not ready.

    `reloaded` tells it whether the last reload succeeded: an old generation serves as well as a new one, so that part
    is never required.
    """

    def __init__(self, gateway: Gateway, generation: int, pools: Mapping[str, Pool], clock: Clock) -> None:
        self._gateway = gateway
        self._generation = generation
        self._pools = pools
        self._clock = clock
        self._refused = False
        self._looking = asyncio.Lock()
        self._seen: Sequence[Part] = ()
        self._until = 0.0

    def reloaded(self, success: bool) -> None:  # noqa: FBT001 -- as the worker is told
        """The last reload's outcome."""
        self._refused = not success

    async def parts(self) -> Sequence[Part]:
        """Every part as it is now, pools as they were a moment ago."""
        async with self._looking:
            if self._clock.monotonic() >= self._until:
                self._seen = await asyncio.gather(*(self._pool(name) for name in self._pools))
                self._until = self._clock.monotonic() + KEPT
        detail = "the last reload was refused; the log says why" if self._refused else ""
        return [
            Part("generation", ready=True, detail=str(self._generation)),
            Part("configuration", ready=not self._refused, detail=detail),
            *(
                Part(f"plugin:{plugin.name}", ready=plugin.state == "loaded", detail=plugin.reason)
                for plugin in self._gateway.plugins
            ),
            *self._seen,
        ]

    async def _pool(self, name: str) -> Part:
        required = self._gateway.settings.pools[name].required
        try:
            async with asyncio.timeout(PATIENCE):
                await self._pools[name].ping()
        except StoreError as error:
            return Part(f"pool:{name}", ready=False, detail=str(error), required=required)
        except TimeoutError:
            return Part(f"pool:{name}", ready=False, detail=f"no answer within {PATIENCE:g} s", required=required)
        return Part(f"pool:{name}", ready=True, required=required)
