"""A limiter over Redis, shared by hosts: the `limits` library's own storage, over a client as pools have it."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final

from limits.aio.storage import RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from rpcgw.adapters.rates.shared import item_of
from rpcgw.adapters.redis.clients import Client
from rpcgw.adapters.redis.server import RedisServer
from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import Counts
from rpcgw.kernel.rates import seconds_until_free

PREFIX: Final = "rpcgw:limits"
_KEY: Final = 16


class RedisLimiter:
    """`rpcgw.kernel.ports.Limiter` over Redis. Keys are hashes: who was counted does not stand in Redis.

    Args:
        url: As `pools.<name>.url` has it.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds at most.
    """

    def __init__(self, url: str, timeout: float = 1.0, connections: int = 16) -> None:
        self._server = RedisServer(url, timeout, connections)
        self._storage = _Storage(self._server.client)
        self._window = SlidingWindowCounterRateLimiter(self._storage)

    async def hit(self, rate: Rate, *key: str) -> float:
        """Count one, if that is within the rate; see the port."""
        return await self._server.ask(lambda _: self._hit(rate, _hidden(key)))

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        """Count one of each; see the port."""
        for number, (rate, key) in enumerate(counts.counted):
            if wait := await self.hit(rate, *key):
                return number, wait
        return len(counts.counted), 0.0

    async def _hit(self, rate: Rate, key: str) -> float:
        item = item_of(rate)
        if await self._window.hit(item, key):
            return 0.0
        previous, _, current, ends = await self._storage.get_sliding_window(item.key_for(key), rate.seconds)
        # Windows of Redis begin with the first hit; what is left of this one is what it lives beyond one window more.
        left = max(ends - rate.seconds, 0.0)
        return max(seconds_until_free(rate, int(previous), int(current), left), math.ulp(1.0))

    async def close(self) -> None:
        """Close every connection."""
        await self._server.close()


class _Storage(RedisStorage):
    """The library's storage over a client of ours; its two keys of a rate are on one node of a Cluster."""

    STORAGE_SCHEME = None  # type: ignore[assignment]  # not to be found by URL

    def __init__(self, client: Client) -> None:
        self._client = client
        super().__init__("async+redis://", implementation="redispy", key_prefix=PREFIX)

    def configure_bridge(self) -> None:
        """Use that client."""
        bridge: Any = self.bridge
        bridge.storage = self._client
        bridge.connection_getter = lambda _: self._client


def _hidden(key: tuple[str, ...]) -> str:
    return hashlib.blake2b("/".join(key).encode("utf-8", "surrogatepass"), digest_size=_KEY).hexdigest()
