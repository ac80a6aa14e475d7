"""The result cache: encoded results over a pool, shared by all workers and hosts of the pool.

Every method has a *generation* in the pool, a random token, and so has every tag of a result (see `relations`). An
entry carries the tokens that it was made under, its *stamp*, and counts only while all of them are the same. Dropping
all results of a method, or those of a tag, is thus one deletion, for every process, group and version at once; and a
slow call that read old data before the drop cannot bring it back, since what it stores carries the old stamp. Deleting
by prefix would have neither property. A token that is lost (expired, evicted) is replaced by another, so that old
entries never count again.

An entry and its tokens are read together: a hit is one round trip. A broken pool is a miss, and so is an entry that is
damaged or belongs to another key: the observer is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from rpcgw.api.records import record
from rpcgw.kernel.call import Call
from rpcgw.kernel.codec import NoJsonForm
from rpcgw.kernel.keys import DIGEST_SIZE, canonical, credential, digest
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Ids, Observer, Pool, StoreError
from rpcgw.kernel.relations import Drop, Tag

GENERATION_TTL = 7 * 86400.0
"""Seconds that a generation is kept; losing it costs misses and nothing else."""

_MAGIC = b"RGC2"
_entry = msgspec.msgpack.Decoder(tuple[bytes, bytes, bytes])


@record(frozen=True, slots=True)
class CachePolicy:
    """How one method's results are kept, in one group and version.

    `seed` tells apart what parameters do not: group, version, and the schemas, so that code with another result type
    never answers with what its forerunner stored. `tags` are what results can be dropped by, beside all at once.
    """

    method: str
    ttl: float
    vary: tuple[str, ...]
    seed: bytes
    tags: tuple[Tag, ...] = ()


@record(frozen=True, slots=True)
class Hit:
    """A kept result's JSON."""

    encoded: bytes


class Slot(msgspec.Struct, frozen=True):
    """Where a call's result is kept: the entry's key, and those of the tokens that it counts with."""

    key: str
    tokens: tuple[str, ...]
    params: bytes


class Miss(msgspec.Struct, frozen=True):
    """Where the result goes once it is there; `stamp` is None where the pool could not give one."""

    slot: Slot
    stamp: bytes | None


NOWHERE = Miss(Slot("", (), b""), None)
"""A result that is not kept."""


def cache_policy(
    method: Method, group: str, environment: str, ttl: float | None, tags: tuple[Tag, ...] = ()
) -> CachePolicy | None:
    """A method's policy, or None where its results are not kept; `ttl` is the operator's, 0 switches off."""
    mark = method.cache
    seconds = mark.ttl if mark is not None and ttl is None else ttl
    if mark is None or environment not in mark.environments or not seconds or seconds < 0:
        return None
    schemas = digest(method.input_schema + b"\0" + (method.output_schema or b""))
    seed = canonical([group, method.version, schemas])
    return CachePolicy(method.name, seconds, mark.vary, seed, tags)


class ResultCache:
    """Results over a pool; `prefix` stands before every key (C-21)."""

    def __init__(self, pool: Pool, ids: Ids, observer: Observer, prefix: str) -> None:
        self._pool = pool
        self._ids = ids
        self._observer = observer
        self._prefix = prefix
        self.invalidations = 0
        """How often this process has dropped results: what tells calls apart while the pool is away."""

    async def read(self, policy: CachePolicy, call: Call, bound: dict[str, Any]) -> Hit | Miss:
        """What is kept for a call with these bound parameters, defaults included. Never raises for the pool's sake."""
        try:
            slot = self._slot(policy, call, bound)
        except NoJsonForm:
            # Not from a body: the gate is about to refuse it.
            return NOWHERE
        return await self.look(policy, slot, fresh=call.ignore_cache)

    async def look(self, policy: CachePolicy, slot: Slot, *, fresh: bool = False, again: bool = False) -> Hit | Miss:
        """What is in a slot: with `fresh` only where a new result goes, `again` without telling what is damaged."""
        try:
            raw, *tokens = await self._pool.get_many((slot.key, *slot.tokens))
            if raw is not None and not fresh:
                kept = _opened(slot.key, raw)
                # Without one of its tokens an entry counts no more.
                if kept is not None and None not in tokens and kept[0] == _stamp(tokens):
                    return Hit(kept[1])
                if kept is None and not again:
                    self._observer.event("cache.damaged", method=policy.method, key=slot.key)
            begun = [token or await self._begin(key) for key, token in zip(slot.tokens, tokens, strict=True)]
        except StoreError as error:
            self._failed("read", policy.method, error)
            return Miss(slot, None)
        return Miss(slot, _stamp(begun))

    async def write(self, policy: CachePolicy, miss: Miss, encoded: bytes) -> None:
        """Keep a result where a miss said that it goes."""
        if miss.stamp is None:
            return
        body = msgspec.msgpack.encode((miss.stamp, miss.slot.params, encoded))
        try:
            await self._pool.set(miss.slot.key, _MAGIC + _seal(miss.slot.key, body) + body, policy.ttl)
        except StoreError as error:
            self._failed("write", policy.method, error)
        else:
            self._observer.event("cache.write", method=policy.method)

    async def invalidate(self, drops: Iterable[Drop], given: Mapping[str, Any]) -> None:
        """Drop results of methods, in all groups and versions: all of them, or by the values of given parameters."""
        try:
            tokens = {self._token_key(drop.method, drop.key(given)): drop.method for drop in drops}
        except NoJsonForm:
            # Not from a body; what cannot be written was not kept under that value either.
            return
        self.invalidations += 1
        for key, method in tokens.items():
            try:
                await self._pool.delete(key)
            except StoreError as error:
                self._failed("invalidate", method, error)
            else:
                self._observer.event("cache.invalidate", method=method)

    async def _begin(self, key: str) -> bytes:
        """The token of a key that had none."""
        while True:
            fresh = self._ids.token().encode()
            if await self._pool.add(key, fresh, GENERATION_TTL):
                return fresh
            if (token := await self._pool.get(key)) is not None:
                return token

    def _slot(self, policy: CachePolicy, call: Call, bound: dict[str, Any]) -> Slot:
        params = canonical(bound)
        varied = canonical([_varied(call, name) for name in policy.vary]) if policy.vary else b""
        key = f"{self._prefix}:{policy.method}:{digest(b'%b%b%b' % (policy.seed, varied, params))}"
        generation = f"{self._prefix}:{policy.method}:generation"
        if not policy.tags:
            return Slot(key, (generation,), params)
        tags = (self._token_key(policy.method, tag.key(bound)) for tag in policy.tags)
        return Slot(key, (generation, *tags), params)

    def _token_key(self, method: str, tag: str | None) -> str:
        return f"{self._prefix}:{method}:{'generation' if tag is None else f'tag:{tag}'}"

    def _failed(self, action: str, method: str, error: StoreError) -> None:
        self._observer.event("cache.error", action=action, method=method, error=str(error))


def _stamp(tokens: Sequence[bytes | None]) -> bytes:
    return b"\0".join([token or b"" for token in tokens])


def _opened(key: str, raw: bytes) -> tuple[bytes, bytes] | None:
    """The stamp and the result of an entry; None where it is not exactly what was stored under this key."""
    start = len(_MAGIC) + DIGEST_SIZE
    body = raw[start:]
    if raw[:start] != _MAGIC + _seal(key, body):
        return None
    stamp, _params, encoded = _entry.decode(body)
    return stamp, encoded


def _seal(key: str, body: bytes) -> bytes:
    """What shows that a body is whole, and that it was stored under this key."""
    return blake2b(body, digest_size=DIGEST_SIZE, key=blake2b(key.encode(), digest_size=32).digest()).digest()


def _varied(call: Call, name: str) -> Any:
    if name == "locale":
        return call.locale
    if name == "principal":
        return credential(call.principal)
    if name == "scopes":
        return sorted(call.principal.scopes)
    kind, _, key = name.partition(":")
    return call.principal.claims.get(key) if kind == "claim" else call.headers.get(key.lower())
