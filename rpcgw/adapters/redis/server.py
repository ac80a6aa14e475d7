"""One Redis as stores and queues ask it: bounded in time and connections, and left alone while it is away."""

from __future__ import annotations

import asyncio
import logging
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
_log = logging.getLogger("rpcgw.redis")


class RedisServer:
    """Redis away, frozen, full or refusing is a `StoreError` within the timeout. A broken connection is replaced.

    Args:
        url: See `rpcgw.config.redisaddress`. Raises `ValueError` where it is none.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds to a server at most; commands wait for their turn.
    """

    def __init__(self, url: str, timeout: float, connections: int) -> None:
        address = redis_address(url, strict=False)  # the configuration was checked
        self.is_cluster = address.kind == "cluster"
        self.timeout = timeout
        self._turns = asyncio.Semaphore(connections)
        self._outage = Outage()
        self._why = ""
        self.name = ", ".join(f"{host}:{port}" for host, port in address.nodes) or address.path
        self.client: Final = client_for(address, timeout, connections)

    async def ask(self, command: Callable[[Client], Awaitable[Answer]], within: float | None = None) -> Answer:
        """What a command answers, `within` so many seconds instead of the timeout.

        Raises:
            StoreError: It does not, or refuses.
        """
        outage, seconds = self._outage, within or self.timeout
        if not outage.admits(monotonic(), seconds):
            raise StoreError(f"Redis: away, and asked again within {LONGEST_PAUSE:g} s ({self._why})")
        try:
            async with asyncio.timeout(seconds), self._turns:
                if outage.away:
                    await self._forget()
                answer = await command(self.client)
        except TimeoutError as error:
            raise self._failed(f"no answer within {seconds:g} s") from error
        except (RedisError, RedisClusterException, OSError) as error:
            why = str(error) or type(error).__name__
            if not _is_refusal(error):
                raise self._failed(why) from error
            self._answered()
            raise StoreError(f"Redis: {why}") from error
        self._answered()
        return answer

    def _answered(self) -> None:
        if self._outage.away:
            _log.warning("Redis at %s is back", self.name)
        self._outage.answered()

    def _failed(self, why: str) -> StoreError:
        """Note that there was no answer; the beginning of an outage is logged once."""
        was_away, self._why = self._outage.away, why
        self._outage.failed(monotonic())
        if self._outage.away and not was_away:
            _log.warning("Redis at %s is away: %s", self.name, why)
        return StoreError(f"Redis: {why}")

    async def _forget(self) -> None:
        """Close what lies idle: it leads to a server that does not answer, or is the master no more."""
        if isinstance(self.client, RedisCluster):
            await _disperse(self.client)
        else:
            await self.client.connection_pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Close every connection."""
        try:
            async with asyncio.timeout(self.timeout):
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
