"""A pool in Redis, shared by hosts. Keys are exactly as given (C-21); every command is one round trip.

Redis away, frozen, full or refusing is a `StoreError` within the timeout, and a command is not repeated, so that nobody
waits twice. A broken connection is replaced by the next command.

One timeout stands around the whole command, redis-py's own are off: its `socket_timeout` costs two more timers a
command, and on Python 3.11 it loses a cancellation that arrives in the same turn as the bytes are sent. RESP 2, because
a pool that speaks RESP 3 does not notice at check-out that an idle connection was closed by a restarted server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from rpcgw.kernel.ports import StoreError

_DELETE_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TOUCH_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
_GLOB = str.maketrans({character: f"\\{character}" for character in "*?[]^\\"})
_UNBOUNDED: dict[str, Any] = {"timeout": None, "socket_timeout": None, "socket_connect_timeout": None}

_Answer = TypeVar("_Answer")


class RedisPool:
    """`rpcgw.kernel.ports.Pool` over one Redis server (7.0 or later is what is tested).

    Args:
        url: `redis://[user:password@]host[:port][/database]` or `unix://[user:password@]/path?db=N`.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds at most.
    """

    def __init__(self, url: str, timeout: float = 1.0, connections: int = 32) -> None:
        self._timeout = timeout
        self._redis = Redis(
            connection_pool=BlockingConnectionPool.from_url(
                url, max_connections=connections, protocol=2, retry=Retry(NoBackoff(), 0), **_UNBOUNDED
            )
        )

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        return cast("bytes | None", await self._ask(self._redis.get(key)))

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of several keys, in one round trip."""
        return cast("list[bytes | None]", await self._ask(self._redis.mget(keys)))

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds."""
        await self._ask(self._redis.set(key, value, px=_millis(ttl)))

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; of any number of hosts one is told that it did."""
        return bool(await self._ask(self._redis.set(key, value, px=_millis(ttl), nx=True)))

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        return bool(await self._ask(self._redis.pexpire(key, _millis(ttl))))

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        return bool(await self._ask(self._redis.delete(key)))

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        return await self._script(_DELETE_IF, key, value)

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        return await self._script(_TOUCH_IF, key, value, _millis(ttl))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so; scans the whole database, a thousand keys at a time."""
        pattern = f"{prefix.translate(_GLOB)}*"
        found: set[bytes] = set()
        cursor = -1
        while cursor:
            cursor, page = await self._ask(self._redis.scan(max(0, cursor), match=pattern, count=1000))
            found.update(cast("list[bytes]", page))
        return [key.decode("utf-8", "surrogateescape") for key in found]

    async def ping(self) -> None:
        """Raise `StoreError` where Redis does not answer."""
        await self._ask(self._redis.ping())

    async def close(self) -> None:
        """Close every connection."""
        await self._ask(self._redis.aclose(close_connection_pool=True))

    async def _script(self, script: str, key: str, *arguments: bytes | int) -> bool:
        # EVAL, not EVALSHA: the scripts are as short as their hash is long, and a restarted Redis knows no hashes.
        ran = self._redis.eval(script, 1, key, *cast("tuple[str]", arguments))
        return bool(await self._ask(cast("Awaitable[int]", ran)))

    async def _ask(self, command: Awaitable[_Answer]) -> _Answer:
        try:
            async with asyncio.timeout(self._timeout):
                return await command
        except TimeoutError as error:
            raise StoreError(f"Redis: no answer within {self._timeout:g} s") from error
        except (RedisError, OSError) as error:
            raise StoreError(f"Redis: {str(error) or type(error).__name__}") from error


def _millis(ttl: float) -> int:
    return max(1, int(ttl * 1000))
