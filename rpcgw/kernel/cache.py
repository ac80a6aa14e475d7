"""The result cache: encoded results over a pool, shared by all workers and hosts of the pool.

Every method has a *generation* in the pool, a random token, and every entry carries the one that it was made under. An
entry counts only while its method's generation is the same. Dropping all results of a method is thus one write, for
every process, group and version at once; and a slow call that read old data before the drop cannot bring it back, since
what it stores carries the old generation. Deleting by prefix would have neither property. A generation that is lost
(expired, evicted) is replaced by another, so that old entries never count again.

A broken pool is a miss, and so is an entry that is damaged or belongs to another key: the observer is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from rpcgw.kernel.call import Call
from rpcgw.kernel.codec import NoJsonForm
from rpcgw.kernel.keys import DIGEST_SIZE, canonical, digest
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Ids, Observer, Pool, StoreError

GENERATION_TTL = 7 * 86400.0
"""Seconds that a generation is kept; losing it costs misses and nothing else."""

_MAGIC = b"RGC1"


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How one method's results are kept, in one group and version.

    `seed` tells apart what parameters do not: group, version, and the schemas, so that code with another result type
    never answers with what its forerunner stored.
    """

    method: str
    ttl: float
    vary: tuple[str, ...]
    seed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A kept result's JSON."""

    encoded: bytes


@dataclass(frozen=True, slots=True)
class Miss:
    """Where the result goes once it is there; `generation` is None where the pool could not give one."""

    key: str
    params: bytes
    generation: bytes | None


def cache_policy(method: Method, group: str, environment: str, ttl: float | None) -> CachePolicy | None:
    """A method's policy, or None where its results are not kept; `ttl` is the operator's, 0 switches off."""
    mark = method.cache
    seconds = mark.ttl if mark is not None and ttl is None else ttl
    if mark is None or environment not in mark.environments or not seconds or seconds < 0:
        return None
    schemas = digest(method.input_schema + b"\0" + (method.output_schema or b""))
    return CachePolicy(method.name, seconds, mark.vary, (group, str(method.version), schemas))


class ResultCache:
    """Results over a pool; `prefix` stands before every key (C-21)."""

    def __init__(self, pool: Pool, ids: Ids, observer: Observer, prefix: str) -> None:
        self._pool = pool
        self._ids = ids
        self._observer = observer
        self._prefix = prefix

    async def read(self, policy: CachePolicy, call: Call, bound: dict[str, Any]) -> Hit | Miss:
        """What is kept for a call with these bound parameters, defaults included. Never raises for the pool's sake."""
        try:
            params = canonical(bound)
            key = self._key(policy, call, params)
        except NoJsonForm:
            # Not from a body: the gate is about to refuse it.
            return Miss("", b"", None)
        try:
            generation = await self._generation(policy.method)
            raw = None if call.ignore_cache else await self._pool.get(key)
        except StoreError as error:
            self._failed("read", policy.method, error)
            return Miss(key, params, None)
        if raw is not None and (encoded := self._open(policy.method, key, raw, generation)) is not None:
            return Hit(encoded)
        self._observer.event("cache.miss", method=policy.method)
        return Miss(key, params, generation)

    async def write(self, policy: CachePolicy, miss: Miss, encoded: bytes) -> None:
        """Keep a result where a miss said that it goes."""
        if miss.generation is None:
            return
        body = msgspec.msgpack.encode((miss.generation, miss.params, encoded))
        try:
            await self._pool.set(miss.key, _MAGIC + _seal(miss.key, body) + body, policy.ttl)
        except StoreError as error:
            self._failed("write", policy.method, error)

    async def invalidate(self, methods: Iterable[str]) -> None:
        """Drop every kept result of these methods, in all groups and versions."""
        for method in methods:
            try:
                await self._pool.set(self._generation_key(method), self._ids.token().encode(), GENERATION_TTL)
            except StoreError as error:
                self._failed("invalidate", method, error)

    async def _generation(self, method: str) -> bytes:
        key = self._generation_key(method)
        while (generation := await self._pool.get(key)) is None:
            fresh = self._ids.token().encode()
            if await self._pool.add(key, fresh, GENERATION_TTL):
                return fresh
        return generation

    def _generation_key(self, method: str) -> str:
        return f"{self._prefix}:{method}:generation"

    def _key(self, policy: CachePolicy, call: Call, params: bytes) -> str:
        varied = [_varied(call, name) for name in policy.vary]
        return f"{self._prefix}:{policy.method}:{digest(canonical([*policy.seed, *varied]) + params)}"

    def _open(self, method: str, key: str, raw: bytes, generation: bytes) -> bytes | None:
        start = len(_MAGIC) + DIGEST_SIZE
        body = raw[start:]
        if raw[:start] != _MAGIC + _seal(key, body):
            self._observer.event("cache.damaged", method=method, key=key)
            return None
        kept, _params, encoded = msgspec.msgpack.decode(body, type=tuple[bytes, bytes, bytes])
        return encoded if kept == generation else None

    def _failed(self, action: str, method: str, error: StoreError) -> None:
        self._observer.event("cache.error", action=action, method=method, error=str(error))


def _seal(key: str, body: bytes) -> bytes:
    """What shows that a body is whole, and that it was stored under this key."""
    return blake2b(body, digest_size=DIGEST_SIZE, key=blake2b(key.encode(), digest_size=32).digest()).digest()


def _varied(call: Call, name: str) -> str | None:
    if name == "locale":
        return call.locale
    if name == "principal":
        return call.principal.name
    return call.headers.get(name.removeprefix("header:").lower())
