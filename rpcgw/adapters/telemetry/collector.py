"""Slot files as Prometheus metrics: one custom collector on a registry of its own, and the text of a scrape.

The collector is what prometheus_client expects. Its own text takes 15 microseconds a line, 230 ms at 1,000 methods, and
its escaping and naming are needed once a series only. So `Exposition` lets it render a series when it is first seen,
keeps what stands before each value, and from then on writes values behind it, in slices between which the loop runs.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import operator
import time
from collections.abc import AsyncIterator, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.openmetrics import exposition as openmetrics_text
from prometheus_client.registry import Collector

from rpcgw.adapters.telemetry.families import FAMILIES, Family
from rpcgw.adapters.telemetry.history import read_all
from rpcgw.adapters.telemetry.slotfile import COUNTER, HISTOGRAM, LEVEL, records

_SLICE = 0.001
_CHUNK_LINES = 200
_END = "# EOF\n"

Totals = dict[bytes, list[float]]
_Kind = type[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily]
_KINDS: dict[int, _Kind] = {COUNTER: CounterMetricFamily, HISTOGRAM: HistogramMetricFamily}


class SlotCollector(Collector):
    """The sums over all files of a directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def collect(self) -> Iterator[Metric]:
        """One metric a family that has series; reads every file. Raises `OSError`."""
        totals: Totals = {}
        for content in read_all(self._directory).values():
            for _ in _sum(totals, content):
                pass
        for family, names in _by_family(totals):
            metric = _metric(family)
            for name in names:
                _sample(metric, family, name, totals[name])
            yield metric

    def describe(self) -> list[Metric]:
        """Nothing is promised beforehand."""
        return []


def registry(directory: str) -> CollectorRegistry:
    """A registry with the one collector; the global one of prometheus_client is left alone."""
    made = CollectorRegistry(auto_describe=False)
    made.register(SlotCollector(directory))
    return made


class Exposition:
    """The text of a scrape in one format. `text()` may be asked for by any number of scrapers at the same time."""

    def __init__(self, directory: str, *, openmetrics: bool = False) -> None:
        self._directory = directory
        self._openmetrics = openmetrics
        self._prefixes: dict[bytes, list[str]] = {}

    async def read(self) -> bytes:
        """The text in one piece, made as `text` makes it. Raises `OSError`."""
        return b"".join([piece async for piece in self.text()])

    async def text(self) -> AsyncIterator[bytes]:
        """The text in pieces of some ten KiB; lets the loop run at least every millisecond. Raises `OSError`."""
        totals: Totals = {}
        pause = _Pause()
        for content in read_all(self._directory).values():
            for _ in _sum(totals, content):
                await pause.now_and_then()
        for family, names in _by_family(totals):
            lines = [_written(_metric(family), openmetrics=self._openmetrics)]
            for name in names:
                await pause.now_and_then()
                numbers = _cumulative(totals[name]) if family.kind == HISTOGRAM else totals[name]
                lines += map(_line, self._prefix(family, name), numbers)
                if len(lines) > _CHUNK_LINES:
                    yield "".join(lines).encode()
                    lines.clear()
            yield "".join(lines).encode()
        if len(self._prefixes) > 2 * len(totals):
            self._prefixes = {name: prefix for name, prefix in self._prefixes.items() if name in totals}

    def _prefix(self, family: Family, name: bytes) -> list[str]:
        known = self._prefixes.get(name)
        if known is None:
            metric = _metric(family)
            _sample(metric, family, name, [0.0] * family.cells)
            text = _written(metric, openmetrics=self._openmetrics)
            lines = [line for line in text.split("\n") if line and not line.startswith("#")]
            known = self._prefixes[name] = [line.rpartition(" ")[0] + " " for line in lines]
        return known


def rendered(family: Family, values: Mapping[tuple[str, ...], float], *, openmetrics: bool) -> bytes:
    """The text of a metric that is no sum of slots: its values, by their labels."""
    metric = _metric(family)
    for labels, value in sorted(values.items()):
        metric.add_sample(family.name, dict(zip(family.labels, labels, strict=True)), value)
    return _written(metric, openmetrics=openmetrics).encode()


class _Single(Collector):
    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterator[Metric]:
        yield self._metric


class _Pause:
    """Gives way to the loop once a slice of time is used up."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + _SLICE

    async def now_and_then(self) -> None:
        if time.perf_counter() > self._until:
            await asyncio.sleep(0)
            self._until = time.perf_counter() + _SLICE


def _sum(totals: Totals, content: bytes) -> Iterator[None]:
    """Add a file's numbers, a record at a time."""
    numbers: memoryview[float] = memoryview(content).cast("d")
    for record in records(content):
        values = list(numbers[record.start : record.start + record.cells])
        present = totals.get(record.name)
        if present is None:
            totals[record.name] = values
        elif len(present) == len(values):
            totals[record.name] = list(map(max if record.kind == LEVEL else operator.add, present, values))
        yield


def _by_family(totals: Totals) -> Iterator[tuple[Family, list[bytes]]]:
    """The names by family, in order; what no family of this version describes is left out."""
    for head, names in itertools.groupby(sorted(totals), key=_family_name):
        family = FAMILIES.get(head)
        if family is not None:
            yield family, [name for name in names if len(totals[name]) == family.cells]


def _family_name(name: bytes) -> str:
    return name[2 : name.find(b'"', 2)].decode()


def _metric(family: Family) -> Metric:
    make = _KINDS.get(family.kind, GaugeMetricFamily)
    return make(family.name, family.text, labels=family.labels)


def _sample(metric: Metric, family: Family, name: bytes, numbers: list[float]) -> None:
    labels = json.loads(name)[1:]
    if isinstance(metric, HistogramMetricFamily):
        counts = _cumulative(numbers)
        bounds = [*map(str, family.bounds), "+Inf"]
        metric.add_metric(labels, list(zip(bounds, counts, strict=False)), numbers[-1])
    elif isinstance(metric, CounterMetricFamily | GaugeMetricFamily):
        metric.add_metric(labels, numbers[0])


def _cumulative(numbers: list[float]) -> list[float]:
    """A histogram's lines in their order: each bucket with all below it, the count, the sum."""
    counts = list(itertools.accumulate(numbers[:-1]))
    return [*counts, counts[-1], numbers[-1]]


def _written(metric: Metric, *, openmetrics: bool) -> str:
    """A metric as the library writes it, without the end of a whole text."""
    if openmetrics:
        text: bytes = openmetrics_text.generate_latest(_Single(metric))  # type: ignore[no-untyped-call]
        return text.decode().removesuffix(_END)
    return generate_latest(_Single(metric)).decode()


def _line(prefix: str, value: float) -> str:
    return f"{prefix}{value!r}\n"
