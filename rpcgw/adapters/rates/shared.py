"""A limiter over memory that the workers of a host share: a storage of the `limits` library over our table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import SlidingWindowCounterSupport, Storage
from limits.strategies import SlidingWindowCounterRateLimiter

from rpcgw.adapters.rates.table import Entry, Table
from rpcgw.api.rates import Rate
from rpcgw.kernel.ports import Counts, StoreError
from rpcgw.kernel.rates import seconds_until_free

_REMEMBERED: Final = 1024


@lru_cache(maxsize=1024)
def item_of(rate: Rate) -> RateLimitItem:
    """A rate as the library has it."""
    return _Item(rate.amount, rate.seconds)


class _Item(RateLimitItemPerSecond):
    """Remembers the keys that it made: who is counted is counted again."""

    __slots__ = ("key_for",)

    def __init__(self, amount: int, seconds: int) -> None:
        super().__init__(amount, seconds)
        self.key_for = lru_cache(_REMEMBERED)(super().key_for)  # type: ignore[method-assign]


class SharedLimiter:
    """`rpcgw.kernel.ports.Limiter` for the processes that map one file; `path` None counts in this process alone.

    Raises:
        OSError: The file cannot be made, or there is no room for it.
    """

    def __init__(self, path: Path | None, now: Callable[[], float]) -> None:
        self._storage = SharedStorage(Table(path), now)
        self._window = SlidingWindowCounterRateLimiter(self._storage)
        self._entries = lru_cache(_REMEMBERED)(self._prepared)

    async def hit(self, rate: Rate, *key: str) -> float:
        """Count one, if that is within the rate; see the port."""
        item = item_of(rate)
        if self._window.hit(item, *key):
            return 0.0
        return self._wait(rate, key)

    async def hit_each(self, counts: Counts) -> tuple[int, float]:
        """Count one of each, all of them in one go; see the port."""
        counted = self._storage.take_each(self._entries(counts))
        if counted == len(counts.counted):
            return counted, 0.0
        return counted, self._wait(*counts.counted[counted])

    def _prepared(self, counts: Counts) -> Sequence[Entry]:
        return [self._storage.entry(item_of(rate), key) for rate, key in counts.counted]

    def _wait(self, rate: Rate, key: tuple[str, ...]) -> float:
        previous, left, current, _ = self._storage.get_sliding_window(item_of(rate).key_for(*key), rate.seconds)
        return max(seconds_until_free(rate, previous, current, left), math.ulp(1.0))

    async def close(self) -> None:
        """Give the file back."""
        self._storage.table.close()


class SharedStorage(Storage, SlidingWindowCounterSupport):
    """What the library's strategies count with. Windows begin at multiples of their length since the epoch."""

    STORAGE_SCHEME = ["rpcgw"]  # noqa: RUF012 -- the library's way of registering

    def __init__(self, table: Table, now: Callable[[], float]) -> None:
        super().__init__()
        self.table = table
        self._now = now

    @property
    def base_exceptions(self) -> type[Exception]:
        """What may go wrong here."""
        return StoreError

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count `amount`, if the weighted count stays within the limit; atomic over processes."""
        return self.table.take(key, limit, expiry, self._now(), amount)

    def entry(self, item: RateLimitItem, key: tuple[str, ...]) -> Entry:
        """What `take_each` counts with for a key."""
        return self.table.entry(item.key_for(*key), item.amount, item.get_expiry())

    def take_each(self, entries: Sequence[Entry]) -> int:
        """As `acquire_sliding_window_entry` for each in turn, up to the first that is refused; how many were not."""
        return self.table.take_each(entries, self._now())

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Count and rest in seconds of the window before, and of this one (which then counts for one window more)."""
        previous, current, left = self.table.look(key, expiry, self._now())
        return previous, left, current, left + expiry

    def clear_sliding_window(self, key: str, expiry: int) -> None:  # noqa: ARG002 -- the library's signature
        """Count from 0."""
        self.table.forget(key)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count without a limit; the count of this window."""
        self.table.take(key, 1 << 62, expiry, self._now(), amount)
        return self.table.look(key, expiry, self._now())[1]

    def get(self, key: str) -> int:
        """The count of a key that `incr` has counted in windows of a second."""
        return self.table.look(key, 1, self._now())[1]

    def get_expiry(self, key: str) -> float:  # noqa: ARG002 -- the library's signature
        """When a window of a second ends, in seconds since the epoch."""
        return math.floor(self._now()) + 1.0

    def check(self) -> bool:
        """Whether counting works: memory does."""
        return True

    def reset(self) -> int | None:
        """Count everything from 0."""
        self.table.clear()
        return None

    def clear(self, key: str) -> None:
        """Count a key from 0."""
        self.table.forget(key)
