"""What is shown of the usage log."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rpcgw.protocol.webmcp.statistics import A_DAY, OPEN, Group, Query, Share, asked, figures

TODAY = 20_000
NOW = TODAY * A_DAY + 5


def group(day: int, names: str, calls: int, ms: int = 0) -> Group:
    tool, client, outcome = names.split()
    return Group(day, "main", tool, client, outcome, calls, calls if ms else 0, ms)


GROUPS = [
    group(TODAY, "a x ok", 6, 600),
    group(TODAY, "b x error", 2, 100),
    group(TODAY - 6, f"a y {OPEN}", 2),
    group(TODAY - 7, "a y ok", 0),
]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, Query(), id="nothing"),
        pytest.param({"days": "7"}, Query(7), id="a week"),
        pytest.param({"days": "90"}, Query(90), id="a quarter"),
        pytest.param({"days": "8"}, Query(30), id="a number that is not offered"),
        pytest.param({"days": "x"}, Query(30), id="no number"),
        pytest.param({"days": "-7"}, Query(30), id="less than none"),
        pytest.param({"site": "s", "tool": "t", "client": "c", "outcome": "o"}, Query(30, "s", "t", "c", "o"), id="filters"),
        pytest.param({"tool": "a" * 300}, Query(30, tool="a" * 200), id="a long filter"),
    ],
)  # fmt: skip
def test_asked(given: Mapping[str, str], expected: Query) -> None:
    """7, 30 or 90 days; what is neither is 30."""
    assert asked(given.get) == expected


@pytest.mark.parametrize("days", [7, 30, 90])
def test_since(days: int) -> None:
    """Today is one of the days; they begin at midnight, UTC."""
    assert Query(days).since(NOW) == (TODAY - days + 1) * A_DAY


def test_every_day_has_a_number() -> None:
    """The timeline has each day of the time, the oldest first, without calls too."""
    made = figures(GROUPS, Query(7), NOW)
    assert made.by_day == ((TODAY - 6, 2), *((TODAY - ago, 0) for ago in range(5, 0, -1)), (TODAY, 8))


def test_shares() -> None:
    """The most calls come first, then by name; success is of calls that ended, the mean of those that were timed."""
    made = figures(GROUPS, Query(7), NOW)
    assert made.total == Share("", 10, 8, 6, 88)
    assert [(share.name, share.calls) for share in made.by_tool] == [("a", 8), ("b", 2)]
    assert [(share.name, share.calls) for share in made.by_client] == [("x", 8), ("y", 2)]
    assert [share.name for share in made.by_outcome] == ["ok", "error", OPEN]
    assert [share.success for share in made.by_tool] == [1.0, 0.0]


def test_nothing() -> None:
    """Without a call there is no success, no time, and a line of zeros."""
    made = figures([], Query(7), NOW)
    assert (made.total.success, made.total.mean_ms, made.by_tool) == (None, None, ())
    assert [calls for _, calls in made.by_day] == [0] * 7
