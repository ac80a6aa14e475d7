"""What processes cost, by the kernel's own accounting (proc(5)): processor time and memory. Linux only.

Elsewhere, and for processes of others, there is nothing to be found out: the functions return nothing then.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PROC = Path("/proc")
_LISTENING = "0A"
_KIB = 1024


def tree(pid: int) -> list[int]:
    """A process and all that descend from it; itself alone where its children cannot be seen."""
    found, todo = [], [pid]
    while todo:
        current = todo.pop()
        found.append(current)
        for task in _glob(f"{current}/task/*/children"):
            todo += map(int, _read(task).split())
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of processes, in seconds; one that is gone counts nothing."""
    return sum(_ticks(pid) for pid in pids) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    fields = _read(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) if fields else 0


def resident(pid: int) -> int:
    """The memory of a process that is in RAM, in bytes; 0 where it is gone."""
    for line in _read(_PROC / str(pid) / "status").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * _KIB
    return 0


def listeners(port: int) -> list[int]:
    """The processes that hold a socket listening on a TCP port of this machine, each with no parent among them."""
    inodes = set(_listening(port))
    holders = {int(path.parts[2]) for path in _glob("[0-9]*/fd/*") if inodes and _link(path) in inodes}
    return sorted(pid for pid in holders if _parent(pid) not in holders)


def _listening(port: int) -> Iterator[str]:
    for table in ("net/tcp", "net/tcp6"):
        for line in _read(_PROC / table).splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield f"socket:[{fields[9]}]"


def _parent(pid: int) -> int:
    fields = _read(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def _glob(pattern: str) -> Iterator[Path]:
    try:
        yield from _PROC.glob(pattern)
    except OSError:
        return


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
