"""A pool in the memory of one process: for development, tests, and what need not be shared.

Bounded in bytes. It never drops a live value to make room, since that value may be a lock or a session: a full pool
refuses new values with `StoreError`, as a full disk does.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence

from rpcgw.kernel.ports import StoreError

_OVERHEAD = 300
"""Bytes that an entry costs beside its key and value: dict slot, tuple, float, heap entry."""


class MemoryPool:
    """`rpcgw.kernel.ports.Pool` in a dict. `now` is a clock in seconds that never goes back."""

    def __init__(self, max_bytes: int = 64 * 2**20, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._room = max_bytes
        self._entries: dict[str, tuple[bytes, float]] = {}
        # When an entry may be dropped, earliest first. An entry touched since is pushed anew when its old time comes.
        self._expiries: list[tuple[float, str]] = []
        self._indexes: dict[str, dict[str, float]] = {}

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        entry = self._live(key)
        return None if entry is None else entry[0]

    async def look(self, key: str) -> tuple[bytes, float] | None:
        """The value and the seconds that it still lives."""
        entry = self._live(key)
        return None if entry is None else (entry[0], entry[1] - self._now())

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of several keys."""
        return [await self.get(key) for key in keys]

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds; `StoreError` where the pool is full."""
        self._keep(key, value, ttl)

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; says whether it did. `StoreError` where the pool is full."""
        if self._live(key) is not None:
            return False
        self._keep(key, value, ttl)
        return True

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        entry = self._live(key)
        return entry is not None and self._extend(key, entry[0], ttl)

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        live = self._live(key) is not None
        self._drop(key)
        return live

    async def withdraw(self, key: str) -> bool:
        """Remove a value: whoever shares this pool is on this host."""
        return await self.delete(key)

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        entry = self._live(key)
        if entry is None or entry[0] != value:
            return False
        self._drop(key)
        return True

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        entry = self._live(key)
        return entry is not None and entry[0] == value and self._extend(key, value, ttl)

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so and have not expired."""
        now = self._now()
        return [key for key, (_, expiry) in self._entries.items() if expiry > now and key.startswith(prefix)]

    async def enlist(self, index: str, member: str, ttl: float) -> None:
        """Note in an index that a member lives `ttl` seconds from now."""
        self._indexes.setdefault(index, {})[member] = self._now() + ttl

    async def strike(self, index: str, member: str) -> None:
        """Take a member out of an index."""
        self._indexes.get(index, {}).pop(member, None)

    async def census(self, index: str) -> tuple[int, int]:
        """How many members live, and how many ceased to since somebody last asked."""
        now, members = self._now(), self._indexes.get(index, {})
        living = {member: end for member, end in members.items() if end > now}
        self._indexes[index] = living
        return len(living), len(members) - len(living)

    def news(self) -> None:
        """None: whoever shares this pool is on this host."""

    async def ping(self) -> None:
        """Memory is always there."""

    async def close(self) -> None:
        """Forget everything."""
        for key in list(self._entries):
            self._drop(key)
        self._expiries.clear()
        self._indexes.clear()

    def _live(self, key: str) -> tuple[bytes, float] | None:
        entry = self._entries.get(key)
        return entry if entry is not None and entry[1] > self._now() else None

    def _keep(self, key: str, value: bytes, ttl: float) -> None:
        self._sweep()
        old = self._entries.get(key)
        freed = 0 if old is None else _cost(key, old[0])
        if _cost(key, value) > self._room + freed:
            raise StoreError("the memory pool is full of values that have not expired; raise its size or use Redis")
        self._drop(key)
        self._entries[key] = (value, self._now() + ttl)
        self._room -= _cost(key, value)
        heapq.heappush(self._expiries, (self._now() + ttl, key))
        if len(self._expiries) > 2 * len(self._entries) + 64:
            self._expiries = [(expiry, key) for key, (_, expiry) in self._entries.items()]
            heapq.heapify(self._expiries)

    def _extend(self, key: str, value: bytes, ttl: float) -> bool:
        expiry = self._now() + ttl
        shorter = expiry < self._entries[key][1]
        self._entries[key] = (value, expiry)
        if shorter:
            heapq.heappush(self._expiries, (expiry, key))
        return True

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._room += _cost(key, entry[0])

    def _sweep(self) -> None:
        now = self._now()
        while self._expiries and self._expiries[0][0] <= now:
            _, key = heapq.heappop(self._expiries)
            entry = self._entries.get(key)
            if entry is None:
                continue
            if entry[1] <= now:
                self._drop(key)
            else:
                heapq.heappush(self._expiries, (entry[1], key))


def _cost(key: str, value: bytes) -> int:
    return len(key) + len(value) + _OVERHEAD
