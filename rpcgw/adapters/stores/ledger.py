"""The usage log in a database: one table, the same statements for SQLite and PostgreSQL. Blocks; belongs into a thread.

Of a call its id is kept until its end was told, an hour at most; no address, no text of the page or of the visitor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.webmcp.beacons import Begun, Ended, Told
from rpcgw.protocol.webmcp.statistics import Answered, Group, Query, Use

INDEXES: Final = (
    "CREATE UNIQUE INDEX IF NOT EXISTS webmcp_uses_call ON webmcp_uses (site, call) WHERE call IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS webmcp_uses_at ON webmcp_uses (at)",
)
OPEN_FOR: Final = 3600
"""Seconds after which nobody tells the end of a call any more."""
RECENT: Final = 100
MOST_ROWS: Final = 100_000
_AT_ONCE: Final = 1000
_REMEMBERED: Final = 64

_Done = TypeVar("_Done")
_Told = TypeVar("_Told", Begun, Ended)


class Cursor(Protocol):
    """What a statement gives."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""

    def fetchall(self) -> list[Any]:
        """The rows that it found."""


class Connection(Protocol):
    """An open database that commits each statement by itself, outside of BEGIN and COMMIT."""

    def execute(self, statement: Any, values: Any = ..., /) -> Cursor:
        """Run one statement."""

    def close(self) -> None:
        """Give it back."""


class Ledger:
    """One connection, made when it is first needed, and made anew after it failed.

    Args:
        connect: Opens the database, and makes the table where there is none.
        mark: What stands for a value in a statement.
        begin: Begins a transaction that is going to write.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        mark: str = "?",
        begin: str = "BEGIN",
    ) -> None:
        self._connect = connect
        self._mark = mark
        self._begin = begin
        self._connection: Connection | None = None

    def write(self, told: Sequence[Told]) -> list[bool]:
        """Keep what beacons told, all of it or nothing; says of each end whether its beginning was there.

        Raises:
            StoreError: Nothing was kept.
        """
        return self._within(lambda connection: self._written(connection, told), write=True)

    def prune(self, now: int, keep: int) -> int:
        """Remove calls older than `keep` seconds (0: none is), and ids that nobody needs; says how many calls went.

        Raises:
            StoreError: Nothing was removed.
        """
        return self._within(lambda connection: self._pruned(connection, now, keep), write=True)

    def read(self, query: Query, now: float) -> Answered:
        """What there is for a query.

        Raises:
            StoreError: The log cannot be read.
        """
        return self._within(lambda connection: self._answered(connection, query, query.since(now)))

    def rows(self, query: Query, now: float, limit: int = MOST_ROWS) -> list[Use]:
        """The calls that a query asks for, the newest first.

        Raises:
            StoreError: The log cannot be read.
        """
        return self._within(lambda connection: self._uses(connection, query, query.since(now), limit))

    def close(self) -> None:
        """Give back the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _within(self, work: Callable[[Connection], _Done], *, write: bool = False) -> _Done:
        try:
            if self._connection is None:
                self._connection = self._connect()
            connection = self._connection
            if not write:
                return work(connection)
            connection.execute(self._begin)
            done = work(connection)
            connection.execute("COMMIT")
        except Exception as error:
            # Whatever a driver raises: what was not committed is undone, and the next batch begins anew.
            self._forget()
            raise StoreError(f"the usage log: {error}") from error
        return done

    def _forget(self) -> None:
        """A connection that failed is not used again; closing it undoes what was not committed."""
        with suppress(Exception):
            self.close()

    def _run(self, connection: Connection, statement: str, *values: object) -> Cursor:
        return connection.execute(statement.replace("?", self._mark), values)

    def _written(self, connection: Connection, told: Sequence[Told]) -> list[bool]:
        begun = [each for each in told if isinstance(each, Begun)]
        ended = [each for each in told if isinstance(each, Ended)]
        for some in _parts(begun):
            self._run(connection, _of_many(_INSERT, 5, len(some)), *chain.from_iterable(map(_BEGINNING, some)))
        found = chain.from_iterable(self._all_ended(connection, some) for some in _parts(ended))
        return [isinstance(each, Begun) or next(found) for each in told]

    def _all_ended(self, connection: Connection, ended: Sequence[Ended]) -> list[bool]:
        """Write all ends at once where each has its beginning, which is usual, else one by one."""
        calls = {(each.site, each.call) for each in ended}
        (open_ones,) = self._run(connection, _of_many(_OPEN, 2, len(calls)), *chain.from_iterable(calls)).fetchall()[0]
        if open_ones < len(ended):
            return [self._ended(connection, each) for each in ended]
        self._run(connection, _of_many(_ENDS, 4, len(ended)), *chain.from_iterable(map(_ENDING, ended)))
        return [True] * len(ended)

    def _ended(self, connection: Connection, end: Ended) -> bool:
        return self._run(connection, _END, *_ENDING(end)).rowcount > 0

    def _pruned(self, connection: Connection, now: int, keep: int) -> int:
        self._run(connection, _FORGET, now - OPEN_FOR)
        return self._run(connection, _PRUNE, now - keep).rowcount if keep else 0

    def _answered(self, connection: Connection, query: Query, since: int) -> Answered:
        where, values = _where(query, since)
        grouped = self._run(connection, _GROUPS.format(where=where), *values).fetchall()
        groups = [Group(*row) for row in grouped]
        timed = sum(group.timed for group in groups)
        sites, tools, clients = (
            [name for (name,) in self._run(connection, statement).fetchall()] for statement in _NAMES
        )
        return Answered(
            groups=groups,
            recent=self._uses(connection, query, since, RECENT),
            sites=sites,
            tools=tools,
            clients=clients,
            median=self._at(connection, query, since, timed // 2),
            slow=self._at(connection, query, since, timed * 19 // 20),
        )

    def _uses(self, connection: Connection, query: Query, since: int, limit: int) -> list[Use]:
        where, values = _where(query, since)
        return [Use(*row) for row in self._run(connection, _USES.format(where=where), *values, limit).fetchall()]

    def _at(self, connection: Connection, query: Query, since: int, place: int) -> int | None:
        """The duration at a place among all, the shortest first."""
        where, values = _where(query, since)
        found = self._run(connection, _DURATION.format(where=where), *values, place).fetchall()
        return int(found[0][0]) if found else None


def _parts(told: Sequence[_Told]) -> Iterator[Sequence[_Told]]:
    """As many at a time as one statement may have values for."""
    return (told[at : at + _AT_ONCE] for at in range(0, len(told), _AT_ONCE))


@lru_cache(_REMEMBERED)
def _of_many(statement: str, columns: int, count: int) -> str:
    """A statement with `count` rows of values.

    All of them in one go: between two statements a thread gives up the interpreter, and waits to get it back.
    """
    return statement.format(rows=", ".join([f"({', '.join('?' * columns)})"] * count))


def _where(query: Query, since: int) -> tuple[str, list[object]]:
    """The condition of a query; each filter is a value, never part of the statement."""
    given = (query.site, query.tool, query.client, query.outcome)
    filters = [(condition, value) for condition, value in zip(_FILTERS, given, strict=True) if value]
    return " AND ".join(["at >= ?", *(condition for condition, _ in filters)]), [
        since,
        *(value for _, value in filters),
    ]


_BEGINNING: Final = attrgetter("at", "site", "tool", "client", "call")
_ENDING: Final = attrgetter("outcome", "ms", "site", "call")
_FILTERS: Final = ("site = ?", "tool = ?", "client = ?", "COALESCE(outcome, 'open') = ?")
_INSERT: Final = "INSERT INTO webmcp_uses (at, site, tool, client, call) VALUES {rows} ON CONFLICT DO NOTHING"
_OPEN: Final = (
    "WITH told (site, call) AS (VALUES {rows}) SELECT COUNT(*) FROM told CROSS JOIN webmcp_uses AS uses "
    "WHERE uses.site = told.site AND uses.call = told.call"
)
_END: Final = "UPDATE webmcp_uses SET outcome = ?, ms = ?, call = NULL WHERE site = ? AND call = ?"
_ENDS: Final = (
    "WITH told (outcome, ms, site, call) AS (VALUES {rows}) "
    "UPDATE webmcp_uses SET outcome = told.outcome, ms = told.ms, call = NULL FROM told "
    "WHERE webmcp_uses.site = told.site AND webmcp_uses.call = told.call"
)
_FORGET: Final = "UPDATE webmcp_uses SET call = NULL WHERE call IS NOT NULL AND at < ?"
_PRUNE: Final = "DELETE FROM webmcp_uses WHERE at < ?"
_GROUPS: Final = (
    "SELECT at / 86400, site, tool, client, COALESCE(outcome, 'open'), COUNT(*), COUNT(ms), "
    "CAST(COALESCE(SUM(ms), 0) AS bigint) FROM webmcp_uses WHERE {where} GROUP BY 1, 2, 3, 4, 5"
)
_USES: Final = (
    "SELECT at, site, tool, client, COALESCE(outcome, 'open'), ms FROM webmcp_uses WHERE {where} "
    "ORDER BY at DESC, id DESC LIMIT ?"
)
_DURATION: Final = "SELECT ms FROM webmcp_uses WHERE {where} AND ms IS NOT NULL ORDER BY ms LIMIT 1 OFFSET ?"
_NAMES: Final = (
    "SELECT DISTINCT site FROM webmcp_uses ORDER BY 1",
    "SELECT DISTINCT tool FROM webmcp_uses ORDER BY 1",
    "SELECT DISTINCT client FROM webmcp_uses ORDER BY 1",
)
