"""What the code counts with: counters, gauges and histograms bound to cells of a slot file. Standard library only.

Bind once, then count: an increment is one addition in mapped memory, with no look-up and no lock. Not for threads:
two of them may lose an increment to each other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from rpcgw.adapters.telemetry.families import FAMILIES, Family
from rpcgw.adapters.telemetry.slotfile import SlotFile, series_name

OTHER = "other"
"""What every label says once a family has as many series as it may have."""


class Number:
    """One counter, gauge or level."""

    __slots__ = ("start", "view")

    def __init__(self, view: memoryview[float], start: int) -> None:
        self.view = view
        self.start = start

    def add(self, amount: float = 1.0) -> None:
        """Count up, or down where it is a gauge."""
        self.view[self.start] += amount

    def set(self, value: float) -> None:
        """Say how things stand; for gauges and levels."""
        self.view[self.start] = value


class Histogram:
    """One distribution: buckets, the last one unbounded, and the sum of all values."""

    __slots__ = ("bounds", "start", "sum", "view")

    def __init__(self, view: memoryview[float], start: int, bounds: Sequence[float]) -> None:
        self.view = view
        self.start = start
        self.bounds = bounds
        self.sum = start + len(bounds) + 1

    def observe(self, value: float) -> None:
        """Count a value in the first bucket whose bound is not below it."""
        view = self.view
        view[self.start + bisect_left(self.bounds, value)] += 1.0
        view[self.sum] += value


def once(number: Number, histogram: Histogram) -> Callable[[float], None]:
    """Counts one more, and its value: what happens with every call is worth one function."""
    counts, count = number.view, number.start
    view, start, bounds, total = histogram.view, histogram.start, histogram.bounds, histogram.sum

    def tell(value: float) -> None:
        counts[count] += 1.0
        view[start + bisect_left(bounds, value)] += 1.0
        view[total] += value

    return tell


def thrice(
    number: Number, first: Histogram, second: Histogram, third: Histogram
) -> Callable[[float, float, float], None]:
    """Counts one more, and a value in each of three distributions."""
    counts, count = number.view, number.start
    first_view, first_start, first_bounds, first_sum = first.view, first.start, first.bounds, first.sum
    second_view, second_start, second_bounds, second_sum = second.view, second.start, second.bounds, second.sum
    third_view, third_start, third_bounds, third_sum = third.view, third.start, third.bounds, third.sum

    def tell(one: float, two: float, three: float) -> None:
        counts[count] += 1.0
        first_view[first_start + bisect_left(first_bounds, one)] += 1.0
        first_view[first_sum] += one
        second_view[second_start + bisect_left(second_bounds, two)] += 1.0
        second_view[second_sum] += two
        third_view[third_start + bisect_left(third_bounds, three)] += 1.0
        third_view[third_sum] += three

    return tell


class Slots:
    """Hands out the series of a slot file, each family within its limit."""

    def __init__(self, file: SlotFile) -> None:
        self._file = file
        self._left = {family.name: family.limit for family in FAMILIES.values()}
        self._known: set[bytes] = set()

    def number(self, family: Family, *labels: str) -> Number:
        """The counter, gauge or level with these values for the family's labels."""
        return Number(*self._file.series(family.kind, self._name(family, labels)))

    def histogram(self, family: Family, *labels: str) -> Histogram:
        """The histogram with these values for the family's labels."""
        view, start = self._file.series(family.kind, self._name(family, labels), family.cells)
        return Histogram(view, start, family.bounds)

    def _name(self, family: Family, labels: Sequence[str]) -> bytes:
        name = series_name(family.name, labels)
        if name in self._known:
            return name
        if self._left[family.name] <= 0:
            return series_name(family.name, [OTHER] * len(labels))
        self._left[family.name] -= 1
        self._known.add(name)
        return name
