"""Processes whose parent has died: they become children of this one, which has to wait for them. Stdlib only."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable

_PR_SET_CHILD_SUBREAPER = 36


class Orphans:
    """Those that are known by their pid, and not waited for yet."""

    def __init__(self) -> None:
        self._pids: set[int] = set()

    def adopt(self, pids: Iterable[int]) -> None:
        """Whoever of them is without a parent has to be waited for here."""
        self._pids |= set(pids)
        self.reap()

    def reap(self) -> None:
        """Wait for those that have ended."""
        for pid in list(self._pids):
            try:
                gone = bool(os.waitpid(pid, os.WNOHANG)[0])
            except ChildProcessError:
                # Waited for by its parent, or not ours yet: a dying parent closes its files first.
                gone = not _exists(pid)
            if gone:
                self._pids.discard(pid)


def become_parent_of_orphans() -> None:
    """Let descendants whose parent died become children of this process, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
