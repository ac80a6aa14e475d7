"""The usage log's figures as bars, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import itertools

import pytest

from rpcgw.protocol.webmcp.report import HEIGHT, WIDTH, as_csv, as_json, chart, date_of, time_of
from rpcgw.protocol.webmcp.statistics import A_DAY, Answered, Group, Query, Use, figures

NOON = 20_000 * A_DAY + 43_200

TOPS = [(0, 1), (1, 1), (2, 2), (3, 5), (5, 5), (6, 10), (11, 20), (99, 100), (101, 200), (4_321, 5_000)]


@pytest.mark.parametrize(("most", "top"), TOPS)
def test_the_scale_is_round(most: int, top: int) -> None:
    """The top of the chart is 1, 2 or 5 with zeros, and no bar is higher."""
    made = chart([(1, 0), (2, most)])
    assert made.top == top
    assert made.bars[1].height == pytest.approx(HEIGHT * most / top, abs=0.01)
    assert made.bars[1].y + made.bars[1].height == pytest.approx(HEIGHT, abs=0.02)


@pytest.mark.parametrize("days", [7, 30, 90])
def test_bars_stand_side_by_side(days: int) -> None:
    """A bar a day, the oldest first, none over another or over the edge."""
    made = chart([(20_000 + day, day) for day in range(days)])
    assert [bar.calls for bar in made.bars] == list(range(days))
    ends = [(bar.x, bar.x + bar.width) for bar in made.bars]
    assert all(right <= left for (_, right), (left, _) in itertools.pairwise(ends))
    assert ends[-1][1] <= WIDTH


def test_days_and_times_are_those_of_utc() -> None:
    """ISO 8601, wherever the daemon stands."""
    assert (date_of(20_000), time_of(NOON)) == ("2024-10-04", "2024-10-04T12:00:00Z")


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_has_no_formula(text: str) -> None:
    """What a spreadsheet would compute is text there, in every column."""
    rows = list(csv.reader(io.StringIO(as_csv([Use(NOON, text, text, text, text, 5)]))))
    assert rows[1] == ["2024-10-04T12:00:00Z", *[f"'{text}"] * 4, "5"]


def test_csv_quotes_what_it_has_to() -> None:
    """Commas, quotes and line breaks stay inside their field; what was never told is empty."""
    rows = list(csv.reader(io.StringIO(as_csv([Use(NOON, 'a"b', "c,d", "e\nf", "open")]))))
    assert rows[1][1:] == ['a"b', "c,d", "e\nf", "open", ""]


def test_json_has_what_the_page_has() -> None:
    """Totals with median and 95th percentile, every day, shares, the last calls."""
    groups = [
        Group(20_000, "main", "find", "Claude", "ok", 3, 3, 30),
        Group(19_999, "main", "find", "Claude", "open", 1),
    ]
    found = Answered(groups, [Use(NOON, "main", "find", "Claude", "ok", 10)], median=9, slow=12)
    query = Query(days=7)
    made = as_json(query, found, figures(groups, query, NOON))
    assert made["total"] == {
        "calls": 4,
        "ended": 3,
        "ok": 3,
        "success": 1.0,
        "mean_ms": 10,
        "median_ms": 9,
        "slow_ms": 12,
    }
    assert [each["calls"] for each in made["days"]] == [0, 0, 0, 0, 0, 1, 3]
    assert made["tools"] == [{"name": "find", "calls": 4, "ended": 3, "ok": 3, "success": 1.0, "mean_ms": 10}]
    assert made["outcomes"] == [{"name": "ok", "calls": 3}, {"name": "open", "calls": 1}]
    assert made["recent"] == [
        {"at": "2024-10-04T12:00:00Z", "site": "main", "tool": "find", "client": "Claude", "outcome": "ok", "ms": 10}
    ]
