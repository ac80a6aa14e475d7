"""Counters that the processes of a host share: a file of fixed size that all of them map.

    secret 16 | padding | bucket | bucket | ...      a bucket: 8 entries of 6 numbers of 64 bits
    entry: key (two numbers) | window | count in it | count in the window before | when it is of no use any more

A key is a hash under a secret that is made with the file, so that nobody reads from it who was counted, or finds keys
that meet in one bucket. A full bucket gives up the entry that has counted least: a flood of new keys cannot drown the
count of what happens often. One `flock` guards all of it; the kernel lets go of a dead process's.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

from rpcgw.kernel.ports import StoreError

BUCKETS: Final = 4096
_WAYS: Final = 8
_NUMBERS: Final = 6
_BUCKET: Final = _WAYS * _NUMBERS
_HEAD: Final = 8
_SECRET: Final = 16
_PATIENCE: Final = 1.0
"""Seconds to wait for a sibling that holds the lock: it needs microseconds, unless it was stopped meanwhile."""
_PAUSE: Final = 0.0002
_REMEMBERED: Final = 1024
"""Hashes that are kept: who is counted is counted again."""

Entry = tuple[int, int, int, int]
"""A key as two numbers, its limit, and its window in seconds."""


class Table:
    """Counts by key and window. `path` None is memory of this process alone.

    Raises:
        OSError: The file cannot be made, or there is no room for it.
    """

    def __init__(self, path: Path | None, buckets: int = BUCKETS) -> None:
        self._buckets = buckets
        self._size = 8 * (_HEAD + buckets * _BUCKET)
        self._file = -1 if path is None else self._open(path)
        self._map = mmap.mmap(self._file, self._size)
        self._cells = memoryview(self._map).cast("Q")
        with self._alone():
            if not any(self._map[:_SECRET]):
                self._map[:_SECRET] = os.urandom(_SECRET)
        self._secret = bytes(self._map[:_SECRET])
        self._hash = lru_cache(_REMEMBERED)(self._hashed)

    def _open(self, path: Path) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Really allocated: on a full disk an unallocated page would be a SIGBUS.
            os.posix_fallocate(file, 0, self._size)
        except OSError:
            os.close(file)
            raise
        return file

    def take(self, key: str, limit: int, window: int, now: float, amount: int = 1) -> bool:
        """Count `amount` more in the window of `window` seconds around `now`, if the weighted count stays in `limit`.

        Raises:
            StoreError: A sibling holds the lock for longer than anybody may.
        """
        entry = self.entry(key, limit, window)
        self._lock()
        try:
            return self._taken(entry, now, amount)
        finally:
            self._unlock()

    def entry(self, key: str, limit: int, window: int) -> Entry:
        """What `take_each` counts with."""
        return (*self._hash(key), limit, window)

    def take_each(self, entries: Sequence[Entry], now: float) -> int:
        """Count one more of each in turn, up to the first that would be beyond its limit; how many were counted.

        Raises:
            StoreError: As `take`.
        """
        self._lock()
        try:
            for number, entry in enumerate(entries):
                if not self._taken(entry, now, 1):
                    return number
        finally:
            self._unlock()
        return len(entries)

    def _taken(self, entry: Entry, now: float, amount: int) -> bool:
        high, low, limit, window = entry
        number = int(now // window)
        at = self._find(high, low)
        previous, current = self._counts(at, number)
        if int(previous * self._left(now, window) / window + current) + amount > limit:
            return False
        if at is None:
            at = self._free(high, low, int(now))
        self._write(at, number, previous, current + amount, (number + 2) * window)
        return True

    def look(self, key: str, window: int, now: float) -> tuple[int, int, float]:
        """The counts of the window before and of this one, and how many seconds of this one are left."""
        number, (high, low) = int(now // window), self._hash(key)
        with self._alone():
            previous, current = self._counts(self._find(high, low), number)
        return previous, current, self._left(now, window)

    def forget(self, key: str) -> None:
        """Count a key from 0."""
        with self._alone():
            if (at := self._find(*self._hash(key))) is not None:
                self._cells[at + 5] = 0
                self._cells[at + 2] = 0

    def clear(self) -> None:
        """Count everything from 0."""
        with self._alone():
            self._map[8 * _HEAD :] = bytes(self._size - 8 * _HEAD)

    def close(self) -> None:
        """Unmap the file."""
        self._cells.release()
        self._map.close()
        if self._file >= 0:
            os.close(self._file)

    @staticmethod
    def _left(now: float, window: int) -> float:
        return window - now % window

    def _hashed(self, key: str) -> tuple[int, int]:
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16, key=self._secret).digest()
        return int.from_bytes(digest[:8], "little") or 1, int.from_bytes(digest[8:], "little")

    def _bucket(self, high: int) -> range:
        start = _HEAD + high % self._buckets * _BUCKET
        return range(start, start + _BUCKET, _NUMBERS)

    def _find(self, high: int, low: int) -> int | None:
        cells = self._cells
        for at in self._bucket(high):
            if cells[at] == high and cells[at + 1] == low:
                return at
        return None

    def _counts(self, at: int | None, number: int) -> tuple[int, int]:
        """Of the window before, and of the one with this number."""
        if at is None:
            return 0, 0
        _, current, previous = self._cells[at + 2 : at + 5]
        age = number - self._cells[at + 2]
        return (previous, current) if age == 0 else (current, 0) if age == 1 else (0, 0)

    def _free(self, high: int, low: int, now: int) -> int:
        """The entry of its bucket that is missed least: one that is over, or that has counted least."""
        cells = self._cells
        at = min(self._bucket(high), key=lambda at: cells[at + 5] > now and cells[at + 3] + cells[at + 4])
        cells[at + 5] = cells[at + 2] = 0
        cells[at], cells[at + 1] = high, low
        return at

    def _write(self, at: int, number: int, previous: int, current: int, ends: int) -> None:
        """The window's number last: who dies in between leaves an entry that counts for nothing."""
        cells = self._cells
        if cells[at + 2] != number:
            cells[at + 2] = 0
            cells[at + 4] = previous
            cells[at + 5] = ends
        cells[at + 3] = current
        cells[at + 2] = number

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._lock()
        try:
            yield
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _lock(self) -> None:
        """Wait for the lock, and not for ever: a stopped process keeps what it holds."""
        if self._file < 0:
            return
        until = 0.0
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                until = until or time.monotonic() + _PATIENCE
                if time.monotonic() > until:
                    raise StoreError("the counters of rates are held by a process that does not go on") from None
                time.sleep(_PAUSE)
            else:
                return
