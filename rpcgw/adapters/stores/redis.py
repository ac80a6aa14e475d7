"""A pool in Redis, shared by hosts. Keys are exactly as given (C-21); every command is one round trip.

What a Redis that is away means to it, see `rpcgw.adapters.redis.server`. In a Cluster each key has its own place: what
asks for several is one round trip to each node, and what looks for keys asks every master.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from redis.asyncio import RedisCluster

from rpcgw.adapters.redis.clients import Client
from rpcgw.adapters.redis.news import WITHDRAWN, RedisNews, masters
from rpcgw.adapters.redis.server import RedisServer

_WITHDRAW = "local n = redis.call('DEL', KEYS[1]) redis.pcall('PUBLISH', ARGV[1], KEYS[1]) return n"
_DELETE_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TOUCH_IF = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
_LOOK = "local v = redis.call('GET', KEYS[1]) return v and {v, redis.call('PTTL', KEYS[1])}"
_NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
# An index that nobody has touched for a day after its last member's end is nobody's any more.
_ENLIST = _NOW + (
    "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) "
    "local rest = ARGV[2] + 86400000 "
    "if redis.call('PTTL', KEYS[1]) < rest then redis.call('PEXPIRE', KEYS[1], rest) end"
)
_CENSUS = _NOW + (
    "local lapsed = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) return {redis.call('ZCARD', KEYS[1]), lapsed}"
)
_GLOB = str.maketrans({character: f"\\{character}" for character in "*?[]^\\"})


class RedisPool:
    """`rpcgw.kernel.ports.Pool` over Redis (7.0 or later is what is tested).

    Args:
        url: See `rpcgw.config.redisaddress`.
        timeout: Seconds for a command, the wait for a connection included.
        connections: How many connections a process holds to a server at most.
    """

    def __init__(self, url: str, timeout: float = 1.0, connections: int = 32) -> None:
        self._server = RedisServer(url, timeout, connections)

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        return cast("bytes | None", await self._server.ask(lambda redis: redis.get(key)))

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of several keys, in one round trip."""
        return cast("list[bytes | None]", await self._server.ask(lambda redis: _values(redis, keys)))

    async def look(self, key: str) -> tuple[bytes, float] | None:
        """The value and the seconds that it still lives."""
        found = await self._run(_LOOK, key)
        return None if found is None else (found[0], found[1] / 1000)

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds."""
        await self._server.ask(lambda redis: redis.set(key, value, px=_millis(ttl)))

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; of any number of hosts one is told that it did."""
        return bool(await self._server.ask(lambda redis: redis.set(key, value, px=_millis(ttl), nx=True)))

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        return bool(await self._server.ask(lambda redis: redis.pexpire(key, _millis(ttl))))

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        return bool(await self._server.ask(lambda redis: redis.delete(key)))

    async def withdraw(self, key: str) -> bool:
        """Remove a value, and tell all who listen; where the user may not publish, nobody is told."""
        return await self._script(_WITHDRAW, key, WITHDRAWN)

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        return await self._script(_DELETE_IF, key, value)

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        return await self._script(_TOUCH_IF, key, value, _millis(ttl))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so; scans the whole database, a thousand keys at a time."""
        pattern = f"{prefix.translate(_GLOB)}*"
        nodes = await self._server.ask(masters)
        found: set[bytes] = set()
        for node in nodes:
            cursor = -1
            while cursor:
                cursor, page = await self._server.ask(_page(node, max(0, cursor), pattern))
                found.update(page)
        return [key.decode("utf-8", "surrogateescape") for key in found]

    async def enlist(self, index: str, member: str, ttl: float) -> None:
        """Note in an index that a member lives `ttl` seconds from now, by the server's clock."""
        await self._run(_ENLIST, index, member, _millis(ttl))

    async def strike(self, index: str, member: str) -> None:
        """Take a member out of an index."""
        await self._server.ask(lambda redis: redis.zrem(index, member))

    async def census(self, index: str) -> tuple[int, int]:
        """How many members live, and how many ceased to; takes no longer for those that live."""
        living, lapsed = await self._run(_CENSUS, index)
        return living, lapsed

    def news(self) -> RedisNews:
        """How to hear what others withdraw."""
        return RedisNews(self._server)

    async def ping(self) -> None:
        """Raise `StoreError` where Redis does not answer; of a Cluster, where a master does not."""
        await self._server.ask(_ping)

    async def close(self) -> None:
        """Close every connection."""
        await self._server.close()

    async def _script(self, script: str, key: str, *arguments: str | bytes | int) -> bool:
        return bool(await self._run(script, key, *arguments))

    async def _run(self, script: str, key: str, *arguments: str | bytes | int) -> Any:
        # EVAL, not EVALSHA: the scripts are as short as their hash is long, and a restarted Redis knows no hashes.
        return await self._server.ask(lambda redis: redis.eval(script, 1, key, *cast("tuple[str]", arguments)))


def _values(redis: Client, keys: Sequence[str]) -> Awaitable[Any]:
    return redis.mget_nonatomic(keys) if isinstance(redis, RedisCluster) else redis.mget(keys)


def _page(node: Any, cursor: int, pattern: str) -> Callable[[Client], Awaitable[tuple[int, list[bytes]]]]:
    async def ask(redis: Client) -> tuple[int, list[bytes]]:
        where: Any = {} if node is None else {"target_nodes": node}
        answer: Any = await redis.scan(cursor, match=pattern, count=1000, **where)
        following, page = answer
        return (following if node is None else following[node.name]), page

    return ask


async def _ping(redis: Client) -> None:
    if isinstance(redis, RedisCluster):
        await redis.ping(target_nodes=RedisCluster.PRIMARIES)
    else:
        await redis.ping()


def _millis(ttl: float) -> int:
    return max(1, int(ttl * 1000))
