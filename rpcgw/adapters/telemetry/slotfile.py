"""Numbers that outlive their process: one memory-mapped file for each worker slot, written by its worker alone.

Standard library only, since the supervisor writes and reads these files and imports nothing else. A file describes
itself: a header, then one record for each series, in the order in which they were first used.

    magic 8 | bytes in use 8 | record | record | ...
    record: size of the name 2 | kind 1 | - 1 | cells 4 | name, filled up to 8 | cells of 8 bytes (doubles)

A name is the JSON list `["family", "label", ...]`. Whoever scrapes reads every file and adds the cells of equal names.
Records are only ever appended and the size in use is written last, so readers need no lock. The file grows in chunks
that are really allocated: on a full disk an unallocated page would be a SIGBUS. Where there is no room the numbers go
to memory that nobody else sees, and the work goes on.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAGIC = b"rpcgwm1\n"
SUFFIX = ".slot"
JOBS = "jobs-"
"""What the names of files begin with that no daemon's worker writes: those of workers of queues."""

COUNTER, GAUGE, HISTOGRAM, LEVEL = 1, 2, 3, 4
"""Kinds of series. A gauge is the sum over live workers, a level is the highest that any of them says."""
FOLDED = 9
"""The kind of a record of the history that names a file whose numbers it holds."""

_FILLER = 0
_HEADER = struct.Struct("<8sQ")
_RECORD = struct.Struct("<HBxI")
_CHUNK = 64 * 4096
_CELL = 8


class Cells(NamedTuple):
    """One series' numbers are `view[start]`, `view[start + 1]`, ...; to write them is all there is to it."""

    view: memoryview[float]
    start: int


class Record(NamedTuple):
    """One series as it lies in a file; `start` counts cells from the file's beginning."""

    name: bytes
    kind: int
    start: int
    cells: int


def slot_name(generation: int, slot: int) -> str:
    """The name of the file of a generation's worker slot."""
    return f"g{generation}-{slot}{SUFFIX}"


def series_name(family: str, labels: Sequence[str] = ()) -> bytes:
    """The name of a series: a JSON list of its family and its labels' values."""
    return json.dumps([family, *labels], separators=(",", ":")).encode()


class SlotFile:
    """The writer's side, one process at a time. Opening it takes over a dead worker's counters and zeroes its gauges.

    Never raises because of the file: `trouble` says why numbers go to memory instead, and is empty where they do not.
    """

    def __init__(self, path: str) -> None:
        self.trouble = ""
        self._descriptor = -1
        self._known: dict[bytes, Cells] = {}
        self._chunks: list[tuple[memoryview, memoryview[float]]] = []
        self._used = _HEADER.size
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._take_over(in_use(os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)))
        except OSError as error:
            self._give_up(error)
        if not self._chunks:
            self._grow()
        self._header = self._chunks[0][0].cast("Q")
        self._publish()
        self._chunks[0][0][: len(MAGIC)] = MAGIC

    def series(self, kind: int, name: bytes, cells: int = 1) -> Cells:
        """The cells of a series, which is appended where it is new and keeps its first shape."""
        return self._known.get(name) or self._append(kind, name, cells)

    def close(self) -> None:
        """Give back the descriptor; cells that were handed out stay usable."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take_over(self, content: bytes) -> None:
        if not content:
            os.ftruncate(self._descriptor, 0)
        while len(self._chunks) * _CHUNK < len(content):
            self._grow()
        for record in records(content):
            chunk, start = divmod(record.start, _CHUNK // _CELL)
            view = self._chunks[chunk][1]
            self._known[record.name] = Cells(view, start)
            if record.kind in (GAUGE, LEVEL):
                for cell in range(start, start + record.cells):
                    view[cell] = 0.0
        self._used = max(len(content), _HEADER.size)

    def _append(self, kind: int, name: bytes, cells: int) -> Cells:
        record = pack_record(kind, name, cells)
        if self._used % _CHUNK + len(record) > _CHUNK or self._used == len(self._chunks) * _CHUNK:
            self._fill_up()
            self._grow()
        raw, numbers = self._chunks[-1]
        place = self._used % _CHUNK
        raw[place : place + len(record)] = record
        self._used += len(record)
        self._publish()
        self._known[name] = Cells(numbers, (place + len(record)) // _CELL - cells)
        return self._known[name]

    def _fill_up(self) -> None:
        room = len(self._chunks) * _CHUNK - self._used
        if room:
            place = self._used % _CHUNK
            filler = _RECORD.pack(0, _FILLER, (room - _RECORD.size) // _CELL)
            self._chunks[-1][0][place : place + _RECORD.size] = filler
            self._used += room

    def _grow(self) -> None:
        offset = len(self._chunks) * _CHUNK
        if not self.trouble:
            try:
                os.posix_fallocate(self._descriptor, offset, _CHUNK)
                self._keep(mmap.mmap(self._descriptor, _CHUNK, offset=offset))
                return
            except OSError as error:
                self._give_up(error)
        self._keep(mmap.mmap(-1, _CHUNK))

    def _keep(self, chunk: mmap.mmap) -> None:
        raw = memoryview(chunk)
        self._chunks.append((raw, raw.cast("d")))

    def _give_up(self, error: OSError) -> None:
        self.trouble = str(error)

    def _publish(self) -> None:
        """One store of eight bytes: `pack_into` would zero the header first, and a kill in between lose the file."""
        if not self.trouble:
            self._header[1] = self._used


def pack_record(kind: int, name: bytes, cells: int | memoryview[float]) -> bytes:
    """A record with its numbers, or with that many zeros."""
    numbers = bytes(_CELL * cells) if isinstance(cells, int) else cells.tobytes()
    head = _RECORD.pack(len(name), kind, len(numbers) // _CELL)
    return b"".join((head, name.ljust(_padded(len(name))), numbers))


def pack_file(parts: Sequence[bytes]) -> bytes:
    """A whole file of records, for whoever does not map it."""
    return b"".join((_HEADER.pack(MAGIC, _HEADER.size + sum(map(len, parts))), *parts))


def records(content: bytes) -> Iterator[Record]:
    """The records of a file's part in use; ends early where they make no sense."""
    offset = _HEADER.size
    while offset + _RECORD.size <= len(content):
        size, kind, cells = _RECORD.unpack_from(content, offset)
        name = offset + _RECORD.size
        start = name + _padded(size)
        offset = start + _CELL * cells
        if kind != _FILLER and offset <= len(content):
            yield Record(content[name : name + size], kind, start // _CELL, cells)


def read(path: str) -> bytes:
    """The part of a file that is in use; empty where there is none, or it is none of these. Raises `OSError`."""
    try:
        with open(path, "rb", buffering=0) as file:
            return in_use(file.read())
    except FileNotFoundError:
        return b""


def in_use(content: bytes) -> bytes:
    """The part of a content that is in use; empty where it is no such file's."""
    if len(content) < _HEADER.size:
        return b""
    magic, used = _HEADER.unpack_from(content)
    sound = magic == MAGIC and used % _CELL == 0 and _HEADER.size <= used <= len(content)
    return content[:used] if sound else b""


def _padded(size: int) -> int:
    return (size + _CELL - 1) & -_CELL
