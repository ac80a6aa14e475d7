"""`state_dir/run/rpcgw.pid`: which process `rpcgw reload` tells to reload. Standard library only.

The supervisor holds a lock on the file for as long as it lives (flock(2)), so that a number which a dead daemon left
behind is never taken for a living process. Of two daemons with one state directory the later one is found.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

NAME = "run/rpcgw.pid"
"""Where it lies in the state directory."""


class NotRunning(Exception):
    """There is no daemon to tell; the text says how that is known."""


class PidFile:
    """This process's own file. Raises `OSError` where it cannot be written."""

    def __init__(self, state_dir: str) -> None:
        self._path = Path(state_dir, NAME)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        self._descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())
            fresh.replace(self._path)
        except OSError:
            os.close(self._descriptor)
            fresh.unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Remove it, unless another daemon has put its own there."""
        with suppress(OSError):
            if os.path.samestat(self._path.stat(), os.fstat(self._descriptor)):
                self._path.unlink()
        os.close(self._descriptor)


def running(state_dir: str) -> int:
    """The process id of the daemon that lives in a state directory.

    Raises:
        NotRunning: There is none.
    """
    path = Path(state_dir, NAME)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotRunning(f"there is no {path}") from None
    except OSError as error:
        raise NotRunning(f"{path} cannot be read: {error.strerror}") from None
    try:
        return _held(path, descriptor)
    finally:
        os.close(descriptor)


def _held(path: Path, descriptor: int) -> int:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        if text.isdecimal():
            return int(text)
        raise NotRunning(f"{path} holds no process id") from None
    raise NotRunning(f"{path} is stale: the daemon that wrote it has ended")
