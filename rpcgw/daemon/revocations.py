"""`Revocations` that all workers of a host share: eight bytes of a memory-mapped file.

Each advance writes the host's monotonic clock, so that two at once still leave a value that nobody has seen before.
"""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings

REVOCATIONS = "run/revocations"
"""Where the file lies in the state directory."""


class SharedRevocations:
    """One number in a file that processes map; looking at it costs a memory read."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Really allocated: on a full disk an unallocated page would be a SIGBUS.
            os.posix_fallocate(descriptor, 0, _SIZE)
            self._map = mmap.mmap(descriptor, _SIZE)
        finally:
            os.close(descriptor)
        self._cell = memoryview(self._map).cast("Q")

    def current(self) -> int:
        """The number as it is now, in every process."""
        return self._cell[0]

    def advance(self) -> None:
        """Let it be another one."""
        self._cell[0] = time.monotonic_ns()

    def close(self) -> None:
        """Unmap the file."""
        self._cell.release()
        self._map.close()


def open_shared(settings: Settings, name: str) -> SharedRevocations:
    """The number of this name in the state directory.

    Raises:
        ConfigError: Nothing can be kept there.
    """
    try:
        return SharedRevocations(Path(settings.state_dir, name))
    except OSError as error:
        place = settings.places.get("state_dir", Place(settings.source))
        text = f"nothing can be kept in the state directory {settings.state_dir}: {error.strerror}"
        hint = "make it a directory that this user may write to and that has room, or name another with state_dir"
        raise ConfigError([Problem(place, "state-dir", text, hint)]) from error


_SIZE = 8
