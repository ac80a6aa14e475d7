"""What the usage log says of a time: sums by day, tool, agent and outcome. Pure; days are those of UTC.

A log gives `Group`s, one for each day, tool, agent and outcome that occurs; everything that is shown is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rpcgw.api.records import record

DAYS: Final = (7, 30, 90)
DEFAULT_DAYS: Final = 30
A_DAY: Final = 86_400
OPEN: Final = "open"
"""The outcome of a call whose end was never told."""


@record(frozen=True, slots=True)
class Query:
    """What is asked for: the last `days` days, today included, and filters; empty ones let everything through."""

    days: int = DEFAULT_DAYS
    site: str = ""
    tool: str = ""
    client: str = ""
    outcome: str = ""

    def since(self, now: float) -> int:
        """The first second that counts, since the epoch: a day's beginning."""
        return (int(now) // A_DAY - self.days + 1) * A_DAY


@record(frozen=True, slots=True)
class Group:
    """Calls that have a day (counted from the epoch), a tool, an agent and an outcome in common.

    `timed` of them were timed, and took `ms` milliseconds together.
    """

    day: int
    site: str
    tool: str
    client: str
    outcome: str
    calls: int
    timed: int = 0
    ms: int = 0


@record(frozen=True, slots=True)
class Use:
    """One call as it is listed; `ms` is None where its end was never told."""

    at: int
    site: str
    tool: str
    client: str
    outcome: str
    ms: int | None = None


@record(frozen=True, slots=True)
class Answered:
    """What a log has for a query. `median` and `slow` (of twenty calls nineteen were faster) are in milliseconds.

    `sites`, `tools` and `clients` are all that were ever seen; `recent` are the last calls, the newest first.
    """

    groups: Sequence[Group] = ()
    recent: Sequence[Use] = ()
    sites: Sequence[str] = ()
    tools: Sequence[str] = ()
    clients: Sequence[str] = ()
    median: int | None = None
    slow: int | None = None


@record(frozen=True, slots=True)
class Share:
    """One name's part: its calls, how many of those that ended went well, and how long they took on average."""

    name: str
    calls: int
    ended: int
    ok: int
    mean_ms: int | None

    @property
    def success(self) -> float | None:
        """The part of ended calls that went well, from 0 to 1."""
        return self.ok / self.ended if self.ended else None


@record(frozen=True, slots=True)
class Figures:
    """What is shown. `by_day` has a number for each day, the oldest first; other lists have the most calls first."""

    total: Share
    by_day: Sequence[tuple[int, int]]
    by_site: Sequence[Share]
    by_tool: Sequence[Share]
    by_client: Sequence[Share]
    by_outcome: Sequence[Share]


def asked(given: Callable[[str], str | None]) -> Query:
    """The query of a request's parameters; a number of days that is not offered is the default."""
    days = given("days") or ""
    chosen = int(days) if days in map(str, DAYS) else DEFAULT_DAYS
    site, tool, client, outcome = ((given(name) or "")[:200] for name in ("site", "tool", "client", "outcome"))
    return Query(chosen, site, tool, client, outcome)


def figures(groups: Sequence[Group], query: Query, now: float) -> Figures:
    """The figures of the groups that a log gave for a query; `now` is seconds since the epoch."""
    today = int(now) // A_DAY
    per_day = dict.fromkeys(range(today - query.days + 1, today + 1), 0)
    for group in groups:
        if group.day in per_day:
            per_day[group.day] += group.calls
    return Figures(
        total=_share("", groups),
        by_day=tuple(per_day.items()),
        by_site=_shares(groups, lambda group: group.site),
        by_tool=_shares(groups, lambda group: group.tool),
        by_client=_shares(groups, lambda group: group.client),
        by_outcome=_shares(groups, lambda group: group.outcome),
    )


def _shares(groups: Iterable[Group], name_of: Callable[[Group], str]) -> tuple[Share, ...]:
    by_name: dict[str, list[Group]] = {}
    for group in groups:
        by_name.setdefault(name_of(group), []).append(group)
    shares = (_share(name, own) for name, own in by_name.items())
    return tuple(sorted(shares, key=lambda share: (-share.calls, share.name)))


def _share(name: str, groups: Sequence[Group]) -> Share:
    timed, took = sum(group.timed for group in groups), sum(group.ms for group in groups)
    return Share(
        name=name,
        calls=sum(group.calls for group in groups),
        ended=sum(group.calls for group in groups if group.outcome != OPEN),
        ok=sum(group.calls for group in groups if group.outcome == "ok"),
        mean_ms=round(took / timed) if timed else None,
    )
