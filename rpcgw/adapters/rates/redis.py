"""A limiter over Redis, shared by hosts: the `limits` library's own storage, with a timeout around each command."""

from __future__ import annotations

import asyncio
import hashlib
import math
from typing import Final

from limits.aio.storage import RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from rpcgw.adapters.rates.shared import item_of
from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import StoreError
from rpcgw.kernel.rates import seconds_until_free

PREFIX: Final = "rpcgw:limits"
_KEY: Final = 16


class RedisLimiter:
    """`rpcgw.kernel.ports.Limiter` over one Redis. Keys are hashes: who was counted does not stand in Redis.

    Args:
        url: As `pools.<name>.url` has it.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds at most.
    """

    def __init__(self, url: str, timeout: float = 1.0, connections: int = 16) -> None:
        self._timeout = timeout
        self._pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            timeout=None,
            socket_timeout=None,
            socket_connect_timeout=None,
        )
        self._storage = RedisStorage(
            "async+redis://",
            implementation="redispy",
            key_prefix=PREFIX,
            connection_pool=self._pool,  # type: ignore[arg-type]  # the library hands it on
        )
        self._window = SlidingWindowCounterRateLimiter(self._storage)

    async def hit(self, rate: Rate, *key: str) -> float:
        """Count one, if that is within the rate; see the port."""
        item, hidden = item_of(rate), _hidden(key)
        try:
            async with asyncio.timeout(self._timeout):
                if await self._window.hit(item, hidden):
                    return 0.0
                window = await self._storage.get_sliding_window(item.key_for(hidden), rate.seconds)
        except TimeoutError as error:
            raise StoreError(f"Redis: no answer within {self._timeout:g} s") from error
        except (RedisError, OSError) as error:
            raise StoreError(f"Redis: {str(error) or type(error).__name__}") from error
        previous, _, current, ends = window
        # Windows of Redis begin with the first hit; what is left of this one is what it lives beyond one window more.
        left = max(ends - rate.seconds, 0.0)
        return max(seconds_until_free(rate, int(previous), int(current), left), math.ulp(1.0))

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.disconnect()


def _hidden(key: tuple[str, ...]) -> str:
    return hashlib.blake2b("/".join(key).encode("utf-8", "surrogatepass"), digest_size=_KEY).hexdigest()
