"""The default pool: files below a directory of this host.

What runs where, as measured: a read is some 10 to 20 microseconds of page cache and runs on the event loop, since a hop
to a thread and back costs 55 to 90. Whatever changes a file runs in a thread: creating one takes 100 to 300
microseconds when the disk is quiet, and milliseconds when it is busy or when the file that it replaces is being written
back; the loop must not stand still for that. Nothing is synced: after a power cut the newest values may be gone, and a
file that is half there is a miss. On a network file system reads would hold up the loop: use Redis.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from rpcgw.adapters.stores.fileindex import FileIndex
from rpcgw.adapters.stores.shelf import Shelf
from rpcgw.kernel.ports import StoreError

_THREADS = 8
_WRITES_PER_SWEEP = 16
_SLICE = 64

_Result = TypeVar("_Result")


class FilePool:
    """`rpcgw.kernel.ports.Pool` over a directory, which is made where it is missing. File system errors: `StoreError`.

    Every few writes look at a few files, four times as many as were written, and remove what has expired: the dead
    stay a fraction of the living, and no sweep takes long. A write that was cancelled may have happened.
    """

    def __init__(self, directory: str, now: Callable[[], float] = time.time, patience: float = 2.0) -> None:
        self._now = now
        self._shelf = Shelf(directory, now, patience)
        self._index = FileIndex(f"{directory}/index", now)
        self._threads = ThreadPoolExecutor(_THREADS, "rpcgw-files")
        self._writes = itertools.count(1)
        self._walk: Iterator[str] = iter(())
        self._sweeping = threading.Lock()

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none, it has expired, or its file is damaged."""
        with _store_errors():
            entry = self._shelf.get(key)
        return None if entry is None else entry.value

    async def look(self, key: str) -> tuple[bytes, float] | None:
        """The value and the seconds that it still lives."""
        with _store_errors():
            entry = self._shelf.get(key)
        return None if entry is None else (entry.value, entry.expiry - self._now())

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of several keys."""
        return [await self.get(key) for key in keys]

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        """Keep a value for `ttl` seconds; where the disk is full the old one stays."""
        await self._write(lambda: self._shelf.put(key, value, ttl, free_only=False))

    async def add(self, key: str, value: bytes, ttl: float) -> bool:
        """Keep a value only if the key has none; of any number of processes one is told that it did."""
        if await self.get(key) is not None:
            return False
        return await self._write(lambda: self._shelf.put(key, value, ttl, free_only=True))

    async def touch(self, key: str, ttl: float) -> bool:
        """Let a value live `ttl` seconds from now; says whether it was there."""
        return await self._change(key, lambda: self._shelf.touch(key, ttl))

    async def delete(self, key: str) -> bool:
        """Remove a value; says whether it was there."""
        return await self._change(key, lambda: self._shelf.delete(key))

    async def withdraw(self, key: str) -> bool:
        """Remove a value: whoever shares this pool is on this host."""
        return await self.delete(key)

    async def delete_if(self, key: str, value: bytes) -> bool:
        """Remove a value only if it is exactly this one."""
        return await self._change(key, lambda: self._shelf.delete(key, value))

    async def touch_if(self, key: str, value: bytes, ttl: float) -> bool:
        """Let a value live on only if it is exactly this one."""
        return await self._change(key, lambda: self._shelf.touch(key, ttl, value))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin so and have not expired; reads every file."""
        return await self._threaded(lambda: self._shelf.keys(prefix))

    async def enlist(self, index: str, member: str, ttl: float) -> None:
        """Note in an index that a member lives `ttl` seconds from now."""
        await self._threaded(lambda: self._index.enlist(index, member, ttl))

    async def strike(self, index: str, member: str) -> None:
        """Take a member out of an index."""
        await self._threaded(lambda: self._index.strike(index, member))

    async def census(self, index: str) -> tuple[int, int]:
        """How many members live, and how many ceased to; some two microseconds a member, in a thread."""
        return await self._threaded(lambda: self._index.census(index))

    def news(self) -> None:
        """None: whoever shares this pool is on this host."""

    async def ping(self) -> None:
        """Raise `StoreError` where the directory cannot be written to."""
        await self._threaded(self._shelf.probe)

    async def close(self) -> None:
        """Wait for writes that are under way, and end the threads."""
        await asyncio.to_thread(self._threads.shutdown)
        self._walk = iter(())

    async def sweep(self, files: int) -> bool:
        """Look at the next files and remove those that are dead; says whether a round has ended."""
        return await self._threaded(lambda: self._sweep(files))

    async def _change(self, key: str, change: Callable[[], bool]) -> bool:
        return await self.get(key) is not None and await self._threaded(change)

    async def _write(self, write: Callable[[], bool]) -> bool:
        return await self._threaded(lambda: self._write_and_sweep(write))

    async def _threaded(self, work: Callable[[], _Result]) -> _Result:
        with _store_errors():
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _write_and_sweep(self, write: Callable[[], bool]) -> bool:
        done = write()
        if next(self._writes) % _WRITES_PER_SWEEP == 0:
            try:
                self._sweep(_SLICE)
            except OSError:
                # Housekeeping: that it fails is no reason to fail the write that set it off. A later one tries again.
                return done
        return done

    def _sweep(self, files: int) -> bool:
        """One thread sweeps at a time; the others leave it to that one."""
        if not self._sweeping.acquire(blocking=False):
            return False
        try:
            return self._sweep_next(files)
        finally:
            self._sweeping.release()

    def _sweep_next(self, files: int) -> bool:
        for path in itertools.islice(self._walk, files):
            self._shelf.clean(path)
            files -= 1
        if files:
            self._walk = self._shelf.paths()
        return files > 0


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.strerror or error}: {error.filename or 'the file store'}") from error
