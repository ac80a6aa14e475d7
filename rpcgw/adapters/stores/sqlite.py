"""The usage log in one file: SQLite with a write-ahead log, so that readers and several workers' writers get along."""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from pathlib import Path
from typing import Final

from rpcgw.adapters.stores.ledger import INDEXES, Ledger

BUSY: Final = 10.0
"""Seconds that a writer waits for another one."""
_SCHEMA: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    (
        "CREATE TABLE IF NOT EXISTS webmcp_uses (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, site TEXT NOT NULL, "
        "tool TEXT NOT NULL, client TEXT NOT NULL, call TEXT, outcome TEXT, ms INTEGER)"
    ),
    *INDEXES,
)


def open_file(path: str) -> Ledger:
    """The log in a file, which only this user may read; it is made with the first beacon."""
    return Ledger(partial(_connect, path), begin="BEGIN IMMEDIATE")


def _connect(path: str) -> sqlite3.Connection:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
    try:
        for statement in _SCHEMA:
            connection.execute(statement)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
