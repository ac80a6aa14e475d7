"""One Redis as stores and queues ask it: bounded in time and connections, and left alone while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from redis.asyncio import RedisCluster
from redis.exceptions import ClusterDownError, RedisClusterException, RedisError, ResponseError

from rpcgw.adapters.redis.clients import Client, client_for
from rpcgw.adapters.redis.outage import LONGEST_PAUSE, Outage
from rpcgw.config.redisaddress import redis_address
from rpcgw.kernel.ports import StoreError

Answer = TypeVar("Answer")


class RedisServer:
    """Redis away, frozen, full or refusing is a `StoreError` within the timeout. A broken connection is replaced.

    Args:
        url: See `rpcgw.config.redisaddress`. Raises `ValueError` where it is none.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds to a server at most; commands wait for their turn.
    """

    def __init__(self, url: str, timeout: float, connections: int) -> None:
        address = redis_address(url)
        self.is_cluster = address.kind == "cluster"
        self._timeout = timeout
        self._turns = asyncio.Semaphore(connections)
        self._outage = Outage()
        self.client: Final = client_for(address, timeout, connections)

    async def ask(self, command: Callable[[Client], Awaitable[Answer]], within: float | None = None) -> Answer:
        """What a command answers, `within` so many seconds instead of the timeout.

        Raises:
            StoreError: It does not, or refuses.
        """
        outage, seconds = self._outage, within or self._timeout
        if not outage.admits(monotonic(), seconds):
            raise StoreError(f"Redis: away; it is asked again within {LONGEST_PAUSE:g} s")
        try:
            async with asyncio.timeout(seconds), self._turns:
                if outage.away:
                    await self._forget()
                answer = await command(self.client)
        except TimeoutError as error:
            outage.failed(monotonic())
            raise StoreError(f"Redis: no answer within {seconds:g} s") from error
        except (RedisError, RedisClusterException, OSError) as error:
            if _is_refusal(error):
                outage.answered()
            else:
                outage.failed(monotonic())
            raise StoreError(f"Redis: {str(error) or type(error).__name__}") from error
        outage.answered()
        return answer

    async def _forget(self) -> None:
        """Close what lies idle: it leads to a server that does not answer, or is the master no more."""
        if isinstance(self.client, RedisCluster):
            await _disperse(self.client)
        else:
            await self.client.connection_pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Close every connection."""
        try:
            async with asyncio.timeout(self._timeout):
                if isinstance(self.client, RedisCluster):
                    await _disperse(self.client)
                else:
                    await self.client.aclose(close_connection_pool=True)
        except (TimeoutError, RedisError, OSError) as error:
            raise StoreError(f"Redis: {str(error) or type(error).__name__}") from error


async def _disperse(cluster: RedisCluster) -> None:
    """Close every connection; the next command looks for the nodes anew."""
    await cluster.aclose()
    # After an error it takes itself for closed, and is not.
    for nodes in ("nodes_cache", "startup_nodes"):
        await cluster.nodes_manager.aclose(nodes)


def _is_refusal(error: Exception) -> bool:
    """Whether an error is an answer of a server that is well."""
    return isinstance(error, ResponseError) and not isinstance(error, ClusterDownError)
