"""The files of all workers as one sum, over generations. Standard library only: the supervisor does the folding.

A slot's file is reused by the slot's next worker of the same generation; `settle` zeroes the gauges of one that died.
When a generation has ended, `fold` adds its files to the history and removes them. `clear` begins a daemon's life:
its counters begin at 0, as those of any process do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from rpcgw.adapters.telemetry.slotfile import (
    COUNTER,
    FOLDED,
    GAUGE,
    HISTOGRAM,
    JOBS,
    LEVEL,
    SUFFIX,
    in_use,
    pack_file,
    pack_record,
    read,
    records,
)

HISTORY = "history"
_REMEMBERED = 256

_Totals = dict[bytes, tuple[int, "memoryview[float]"]]


def read_all(directory: str) -> dict[str, bytes]:
    """The contents of all files by name: each number of the daemon's life in exactly one of them. Raises `OSError`.

    The history is read after the files. One that was folded meanwhile is in it, is named by it, and is left out here.
    """
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(SUFFIX))
    except FileNotFoundError:
        return {}
    found = {name: read(f"{directory}/{name}") for name in names}
    history = read(f"{directory}/{HISTORY}")
    held = _held(history)
    return {HISTORY: history} | {name: content for name, content in found.items() if name not in held}


def settle(path: str) -> None:
    """Zero the gauges of a worker that has died; its counters stay. Raises `OSError`."""
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            for record in records(in_use(os.pread(descriptor, os.fstat(descriptor).st_size, 0))):
                if record.kind in (GAUGE, LEVEL):
                    os.pwrite(descriptor, bytes(8 * record.cells), 8 * record.start)
        finally:
            os.close(descriptor)


def fold(directory: str, names: Sequence[str]) -> None:
    """Add the counters of files that nobody writes any more to the history, and remove them. Raises `OSError`.

    The history is replaced in one step and names what it holds, so that a reader sees each number once, whenever it
    looks; and so does a fold that is done again after it was cut short.
    """
    history = read(f"{directory}/{HISTORY}")
    held = _held(history)
    totals: _Totals = {}
    for content in (history, *(read(f"{directory}/{name}") for name in names if name not in held)):
        _add(totals, content)
    # A file is named for a while after it is gone: a reader may have read it before, and reads the history now.
    present = set(os.listdir(directory))
    gone = [name for name in held if name not in present][-_REMEMBERED:]
    named = [*gone, *(name for name in held if name in present), *(name for name in names if name not in held)]
    parts = [pack_record(kind, name, sums) for name, (kind, sums) in totals.items()]
    parts += [pack_record(FOLDED, name.encode(), 0) for name in named]
    with open(f"{directory}/{HISTORY}.new", "wb") as file:
        file.write(pack_file(parts))
    os.rename(f"{directory}/{HISTORY}.new", f"{directory}/{HISTORY}")
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(f"{directory}/{name}")


def clear(directory: str) -> None:
    """Remove the files of an earlier daemon; the directory is made where it is missing. Raises `OSError`.

    Workers of queues live on beside it, and so do their files.
    """
    os.makedirs(directory, mode=0o700, exist_ok=True)
    for name in os.listdir(directory):
        if (name.endswith(SUFFIX) and not name.startswith(JOBS)) or name in (HISTORY, f"{HISTORY}.new"):
            os.unlink(f"{directory}/{name}")


def _held(history: bytes) -> dict[str, None]:
    """The names of the files whose numbers the history holds, oldest first."""
    return {record.name.decode(): None for record in records(history) if record.kind == FOLDED}


def _add(totals: _Totals, content: bytes) -> None:
    numbers = memoryview(content).cast("d")
    for record in records(content):
        if record.kind not in (COUNTER, HISTOGRAM):
            continue
        fresh = memoryview(bytearray(8 * record.cells)).cast("d")
        kind, sums = totals.setdefault(record.name, (record.kind, fresh))
        if kind == record.kind and len(sums) == record.cells:
            for index in range(record.cells):
                sums[index] += numbers[record.start + index]
