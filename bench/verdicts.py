"""What a figure is worth beside what was promised. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

NOISE = 0.25
"""How far the floor itself may wander before its neighbours' figures mean nothing."""

Better = Literal["less", "more"]


class Verdict(StrEnum):
    """How a figure stands to its target."""

    MET = "met"
    MISSED = "missed"
    NOISY = "noisy"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Reading:
    """A figure, and how far what it was measured against wandered meanwhile (0.1: by a tenth).

    `value` is None where nothing was measured; `note` says why then.
    """

    value: float | None
    spread: float = 0.0
    note: str = ""


def spread(values: Iterable[float]) -> float:
    """How far the largest value lies above the smallest; 0 for fewer than two."""
    seen = list(values)
    if len(seen) < 2:
        return 0.0
    low = min(seen)
    return max(seen) / low - 1 if low > 0 else float("inf")


def quotient(ours: Sequence[float], theirs: Sequence[float], *floors: Iterable[float]) -> Reading:
    """The median of ours over the median of theirs; what the floor was around either says what that is worth."""
    if not ours or not theirs:
        return Reading(None)
    return Reading(statistics.median(ours) / statistics.median(theirs), max(map(spread, floors), default=0.0))


def judged(reading: Reading, must: float | None, better: Better) -> Verdict:
    """The verdict on a reading; what nothing was promised about is met."""
    if reading.value is None:
        return Verdict.UNMEASURED
    if reading.spread > NOISE:
        return Verdict.NOISY
    if must is None:
        return Verdict.MET
    return Verdict.MET if (reading.value <= must if better == "less" else reading.value >= must) else Verdict.MISSED
