"""The usage log in PostgreSQL, where several hosts share it (extra `postgres`)."""

from __future__ import annotations

from functools import partial
from typing import Final

import psycopg

from rpcgw.adapters.stores.ledger import INDEXES, Ledger

PATIENCE: Final = 5
"""Seconds that connecting may take."""
_STATEMENT: Final = "5s"
_LOCK: Final = 0x72706367
_SCHEMA: Final = (
    # Of hosts that make the table at once all but one wait.
    f"SELECT pg_advisory_xact_lock({_LOCK})",
    (
        "CREATE TABLE IF NOT EXISTS webmcp_uses (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "at bigint NOT NULL, site text NOT NULL, tool text NOT NULL, client text NOT NULL, call text, outcome text, "
        "ms integer)"
    ),
    *INDEXES,
)


def open_database(dsn: str) -> Ledger:
    """The log in a database; its table is made with the first beacon."""
    return Ledger(partial(_connect, dsn), mark="%s")


def _connect(dsn: str) -> psycopg.Connection[tuple[object, ...]]:
    connection = psycopg.connect(
        dsn, autocommit=True, connect_timeout=PATIENCE, options=f"-c statement_timeout={_STATEMENT}"
    )
    try:
        with connection.transaction():
            for statement in _SCHEMA:
                connection.execute(statement)
    except psycopg.Error:
        connection.close()
        raise
    return connection
