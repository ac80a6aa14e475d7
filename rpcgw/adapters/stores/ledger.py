"""The usage log in a database: one table, the same statements for SQLite and PostgreSQL. Blocks; belongs into a thread.

Of a call its id is kept until its end was told, an hour at most; no address, no text of the page or of the visitor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
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

_Done = TypeVar("_Done")


class Cursor(Protocol):
    """What a statement gives."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""

    def fetchall(self) -> list[Any]:
        """The rows that it found."""

    def executemany(self, statement: Any, values: Any, /) -> Any:
        """Run a statement once for each row of values."""


class Connection(Protocol):
    """An open database that commits each statement by itself, outside of BEGIN and COMMIT."""

    def execute(self, statement: Any, values: Any = ..., /) -> Cursor:
        """Run one statement."""

    def cursor(self) -> Cursor:
        """Something that runs one statement with many values."""

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
        begun = [(each.at, each.site, each.tool, each.client, each.call) for each in told if isinstance(each, Begun)]
        if begun:
            connection.cursor().executemany(_INSERT.replace("?", self._mark), begun)
        return [isinstance(each, Begun) or self._ended(connection, each) for each in told]

    def _ended(self, connection: Connection, end: Ended) -> bool:
        return self._run(connection, _END, end.outcome, end.ms, end.site, end.call).rowcount > 0

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


def _where(query: Query, since: int) -> tuple[str, list[object]]:
    """The condition of a query; each filter is a value, never part of the statement."""
    given = (query.site, query.tool, query.client, query.outcome)
    filters = [(condition, value) for condition, value in zip(_FILTERS, given, strict=True) if value]
    return " AND ".join(["at >= ?", *(condition for condition, _ in filters)]), [
        since,
        *(value for _, value in filters),
    ]


_FILTERS: Final = ("site = ?", "tool = ?", "client = ?", "COALESCE(outcome, 'open') = ?")
_INSERT: Final = "INSERT INTO webmcp_uses (at, site, tool, client, call) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_END: Final = "UPDATE webmcp_uses SET outcome = ?, ms = ?, call = NULL WHERE site = ? AND call = ?"
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
