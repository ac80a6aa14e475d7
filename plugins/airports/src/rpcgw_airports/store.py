"""The airports in SQLite. The file is made at the first question and never changes after."""

import fcntl
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import airportsdata

from rpcgw_airports.places import Airport, direction

SCHEMA = """
CREATE TABLE airport (
    id INTEGER PRIMARY KEY,
    icao TEXT NOT NULL UNIQUE,
    iata TEXT NOT NULL,
    name TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    latitude REAL NOT NULL,
    longitude REAL NOT NULL,
    elevation REAL NOT NULL,
    timezone TEXT NOT NULL,
    x REAL NOT NULL,
    y REAL NOT NULL,
    z REAL NOT NULL
);
CREATE INDEX airport_iata ON airport(iata);
CREATE VIRTUAL TABLE words USING fts5(
    icao, iata, name, city, content=airport, content_rowid=id, tokenize="unicode61 remove_diacritics 2"
);
"""
COLUMNS = "icao, iata, name, city, country, latitude, longitude, elevation, timezone"
INSERT = f"INSERT INTO airport({COLUMNS}, x, y, z) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- constants
SEARCH = f"""
SELECT {", ".join(f"airport.{column}" for column in COLUMNS.split(", "))}
FROM words JOIN airport ON airport.id = words.rowid
WHERE words MATCH ?
ORDER BY upper(?) IN (airport.iata, airport.icao) DESC, airport.iata = '', rank, airport.icao LIMIT ?
"""  # noqa: S608 -- constants
NEAREST = f"SELECT {COLUMNS} FROM airport ORDER BY x * ? + y * ? + z * ? DESC LIMIT ?"  # noqa: S608 -- constants
CODE = f"SELECT {COLUMNS} FROM airport WHERE upper(?) IN (icao, iata) LIMIT 1"  # noqa: S608 -- constants
POINTS = "SELECT latitude, longitude FROM airport WHERE ? IN (country, '')"


class Store:
    """The airports in one SQLite file, shared by the workers; each thread has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []

    @property
    def _db(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            self._prepare()
            connection = sqlite3.connect(self._path, timeout=5, check_same_thread=False)
            self._local.connection = connection
            self._open.append(connection)
        return connection

    def _prepare(self) -> None:
        """Make the file where there is none yet; threads and workers wait for each other."""
        if self._path.exists():
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._path.exists():
                self._fill()

    def _fill(self) -> None:
        half_made = self._path.with_suffix(".new")
        half_made.unlink(missing_ok=True)
        db = sqlite3.connect(half_made)
        try:
            db.executescript(SCHEMA)
            db.executemany(INSERT, rows())
            db.execute("INSERT INTO words(words) VALUES ('rebuild')")
            db.commit()
        finally:
            db.close()
        half_made.replace(self._path)

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._open:
            connection.close()

    def search(self, query: str, limit: int) -> list[Airport]:
        """The airports whose codes, name or city hold all words of the query."""
        words = " ".join(f'"{word}"*' for word in re.findall(r"\w+", query))
        return self._airports(SEARCH, (words, query.strip(), limit)) if words else []

    def nearest(self, latitude: float, longitude: float, count: int) -> list[Airport]:
        """The airports nearest to a coordinate, nearest first."""
        return self._airports(NEAREST, (*direction(latitude, longitude), count))

    def by_code(self, code: str) -> Airport | None:
        """The airport of an IATA or ICAO code, or None."""
        return next(iter(self._airports(CODE, (code.strip(),))), None)

    def points(self, country: str = "") -> list[tuple[float, float]]:
        """Latitude and longitude of every airport, or of a country's."""
        return self._db.execute(POINTS, (country,)).fetchall()

    def _airports(self, query: str, parameters: Sequence[Any]) -> list[Airport]:
        return [Airport(*row) for row in self._db.execute(query, parameters)]


def rows() -> Iterator[tuple[Any, ...]]:
    """What the package knows, as the columns of `INSERT`."""
    for airport in airportsdata.load().values():
        latitude, longitude = float(airport["lat"]), float(airport["lon"])
        texts = (airport[key] for key in ("icao", "iata", "name", "city", "country"))
        place = (latitude, longitude, float(airport["elevation"]), airport["tz"])
        yield (*texts, *place, *direction(latitude, longitude))
