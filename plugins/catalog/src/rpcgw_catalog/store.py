"""The catalogue in SQLite. Queries take well under a millisecond, so async procedures may ask it directly."""

import fcntl
import re
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from rpcgw_catalog.generator import generate
from rpcgw_catalog.products import Category, NewProduct, Page, Product, Shelf

SCHEMA = """
CREATE TABLE product (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents >= 0),
    stock INTEGER NOT NULL CHECK (stock >= 0),
    tags TEXT NOT NULL,
    added TEXT NOT NULL
);
CREATE TABLE renaming (product INTEGER NOT NULL, name TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(name, tags, content=product, content_rowid=id, tokenize="unicode61");
CREATE TRIGGER product_added AFTER INSERT ON product BEGIN
    INSERT INTO words(rowid, name, tags) VALUES (new.id, new.name, new.tags);
END;
CREATE TRIGGER product_changed AFTER UPDATE OF name, tags ON product BEGIN
    INSERT INTO words(words, rowid, name, tags) VALUES ('delete', old.id, old.name, old.tags);
    INSERT INTO words(rowid, name, tags) VALUES (new.id, new.name, new.tags);
END;
"""

COLUMNS = "product.id, sku, product.name, category, cents, stock, product.tags, added"


class DuplicateSkuError(Exception):
    """The SKU belongs to another product."""


class Store:
    """The products in one SQLite file, shared by the workers; each thread has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []

    @property
    def _db(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = connection
            self._open.append(connection)
        return connection

    def prepare(self, *, products: int, seed: int) -> None:
        """Make the file where there is none yet, filled with generated products; workers wait for each other."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._path.exists():
                self._fill(generate(products, seed))

    def _fill(self, products: Iterable[NewProduct]) -> None:
        half_made = self._path.with_suffix(".new")
        half_made.unlink(missing_ok=True)
        db = sqlite3.connect(half_made, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)
            db.execute("BEGIN")
            db.executemany(INSERT, [values(product, date(2026, 1, 1)) for product in products])
            db.execute("COMMIT")
        finally:
            db.close()
        half_made.replace(self._path)

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._open:
            connection.close()

    def search(self, query: str, limit: int, category: Category | None = None, offset: int = 0) -> Page:
        """The products whose name or tags hold all words of the query, most relevant first."""
        match = full_text(query)
        if not match:
            return Page(0, [])
        where = "words MATCH ?" + (" AND category = ?" if category else "")
        values_of_where: list[Any] = [match, *([category.value] if category else [])]
        source = f"FROM words JOIN product ON product.id = words.rowid WHERE {where}"
        total = self._db.execute(f"SELECT count(*) {source}", values_of_where).fetchone()[0]
        rows = self._db.execute(
            f"SELECT {COLUMNS} {source} ORDER BY rank, product.id LIMIT ? OFFSET ?", [*values_of_where, limit, offset]
        )
        return Page(total, [product_of(row) for row in rows])

    def get(self, number: int) -> Product | None:
        """One product, or None."""
        return self._one(f"SELECT {COLUMNS} FROM product WHERE id = ?", (bounded(number),))  # noqa: S608 -- constants

    def suggest(self, prefix: str, limit: int) -> list[str]:
        """Names that begin with these letters."""
        pattern = re.sub(r"([%_\\])", r"\\\1", prefix) + "%"
        rows = self._db.execute(
            r"SELECT DISTINCT name FROM product WHERE name LIKE ? ESCAPE '\' ORDER BY name LIMIT ?", (pattern, limit)
        )
        return [row[0] for row in rows]

    def shelves(self) -> list[Shelf]:
        """The figures of each category."""
        rows = self._db.execute(
            "SELECT category, count(*), sum(stock), sum(stock * cents) FROM product GROUP BY category ORDER BY category"
        )
        return [Shelf(Category(row[0]), row[1], row[2], euros(row[3])) for row in rows]

    def add(self, product: NewProduct) -> Product:
        """Insert a product.

        Raises:
            DuplicateSkuError: The SKU belongs to another product.
        """
        try:
            cursor = self._db.execute(INSERT, values(product, datetime.now(UTC).date()))
        except sqlite3.IntegrityError as error:
            raise DuplicateSkuError(product.sku) from error
        added = self.get(cursor.lastrowid or 0)
        assert added is not None
        return added

    def rename(self, number: int, name: str, *, by: str) -> Product | None:
        """Change a name, and remember who did it."""
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            changed = db.execute("UPDATE product SET name = ? WHERE id = ?", (name, bounded(number))).rowcount
            if changed:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                db.execute("INSERT INTO renaming VALUES (?, ?, ?, ?)", (number, name, by, at))
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        return self.get(number) if changed else None

    def set_price(self, number: int, price: Decimal) -> Product | None:
        """Change a price."""
        self._db.execute("UPDATE product SET cents = ? WHERE id = ?", (cents(price), bounded(number)))
        return self.get(number)

    def _one(self, query: str, parameters: Sequence[Any]) -> Product | None:
        row = self._db.execute(query, parameters).fetchone()
        return None if row is None else product_of(row)


INSERT = "INSERT INTO product(sku, name, category, cents, stock, tags, added) VALUES (?, ?, ?, ?, ?, ?, ?)"


def values(product: NewProduct, added: date) -> tuple[Any, ...]:
    """A product as the columns of `INSERT`."""
    tags = " ".join(product.tags)
    price = cents(product.price)
    return (product.sku, product.name, product.category.value, price, product.stock, tags, added.isoformat())


def product_of(row: Sequence[Any]) -> Product:
    """A row of `COLUMNS` as a product."""
    number, sku, name, category, price, stock, tags, added = row
    return Product(number, sku, name, Category(category), euros(price), stock, tags.split(), date.fromisoformat(added))


def full_text(query: str) -> str:
    """The words of a query as an expression of FTS5: all of them, each as a beginning, nothing of it as syntax."""
    return " ".join(f'"{word}"*' for word in re.findall(r"\w+", query))


def bounded(number: int) -> int:
    """A number that SQLite can hold; one that it cannot is no product's."""
    return number if abs(number) < 2**63 else -1


def cents(price: Decimal) -> int:
    """Euros as whole cents."""
    return int((price * 100).to_integral_value())


def euros(amount: int) -> Decimal:
    """Cents as euros with two places."""
    return Decimal(amount).scaleb(-2)
