"""What is promised: the rows of the table, each with what must be, what is aimed at, and how it is read.

A target's figure is a quotient of two cases, each by its ratio to the floor around it, or what a probe found.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bench.measuring import Runs
from bench.verdicts import NOISE, Better, Reading, Verdict, judged, quotient

FLOOR: Final = "bare aiohttp"

BUSY: Final = 0.85
"""Below it the throughput is that of the load, not of the server."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A metric of one case over that of another; FLOOR is the bare handler."""

    metric: str
    ours: str
    theirs: str = FLOOR

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases that it takes."""
        return tuple(name for name in (self.ours, self.theirs) if name != FLOOR)

    def read(self, found: Mapping[str, Runs]) -> Reading:
        """The reading; how far the floor wandered around one of its cases says how much it is worth."""
        runs = [found.get(name, Runs()) for name in self.cases]
        lost = next((one for one in runs if not one.runs), None)
        if lost is not None:
            return Reading(None, note=lost.failed)
        ratios = [[run.ratio(self.metric) for run in one.runs] for one in runs]
        floors = [[floor.of(self._noise) for run in one.runs for floor in run.floors] for one in runs]
        reading = quotient(ratios[0], ratios[1] if len(ratios) > 1 else [1.0], *floors)
        busy = min(statistics.median(run.figure.busy for run in one.runs) for one in runs)
        if self.metric == "rps" and reading.spread <= NOISE and busy < BUSY:
            return Reading(
                None, note=f"a server was busy for {busy:.0%} of the time only: take wrk, or a quiet machine"
            )
        return reading

    @property
    def _noise(self) -> str:
        """What the floor is watched by: a disturbed p99 shows in the floor's throughput, and is not steady itself."""
        return "cpu" if self.metric == "cpu" else "rps"


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe of this name found; `cases` is empty, as it takes none."""

    probe: str
    part: str

    @property
    def cases(self) -> tuple[str, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class Target:
    """A row: a figure with what it must be and what is aimed at. `short`: it is a row of the short form, too."""

    title: str
    source: Quotient | Probed
    must: float | None
    aim: float | None
    better: Better = "less"
    unit: str = ""
    short: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A target with its figure, what that was held to, and the verdict."""

    target: Target
    reading: Reading
    bound: float | None
    verdict: Verdict


def _more(title: str, ours: str, theirs: str, must: float, aim: float | None) -> Target:
    return Target(title, Quotient("rps", ours, theirs), must, aim, "more")


def _cpu(
    title: str, ours: str, must: float, aim: float | None = None, *, over: str = FLOOR, short: bool = False
) -> Target:
    return Target(title, Quotient("cpu", ours, over), must, aim, short=short)


SLOPE: Final = 1.1
"""How much dearer a call may be where there is more of something: within 10 %."""

TARGETS: Final = (
    _cpu("CPU of a small call over the bare handler's", "small call", 0.65, 0.45, short=True),
    _more("throughput over mcp 1.x, stateless", "small call", "mcp 1.x stateless", 50, 95),
    _more("throughput over mcp 2.x, stateless", "small call", "mcp 2.x stateless", 25, 43),
    _more("throughput over mcp 2.x, 2026-07-28", "small call", "mcp 2.x 2026-07-28", 14, 24),
    _more("throughput over bolt-mcp (Rust), small", "small call", "bolt-mcp", 1.3, 2),
    _more("throughput over bolt-mcp (Rust), 10 objects", "10 objects", "bolt-mcp, 10 objects", 1.5, 2.2),
    _more("throughput over bolt-mcp (Rust), 100 objects", "100 objects", "bolt-mcp, 100 objects", 3, 5),
    _more("session call over stateless, file pool", "session call, file pool", "small call", 0.85, 0.95),
    _more(
        "session call over stateless, Redis, two daemons", "session call, Redis, two daemons", "small call", 0.8, 0.95
    ),
    _more("JSON-RPC call over pjrpc on aiohttp", "JSON-RPC call", "pjrpc", 4, 6),
    _cpu("CPU of bad arguments over good ones, a wrong type", "a wrong type", 1.2, 1, over="small call", short=True),
    _cpu("CPU of bad arguments over good ones, out of range", "out of range", 1.2, 1, over="small call", short=True),
    Target("p99 over the bare handler's, 16 connections", Quotient("p99", "small call"), 1.2, 0.8),
    Target("p99 over the bare handler's, 64 connections", Quotient("p99", "small call, 64 connections"), 1.2, 0.8),
    _cpu("CPU of the aiohttp door alone", "aiohttp door alone", 1.5, 1.2, short=True),
    _cpu("CPU of tools/list at 10,000 tools, a page of 100", "tools/list, a page of 10,000", 2.2, 1.5),
    _cpu("CPU of tools/list at 10,000 tools, gzip", "tools/list, gzip, 10,000", 2.2, 1.5),
    _cpu("CPU of the document of 10,000 methods, 304", "document, 304, 10,000", 2.2, 1.5),
    Target("start to first answer, without plugins", Probed("starts", "without plugins"), 2.5, 1.8),
    Target("start to first answer, 1,000 tools", Probed("starts", "1,000 tools"), 3.5, 2.2),
    Target("idle memory of a worker without plugins", Probed("memory", "idle"), 1.7, 1.45),
    Target("memory growth over a million calls", Probed("memory", "growth"), 2, 0.5, unit="MiB"),
    Target("memory of a session", Probed("memory", "session"), 1, None, unit="KiB"),
    Target("longest stall while /metrics is scraped, 1,000 tools", Probed("stall", "longest"), 10, 2, unit="ms"),
    Target("throughput of two workers over one", Probed("workers", "two"), 1.4, 1.65, "more"),
    _cpu("slope: a call at 1,000 tools over 10", "call at 1,000 tools", SLOPE, over="call at 10 tools", short=True),
    _cpu("slope: a call at 10,000 tools over 10", "call at 10,000 tools", SLOPE, over="call at 10 tools"),
    _cpu(
        "slope: a call with 50 groups of 4 versions over one",
        "call at 50 groups",
        SLOPE,
        over="call at 10 tools",
        short=True,
    ),
    _cpu(
        "slope: a session call with 2,000 sessions over one",
        "session call, 2,000 sessions",
        SLOPE,
        over="session call, file pool",
    ),
    _cpu("slope: a call over 64 connections over 16", "small call, 64 connections", SLOPE, over="small call"),
)


SLACK: Final = 1.6
"""How much more than usual the short form lets pass: what differs between machines, and not a cost that doubles."""

Usual = Mapping[str, float]
"""What the short form compares with: figures by title."""


def rows(
    wanted: Iterable[Target],
    found: Mapping[str, Runs],
    probed: Mapping[str, Mapping[str, Reading]],
    usual: Usual | None = None,
) -> list[Row]:
    """Each target with its figure and verdict; held to what is usual where that is given, else to what must be."""
    return [_row(target, _reading(target.source, found, probed), usual) for target in wanted]


def _row(target: Target, reading: Reading, usual: Usual | None) -> Row:
    bound = _bound(target, usual)
    return Row(target, reading, bound, judged(reading, bound, target.better))


def _bound(target: Target, usual: Usual | None) -> float | None:
    if usual is None:
        return target.must
    return SLACK * usual[target.title] if target.title in usual else None


def _reading(
    source: Quotient | Probed, found: Mapping[str, Runs], probed: Mapping[str, Mapping[str, Reading]]
) -> Reading:
    if isinstance(source, Quotient):
        return source.read(found)
    return probed.get(source.probe, {}).get(source.part, Reading(None))
