"""The usage log in both of its databases: the same statements, the same answers."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rpcgw.adapters.stores.ledger import Ledger
from rpcgw.adapters.stores.postgres import open_database
from rpcgw.adapters.stores.sqlite import open_file
from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.webmcp.beacons import Begun, Ended, Outcome
from rpcgw.protocol.webmcp.statistics import A_DAY, OPEN, Group, Query, Use
from tests.support.postgres import postgres_server

TODAY = 20_000
NOW = TODAY * A_DAY + 50_000

Open = Callable[[], Ledger]


def begun(call: str, *, tool: str = "a", client: str = "x", at: int = NOW, site: str = "main") -> Begun:
    return Begun(site=site, tool=tool, client=client, call=call, at=at)


def ended(call: str, outcome: Outcome = "ok", ms: int = 10, site: str = "main") -> Ended:
    return Ended(site=site, call=call, outcome=outcome, ms=ms)


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with postgres_server() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same, empty log again and again."""
    opened: list[Ledger] = []
    if request.param == "sqlite":
        make: Open = lambda: open_file(str(tmp_path / "var" / "usage.db"))  # noqa: E731 -- one of two
    else:
        dsn = request.getfixturevalue("dsn")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS webmcp_uses")
        make = lambda: open_database(dsn)  # noqa: E731 -- the other

    def open_one() -> Ledger:
        opened.append(make())
        return opened[-1]

    yield open_one
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(opener: Open) -> Ledger:
    return opener()


def uses(ledger: Ledger, **asked: str) -> list[Use]:
    return ledger.rows(Query(7, **asked), NOW)


def test_a_call_begins_and_ends(ledger: Ledger) -> None:
    """A row is there from the beginning on, and completed by its end."""
    assert ledger.write([begun("1" * 16)]) == [True]
    assert uses(ledger) == [Use(NOW, "main", "a", "x", OPEN, None)]
    assert ledger.write([ended("1" * 16, "error", 7)]) == [True]
    assert uses(ledger) == [Use(NOW, "main", "a", "x", "error", 7)]


def test_both_in_one_batch(ledger: Ledger) -> None:
    """An end finds a beginning that comes after it in the same batch."""
    assert ledger.write([ended("1" * 16), begun("1" * 16)]) == [True, True]
    assert [use.outcome for use in uses(ledger)] == ["ok"]


ENDS = [
    pytest.param(ended("2" * 16), id="of another call"),
    pytest.param(ended("1" * 16, site="other"), id="of another site"),
]


@pytest.mark.parametrize("end", ENDS)
def test_an_end_without_its_beginning(ledger: Ledger, end: Ended) -> None:
    """What was not begun here is not there to be completed."""
    ledger.write([begun("1" * 16)])
    assert ledger.write([end]) == [False]
    assert [use.outcome for use in uses(ledger)] == [OPEN]


def test_only_the_first_end_counts(ledger: Ledger) -> None:
    """A completed row is not changed any more."""
    ledger.write([begun("1" * 16), ended("1" * 16)])
    assert ledger.write([ended("1" * 16, "error")]) == [False]
    assert [use.outcome for use in uses(ledger)] == ["ok"]


def test_ends_of_one_batch_are_told_apart(ledger: Ledger) -> None:
    """One that finds its beginning, one that has none, and one that comes a second time; each row has its own end."""
    ledger.write([begun("1" * 16), begun("2" * 16)])
    ends = [ended("2" * 16, "error", 2), ended("3" * 16), ended("1" * 16, "ok", 1), ended("2" * 16, "ok", 4)]
    assert ledger.write(ends) == [True, False, True, False]
    assert sorted((use.outcome, use.ms) for use in uses(ledger)) == [("error", 2), ("ok", 1)]


def test_a_large_batch(ledger: Ledger) -> None:
    """Any number of calls is written at once, more than a statement has room for too; each row has its own end."""
    calls = [f"{number:016}" for number in range(20_000)]
    ends = [ended(call, ms=number) for number, call in enumerate(calls)]
    assert ledger.write([*map(begun, calls), *ends]) == [True] * 40_000
    assert sorted(use.ms for use in uses(ledger) if use.ms is not None) == list(range(20_000))


def test_a_beginning_that_comes_twice(ledger: Ledger) -> None:
    """The id of an open call stands for one row."""
    assert ledger.write([begun("1" * 16), begun("1" * 16)]) == [True, True]
    assert len(uses(ledger)) == 1


def test_a_long_name(ledger: Ledger) -> None:
    """A tool's name of 128 characters is stored whole."""
    ledger.write([begun("1" * 16, tool="t" * 128)])
    assert uses(ledger)[0].tool == "t" * 128


FILTERS = [
    pytest.param({}, 4, id="everything"),
    pytest.param({"site": "other"}, 1, id="a site"),
    pytest.param({"tool": "b"}, 1, id="a tool"),
    pytest.param({"client": "y"}, 1, id="an agent"),
    pytest.param({"outcome": "ok"}, 1, id="an outcome"),
    pytest.param({"outcome": OPEN}, 3, id="calls whose end nobody told"),
    pytest.param({"tool": "b", "client": "y"}, 0, id="two at once"),
    pytest.param({"tool": "' OR '1'='1"}, 0, id="a statement in place of a name"),
]


@pytest.mark.parametrize(("asked", "count"), FILTERS)
def test_filters(ledger: Ledger, asked: dict[str, str], count: int) -> None:
    """A query asks for a time and for names; a name is only ever a value."""
    ledger.write(
        [
            begun("1" * 16, site="other"),
            begun("2" * 16, tool="b"),
            begun("3" * 16, client="y"),
            begun("4" * 16),
            begun("5" * 16, at=NOW - 7 * A_DAY),
            ended("4" * 16),
        ]
    )
    assert len(uses(ledger, **asked)) == count


def test_the_newest_come_first(ledger: Ledger) -> None:
    """Rows are in the order of their time, those of one second in the order of their coming; no more than asked for."""
    ledger.write([begun(f"{at:016}", tool=f"t{at}", at=NOW - at) for at in (3, 1, 2, 1 + 0 * 2)][:3])
    assert [use.tool for use in uses(ledger)] == ["t1", "t2", "t3"]
    assert [use.tool for use in ledger.rows(Query(7), NOW, 2)] == ["t1", "t2"]


def test_sums(ledger: Ledger) -> None:
    """Groups have a day, names, an outcome, and how long the timed calls took together; the rest is made of them."""
    calls = [f"{number:016}" for number in range(20)]
    ledger.write([begun(call) for call in calls])
    ledger.write([ended(call, ms=number) for number, call in enumerate(calls)])
    ledger.write([begun("y" * 16, tool="b", at=NOW - A_DAY), begun("z" * 16, at=NOW - 100 * A_DAY, client="old")])
    found = ledger.read(Query(7), NOW)
    assert sorted(found.groups, key=lambda group: group.day) == [
        Group(TODAY - 1, "main", "b", "x", OPEN, 1, 0, 0),
        Group(TODAY, "main", "a", "x", "ok", 20, 20, 190),
    ]
    assert (found.median, found.slow) == (10, 19)
    assert (found.sites, found.tools, found.clients) == (["main"], ["a", "b"], ["old", "x"])
    assert len(found.recent) == 21


def test_an_empty_log(ledger: Ledger) -> None:
    """Where nothing was ever counted there is nothing to show, and no error."""
    found = ledger.read(Query(7), NOW)
    assert (found.groups, found.recent, found.tools, found.median, found.slow) == ([], [], [], None, None)


def test_pruning(ledger: Ledger) -> None:
    """What is older than it may be goes; an id goes an hour after its call began, whatever became of it."""
    ledger.write([begun("1" * 16, at=NOW - 8 * A_DAY), begun("2" * 16, at=NOW - 4000), begun("3" * 16)])
    assert ledger.prune(NOW, 7 * A_DAY) == 1
    assert len(uses(ledger)) == 2
    assert ledger.write([ended("2" * 16), ended("3" * 16)]) == [False, True]


def test_nothing_is_pruned_where_all_is_kept(ledger: Ledger) -> None:
    """0 keeps everything."""
    ledger.write([begun("1" * 16, at=0)])
    assert ledger.prune(NOW, 0) == 0
    assert ledger.read(Query(), NOW).tools == ["a"]


def test_writers_side_by_side(opener: Open) -> None:
    """Several workers make the table and write at once; all of it is there in the end."""
    failed: list[Exception] = []

    def work(number: int) -> None:
        own = opener()
        try:
            for batch in range(10):
                own.write([begun(f"{number:08}{batch:04}{at:04}") for at in range(10)])
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(opener().rows(Query(7), NOW)) == 400


def test_a_batch_is_kept_whole_or_not_at_all(ledger: Ledger) -> None:
    """Where one row cannot be kept, none of its batch is, and the next batch finds the log in order."""
    ledger.write([begun("0" * 16)])
    with pytest.raises(StoreError):
        ledger.write([begun("1" * 16), begun("2" * 16, at=2**70)])
    ledger.write([begun("3" * 16)])
    assert len(uses(ledger)) == 2


def test_a_file_of_this_user_alone(tmp_path: Path) -> None:
    """The file is made with its folder, and nobody else may read it."""
    path = tmp_path / "a" / "b" / "usage.db"
    open_file(str(path)).write([begun("1" * 16)])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """What is no database is an error that says so, and is left as it is."""
    path = tmp_path / "usage.db"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="not a database"):
        open_file(str(path)).write([begun("1" * 16)])
    assert path.read_bytes().startswith(b"not a database")


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """Where the folder cannot be made nothing is kept, and the caller is told."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        open_file(str(tmp_path / "file" / "usage.db")).write([begun("1" * 16)])


def test_a_database_that_is_away() -> None:
    """A database that does not answer is an error, told to the caller."""
    with pytest.raises(StoreError):
        open_database("postgresql://nobody@127.0.0.1:1/none").write([begun("1" * 16)])
