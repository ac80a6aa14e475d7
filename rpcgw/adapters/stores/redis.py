"""A pool in Redis, shared by hosts. Keys are exactly as given (C-21); every command is one round trip.

Redis away, frozen, full or refusing is a `StoreError` within a second or so: sockets and the wait for a connection have
limits, and a command is not repeated, so that nobody waits twice. A broken connection is replaced by the next command.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from rpcgw.kernel.ports import StoreError

_DELETE_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TOUCH_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
_GLOB = str.maketrans({character: f"\\{character}" for character in "*?[]^\\"})


class RedisPool:
    """`rpcgw.kernel.ports.Pool` over one Redis server (7.0 or later is what is tested).

    Args:
        url: `redis://[user:password@]host[:port][/database]` or `unix://[user:password@]/path?db=N`.
        timeout: Seconds for a connection to be made or to come free, and for an answer.
        connections: How many connections a process holds at most.
    """

    def __init__(self, url: str, timeout: float = 1.0, connections: int = 32) -> None:
        self._redis = Redis(
            connection_pool=BlockingConnectionPool.from_url(
                url,
                max_connections=connections,
                timeout=timeout,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=Retry(NoBackoff(), 0),
            )
        )

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        with _store_errors():
            return cast("bytes | None", await self._redis.get(key))

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds."""
        with _store_errors():
            await self._redis.set(key, value, px=_millis(ttl))

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; of any number of hosts one is told that it did."""
        with _store_errors():
            return bool(await self._redis.set(key, value, px=_millis(ttl), nx=True))

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        with _store_errors():
            return bool(await self._redis.pexpire(key, _millis(ttl)))

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        with _store_errors():
            return bool(await self._redis.delete(key))

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        return await self._script(_DELETE_IF, key, value)

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        return await self._script(_TOUCH_IF, key, value, _millis(ttl))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so; scans the whole database, a thousand keys at a time."""
        pattern = f"{prefix.translate(_GLOB)}*"
        with _store_errors():
            found = {key async for key in self._redis.scan_iter(match=pattern, count=1000)}
        return [key.decode("utf-8", "surrogateescape") for key in found]

    async def ping(self) -> None:
        """Raise `StoreError` where Redis does not answer."""
        with _store_errors():
            await self._redis.ping()

    async def close(self) -> None:
        """Close every connection."""
        with _store_errors():
            await self._redis.aclose(close_connection_pool=True)

    async def _script(self, script: str, key: str, *arguments: bytes | int) -> bool:
        # EVAL, not EVALSHA: the scripts are as short as their hash is long, and a restarted Redis knows no hashes.
        with _store_errors():
            return bool(await cast("Awaitable[int]", self._redis.eval(script, 1, key, *cast("tuple[str]", arguments))))


def _millis(ttl: float) -> int:
    return max(1, int(ttl * 1000))


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreError(f"Redis: {str(error) or type(error).__name__}") from error
