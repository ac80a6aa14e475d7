"""A daemon with nothing to spare: callers by MCP who never rest, and beacons of pages beside them, at a pace.

The daemon has one worker on one core, and whoever sends has another one. What is compared is calls for a second of the
daemon's own processor time, in windows with and without beacons by turns: who else wants that core decides nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any, TypeVar, cast

from tests.support.sites import OURS, begin

BEACONS = 2000
"""Beacons a second."""
ADDRESSES = tuple(f"127.0.0.{number}" for number in range(11, 19))
"""Whom they come from: all of 127.0.0.0/8 is this machine."""
CONNECTIONS = 400
"""Of all of them together; on none is a beacon sent before the last one is answered, as no browser does."""
CALLERS = 16
WINDOW = 0.5
"""Seconds of a window."""
SENT = round(BEACONS * WINDOW)
"""Beacons of a window."""
CORES = sorted(os.sched_getaffinity(0))
_STEP = 0.002
_META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
_PARAMS = {"name": "Catalog.find", "arguments": {"query": "lamp"}, "_meta": _META}
_MODERN = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "Catalog.find",
}


def request(path: str, said: Any, fields: dict[str, str]) -> bytes:
    """A request as it goes over the wire."""
    body = json.dumps(said).encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in {"Content-Type": "application/json", **fields}.items())
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


CALL = request("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _PARAMS}, _MODERN)


class Line(asyncio.Protocol):
    """A connection whose answers are counted by their status, in `said`."""

    def __init__(self, said: Counter[int]) -> None:
        self.said = said
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it for whoever sends."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one, and does not derive from it

    def data_received(self, data: bytes) -> None:
        """Count the answers that are whole."""
        data = self._rest + data
        while (end := data.find(b"\r\n\r\n") + 4) > 3:
            length = data[:end].lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if len(data) < (whole := end + int(length or 0)):
                break
            self.said[int(data[9:12])] += 1
            data = data[whole:]
            self.answered()
        self._rest = data

    def answered(self) -> None:
        """An answer is here."""


class Caller(Line):
    """Calls without a pause, once it has begun."""

    def begin(self) -> None:
        """Make the first call."""
        self.transport.write(CALL)

    def answered(self) -> None:
        """Make the next one."""
        self.transport.write(CALL)


class Page(Line):
    """Waits among those that are `free`, but while a beacon of its is not answered."""

    def __init__(self, said: Counter[int], free: deque[Page]) -> None:
        super().__init__(said)
        self._free = free
        free.append(self)

    def answered(self) -> None:
        """The last of those that may send the next beacon."""
        self._free.append(self)


Kind = TypeVar("Kind", bound=Line)


@dataclass(frozen=True, slots=True)
class Window:
    """What a window saw: answers to calls and to beacons by their status, and seconds that the daemon worked."""

    calls: Counter[int]
    beacons: Counter[int]
    worked: float

    @property
    def rate(self) -> float:
        """Calls for a second of the daemon's processor time."""
        return self.calls.total() / self.worked


@dataclass(frozen=True, slots=True)
class Outcome:
    """Windows with beacons, each between two `quiet` ones, of which there is one more."""

    quiet: Sequence[Window]
    beside: Sequence[Window]

    @property
    def beacon(self) -> float:
        """Processor seconds of a beacon: what its windows took beyond what their calls take in quiet ones."""
        return median((b.worked - b.calls.total() / quiet) / b.beacons.total() for quiet, b in self._pairs())

    @property
    def lost(self) -> float:
        """The share of its throughput that one core with nothing to spare loses to beacons at their pace.

        It is what they take of each of its seconds; to look at calls alone would charge the daemon for what others on
        this machine take of that core.
        """
        return BEACONS * self.beacon

    @property
    def calls(self) -> Counter[int]:
        """The answers to all calls."""
        return sum((window.calls for window in (*self.quiet, *self.beside)), Counter())

    @property
    def beacons(self) -> Counter[int]:
        """The answers to all beacons."""
        return sum((window.beacons for window in self.beside), Counter())

    def _pairs(self) -> Iterator[tuple[float, Window]]:
        """Each window with beacons, and the rate of the quiet ones around it."""
        rates = [window.rate for window in self.quiet]
        means = ((before + after) / 2 for before, after in pairwise(rates))
        return zip(means, self.beside, strict=True)


async def saturated(port: int, pid: int, rounds: int) -> Outcome:
    """Windows with and without beacons by turns. What is sent in a window is answered before it ends."""
    calls, beacons = Counter[int](), Counter[int]()
    callers = [await _connected(Caller(calls), port) for _ in range(CALLERS)]
    free = deque[Page]()
    pages = [await _connected(Page(beacons, free), port, at) for at in islice(cycle(ADDRESSES), CONNECTIONS)]
    quiet: list[Window] = []
    beside: list[Window] = []
    numbers = count()
    for caller in callers:
        caller.begin()
    await asyncio.sleep(WINDOW)
    try:
        for windows in (*(quiet, beside) * rounds, quiet):
            before, worked = calls.copy(), processor(pid)
            beacons.clear()
            await (_beacons(free, numbers, beacons) if windows is beside else asyncio.sleep(WINDOW))
            windows.append(Window(calls - before, beacons.copy(), processor(pid) - worked))
    finally:
        for line in (*callers, *pages):
            line.transport.close()
    return Outcome(quiet, beside)


async def _connected(line: Kind, port: int, address: str = "127.0.0.1") -> Kind:
    await asyncio.get_running_loop().create_connection(lambda: line, "127.0.0.1", port, local_addr=(address, 0))
    return line


async def _beacons(free: deque[Page], numbers: Iterator[int], said: Counter[int]) -> None:
    """A window's beacons, at their pace, from the connections in turn; returns once all are answered."""
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    async with asyncio.timeout(60):
        while said.total() < SENT:
            due = min(round((loop.time() - began) * BEACONS), SENT) - sent
            for number in islice(numbers, min(due, len(free))):
                beacon = begin(call=f"{number:032}")
                free.popleft().transport.write(request("/webmcp/event", beacon, OURS))
                sent += 1
            await asyncio.sleep(_STEP)


def processor(pid: int) -> float:
    """Seconds that a process, and all that descend from it, have worked, to the microsecond."""
    return sum(time.clock_gettime(~each << 3 | 2) for each in _family(pid))  # clock_getcpuclockid(3)


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _family(int(child))


@contextlib.contextmanager
def pinned(core: int) -> Iterator[None]:
    """This thread, and what it starts meanwhile, has this one of the cores, where there are so many."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORES[core % len(CORES)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
