"""Values in files, one each, shared by every process of the host. Blocking; `files.py` says where it runs.

Readers take no lock: a value is written beside its place and renamed over it, so they see the old one or the new one.
Whoever changes something holds the lock of its shard (`flock`, which the system takes back when a process dies), so
that "read, compare, change" is one step over processes. A file that fails its check is read once more under the lock,
because a touch writes the expiry in place, and is a miss if it fails again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rpcgw.adapters.stores.entry import EXPIRY_OFFSET, Entry, pack, pack_expiry, unpack

_SHARDS = 256
_LOCK = ".lock"
_UNFINISHED = ".new-"
_ABANDONED_AFTER = 60.0
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02

Change = Callable[[str], None]


class Shelf:
    """The files of one directory, which is made where it is missing (mode 0700). Raises `OSError`. Safe in threads.

    `now` is a clock in seconds since the epoch; `patience` is how many seconds to wait for another's lock.
    """

    def __init__(self, directory: str, now: Callable[[], float], patience: float) -> None:
        self._directory = directory
        self._now = now
        self._patience = patience
        self._names = itertools.count()

    def get(self, key: str) -> Entry | None:
        """The live entry of a key, None where it is absent, expired or damaged."""
        path = self._path(key)
        raw = _read(path)
        if raw is None:
            return None
        entry = unpack(raw)
        if entry is None:
            with self._locked(path):
                entry = unpack(_read(path) or b"")
        return self._alive(entry, key)

    def put(self, key: str, value: bytes, ttl: float, *, free_only: bool) -> bool:
        """Keep a value, where `free_only` only if the key has none; says whether it did."""
        path = self._path(key)
        with self._written(path, pack(key, value, self._now() + ttl)) as fresh, self._locked(path):
            if free_only and self._alive(unpack(_read(path) or b""), key) is not None:
                return False
            os.rename(fresh, path)
        return True

    def touch(self, key: str, ttl: float, expected: bytes | None = None) -> bool:
        """Let a value live on, if it is there and the expected one; says whether it was."""
        return self._change(key, expected, lambda path: _write_expiry(path, self._now() + ttl))

    def delete(self, key: str, expected: bytes | None = None) -> bool:
        """Remove a value, if it is there and the expected one; says whether it was."""
        return self._change(key, expected, os.unlink)

    def keys(self, prefix: str) -> list[str]:
        """The keys that begin so; reads every file."""
        now = self._now()
        paths = (path for path in self.paths() if not _is_unfinished(path))
        entries = (unpack(_read(path) or b"") for path in paths)
        return [entry.key for entry in entries if entry and entry.expiry > now and entry.key.startswith(prefix)]

    def probe(self) -> None:
        """Write a file and remove it."""
        with self._written(f"{self._directory}/00/probe", b""):
            pass

    def paths(self) -> Iterator[str]:
        """Every file, from a shard of chance on, so that the sweeps of several processes spread."""
        first = random.randrange(_SHARDS)  # noqa: S311 -- spreads work, no secret
        for number in range(first, first + _SHARDS):
            with suppress(FileNotFoundError), os.scandir(f"{self._directory}/{number % _SHARDS:02x}") as found:
                for file in found:
                    if file.name != _LOCK:
                        yield file.path

    def clean(self, path: str) -> None:
        """Remove a file that has expired, is damaged, or was never finished."""
        if self._is_dead(path):
            with self._locked(path):
                if self._is_dead(path):
                    os.unlink(path)

    def _path(self, key: str) -> str:
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self._directory}/{name[:2]}/{name[2:]}"

    def _alive(self, entry: Entry | None, key: str) -> Entry | None:
        return entry if entry is not None and entry.key == key and entry.expiry > self._now() else None

    def _change(self, key: str, expected: bytes | None, change: Change) -> bool:
        path = self._path(key)
        if not os.path.exists(path):
            return False
        with self._locked(path):
            entry = self._alive(unpack(_read(path) or b""), key)
            due = entry is not None and expected in (None, entry.value)
            if due:
                change(path)
        return due

    def _is_dead(self, path: str) -> bool:
        raw = _read(path)
        if raw is None:
            return False
        if _is_unfinished(path):
            return _age(path) > _ABANDONED_AFTER
        entry = unpack(raw)
        return entry is None or entry.expiry <= self._now()

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

    @contextmanager
    def _locked(self, path: str) -> Iterator[None]:
        """Hold the lock of a path's shard. Opened anew each time: a shared descriptor would share the lock."""
        descriptor = os.open(f"{os.path.dirname(path)}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(descriptor, self._patience)
            yield
        finally:
            os.close(descriptor)


def _take(descriptor: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "another process holds the lock of this part of the store") from None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _is_unfinished(path: str) -> bool:
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
        return os.read(descriptor, os.fstat(descriptor).st_size)
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
