"""The usage log's figures as JSON, as CSV, and as the bars of a chart. Pure; days and times are those of UTC."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from rpcgw.api.records import record
from rpcgw.protocol.webmcp.statistics import A_DAY, Answered, Figures, Query, Share, Use

COLUMNS: Final = ("at", "site", "tool", "client", "outcome", "ms")
WIDTH: Final = 720
HEIGHT: Final = 160
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_STEPS: Final = (1, 2, 5)


@record(frozen=True, slots=True)
class Bar:
    """One day of the chart: where its bar stands, in the chart's own units, and what it says."""

    x: float
    y: float
    width: float
    height: float
    day: str
    calls: int


@record(frozen=True, slots=True)
class Chart:
    """Calls a day: the bars, and the number at the top of the scale, a round one."""

    bars: Sequence[Bar]
    top: int


def chart(by_day: Sequence[tuple[int, int]]) -> Chart:
    """The bars of days (counted from the epoch) and their calls, the oldest first."""
    top = _round_up(max((calls for _, calls in by_day), default=0))
    step = WIDTH / max(1, len(by_day))
    bars = []
    for place, (day, calls) in enumerate(by_day):
        height = round(HEIGHT * calls / top, 2)
        bars.append(
            Bar(round(place * step, 2), round(HEIGHT - height, 2), round(step * 0.8, 2), height, date_of(day), calls)
        )
    return Chart(bars, top)


def date_of(day: int) -> str:
    """`2026-11-30` of a day counted from the epoch."""
    return datetime.fromtimestamp(day * A_DAY, UTC).date().isoformat()


def time_of(at: int) -> str:
    """`2026-11-30T21:04:42Z` of seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_json(query: Query, found: Answered, figures: Figures) -> dict[str, Any]:
    """Everything that the page shows."""
    return {
        "query": asdict(query),
        "total": {**_share(figures.total), "median_ms": found.median, "slow_ms": found.slow},
        "days": [{"day": date_of(day), "calls": calls} for day, calls in figures.by_day],
        "sites": [_share(share) for share in figures.by_site],
        "tools": [_share(share) for share in figures.by_tool],
        "clients": [_share(share) for share in figures.by_client],
        "outcomes": [{"name": share.name, "calls": share.calls} for share in figures.by_outcome],
        "recent": [dict(zip(COLUMNS, row_of(use), strict=True)) for use in found.recent],
    }


def as_csv(uses: Iterable[Use]) -> str:
    """A line for each call (RFC 4180); what a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([_harmless(value) for value in row_of(use)] for use in uses)
    return out.getvalue()


def row_of(use: Use) -> tuple[str | int | None, ...]:
    """A call's values in the order of `COLUMNS`."""
    return (time_of(use.at), use.site, use.tool, use.client, use.outcome, use.ms)


def _share(share: Share) -> dict[str, Any]:
    named = {"name": share.name} if share.name else {}
    success = None if share.success is None else round(share.success, 4)
    return {
        **named,
        "calls": share.calls,
        "ended": share.ended,
        "ok": share.ok,
        "success": success,
        "mean_ms": share.mean_ms,
    }


def _harmless(value: str | int | None) -> str | int | None:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _round_up(number: int) -> int:
    """1, 2 or 5 with zeros, at least the number."""
    scale = 1
    while True:
        for step in _STEPS:
            if step * scale >= number:
                return step * scale
        scale *= 10
