"""The default pool: one file for each value, under one directory, shared by every process of the host.

Readers take no lock: a value is written beside its place and renamed over it, so they see the old one or the new one.
Whoever changes something holds the lock of its shard (`flock`, which the kernel takes back when a process dies), so
that "read, compare, change" is one step over processes. A file that fails its check is read once more under the lock,
because a touch writes the expiry in place, and is a miss if it fails again.

All of it but `keys` runs on the event loop. Measured: a read takes 10 microseconds, a write of a new value 80, over an
old one 150 to 300, nothing is synced to the disk; a hop to a thread and back costs 55 to 90. A lock that another
process holds is waited for without blocking the loop. A directory on a network file system would block it: use Redis.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import itertools
import os
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from rpcgw.adapters.stores.entry import EXPIRY_OFFSET, Entry, pack, pack_expiry, unpack
from rpcgw.kernel.ports import StoreError

_SHARDS = 256
_LOCK = ".lock"
_UNFINISHED = ".new-"
_ABANDONED_AFTER = 60.0
_WRITES_PER_SWEEP = 16
_SLICE = 64


class FilePool:
    """`rpcgw.kernel.ports.Pool` over a directory, which is made where it is missing (mode 0700).

    `now` is a clock in seconds since the epoch; `patience` is how many seconds to wait for another process that holds
    a lock. Errors of the file system are `StoreError`.
    """

    def __init__(self, directory: str, now: Callable[[], float] = time.time, patience: float = 2.0) -> None:
        self._directory = directory
        self._now = now
        self._patience = patience
        self._names = itertools.count()
        self._writes = itertools.count(1)
        self._walk: Iterator[str] = iter(())

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none, it has expired, or its file is damaged."""
        path = self._path(key)
        with _store_errors():
            raw = _read(path)
            if raw is None:
                return None
            entry = unpack(raw)
            if entry is None:
                async with _locked(path, self._patience):
                    entry = unpack(_read(path) or b"")
        return entry.value if entry is not None and self._alive(entry, key) else None

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds; atomic, and in no file at all where the disk is full."""
        path = self._path(key)
        with _store_errors(), self._written(path, pack(key, value, self._now() + ttl)) as fresh:
            async with _locked(path, self._patience):
                os.rename(fresh, path)
        await self._sweep_sometimes()

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; of any number of processes one is told that it did."""
        if await self.get(key) is not None:
            return False
        path = self._path(key)
        with _store_errors(), self._written(path, pack(key, value, self._now() + ttl)) as fresh:
            async with _locked(path, self._patience):
                entry = unpack(_read(path) or b"")
                free = entry is None or not self._alive(entry, key)
                if free:
                    os.rename(fresh, path)
        await self._sweep_sometimes()
        return free

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        return await self._change(key, None, lambda path: _write_expiry(path, self._now() + ttl))

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        return await self._change(key, None, os.unlink)

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        return await self._change(key, value, os.unlink)

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        return await self._change(key, value, lambda path: _write_expiry(path, self._now() + ttl))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so and have not expired. Reads every file, in a thread."""
        with _store_errors():
            return await asyncio.to_thread(self._keys, prefix)

    async def ping(self) -> None:
        """Raise `StoreError` where the directory cannot be written to."""
        probe = os.path.join(self._directory, "00", "ping")
        with _store_errors(), self._written(probe, b""):
            pass

    async def close(self) -> None:
        """End a sweep that is under way."""
        self._walk = iter(())

    def _path(self, key: str) -> str:
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self._directory}/{name[:2]}/{name[2:]}"

    def _alive(self, entry: Entry, key: str) -> bool:
        return entry.key == key and entry.expiry > self._now()

    async def _change(self, key: str, expected: bytes | None, change: Callable[[str], None]) -> bool:
        path = self._path(key)
        with _store_errors():
            if not os.path.exists(path):
                return False
            async with _locked(path, self._patience):
                entry = unpack(_read(path) or b"")
                due = entry is not None and self._alive(entry, key) and expected in (None, entry.value)
                if due:
                    change(path)
        return due

    @contextmanager
    def _written(self, path: str, content: bytes) -> Iterator[str]:
        fresh = f"{os.path.dirname(path)}/{_UNFINISHED}{os.getpid()}-{id(self):x}-{next(self._names)}"
        descriptor = _create(fresh)
        try:
            try:
                _write_all(descriptor, content)
            finally:
                os.close(descriptor)
            yield fresh
        finally:
            with suppress(FileNotFoundError):
                os.unlink(fresh)

    def _keys(self, prefix: str) -> list[str]:
        now = self._now()
        paths = (path for path in _paths(self._directory, 0) if not _unfinished(path))
        entries = (unpack(_read(path) or b"") for path in paths)
        return [entry.key for entry in entries if entry and entry.expiry > now and entry.key.startswith(prefix)]

    async def _sweep_sometimes(self) -> None:
        """Look at a few files after every few writes, four times as many as were written: what is dead stays bounded.

        A sweep is housekeeping: that it fails is no reason to fail the write that set it off.
        """
        if next(self._writes) % _WRITES_PER_SWEEP == 0:
            with suppress(OSError, StoreError):
                await self.sweep(_SLICE)

    async def sweep(self, files: int) -> bool:
        """Look at the next files and remove what has expired or is damaged; says whether a round has ended."""
        for path in itertools.islice(self._walk, files):
            if self._dead(path, _read(path)):
                async with _locked(path, self._patience):
                    if self._dead(path, _read(path)):
                        os.unlink(path)
            files -= 1
        if files:
            self._walk = _paths(self._directory, random.randrange(_SHARDS))  # noqa: S311 -- spreads work, no secret
        return files > 0

    def _dead(self, path: str, raw: bytes | None) -> bool:
        if raw is None:
            return False
        if _unfinished(path):
            return _age(path) > _ABANDONED_AFTER
        entry = unpack(raw)
        return entry is None or entry.expiry <= self._now()


def _paths(directory: str, first: int) -> Iterator[str]:
    for number in range(first, first + _SHARDS):
        with suppress(FileNotFoundError), os.scandir(f"{directory}/{number % _SHARDS:02x}") as found:
            for file in found:
                if file.name != _LOCK:
                    yield file.path


def _unfinished(path: str) -> bool:
    return os.path.basename(path).startswith(_UNFINISHED)


def _age(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _read(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        size = os.fstat(descriptor).st_size
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def _create(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write_expiry(path: str, expiry: float) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, pack_expiry(expiry), EXPIRY_OFFSET)
    finally:
        os.close(descriptor)


@asynccontextmanager
async def _locked(path: str, patience: float) -> AsyncIterator[None]:
    """Hold the lock of a path's shard. Opened anew each time: a descriptor inherited over a fork would share it."""
    descriptor = os.open(f"{os.path.dirname(path)}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        await _take(descriptor, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


async def _take(descriptor: int, deadline: float) -> None:
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "another process holds the lock of this part of the store") from None
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.02)


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.strerror or error}: {error.filename or 'the file store'}") from error
