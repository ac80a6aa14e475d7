"""C-21 to C-23: where sessions are kept, under which key, for how long, and for whom there are none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.support import redis as redis_support
from tests.support.daemon import Daemon, daemon, folder, serving, wait_until
from tests.support.mcp import MODERN, Session, Stateless, result_of

SHOP = """
from datetime import timedelta

import rpcgw as rpc

@rpc.procedure("Shop", groups=["mcp", "internal", "brief"], with_default=False)
class Shop:
    def now(self) -> str:
        return "now"

    @rpc.cache(ttl=timedelta(minutes=5))
    def kept(self) -> str:
        return "kept"
"""

ROUTES = {
    group: {"resource": "mcp", "prefix": f"/{group}", "defaults": {"api_group": group}}
    for group in ("mcp", "internal", "brief")
}
MCP = {"session_ttl": 900, "groups": {"internal": {"session_ttl": 300}, "brief": {"session_ttl": 1}}}
OPEN = {"protected_api": False}

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.fixture(scope="module")
def store(redis_port: int) -> Iterator[Redis]:
    """A database of this module's own in a real Redis."""
    number = redis_support.empty_database(redis_port)
    with Redis(port=redis_port, db=number, decode_responses=True) as client:
        client.set("taken", "1")
        yield client
        client.flushdb()


@pytest.fixture(scope="module")
def address(store: Redis) -> str:
    """The URL of that database."""
    known = store.connection_pool.connection_kwargs
    return f"redis://127.0.0.1:{known['port']}/{known['db']}"


@pytest.fixture(scope="module")
def here(address: str) -> Iterator[Daemon]:
    """A host whose pool has a name."""
    config = {
        "pools": {"shared": {"url": address}},
        "ufo_json_rpc": {"security": OPEN, "cache": {"pool": "shared", "prefix": "shop"}},
        "ufo_mcp": MCP,
    }
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": SHOP}) as running:
        yield running


@pytest.fixture(scope="module")
def there(address: str) -> Iterator[Daemon]:
    """Another host: another folder, the same Redis, by its URL."""
    config = {"ufo_json_rpc": {"security": OPEN, "cache": {"pool": address}}, "ufo_mcp": MCP}
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": SHOP}) as running:
        yield running


@pytest.fixture(scope="module")
def alone() -> Iterator[Path]:
    """The folder of a host that says nothing of pools."""
    with folder(config={"ufo_json_rpc": {"security": OPEN}}, routes=ROUTES, plugins={"shop.py": SHOP}) as place:
        yield place


def keys(store: Redis, session: Session) -> list[str]:
    """Return every key in Redis that has to do with a session."""
    return [key for key in store.scan_iter() if str(session.id) in key]


def files_with(place: Path, text: str) -> list[Path]:
    """Return the files of a daemon, beside its log, that hold a text."""
    return [path for path in (place / "var").rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


# -- C-21: keys and times


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_client_gets_an_id(here: Daemon, revision: str) -> None:
    """C-21: the answer to `initialize` carries `Mcp-Session-Id`, in each revision before 2026-07-28."""
    session = Session(here, "/mcp", revision)
    assert session.server["protocolVersion"] == revision
    assert session.opening.header_all("Mcp-Session-Id") == [session.id]
    assert session.result("Shop.now")["structuredContent"] == {"result": "now"}


def test_ids_are_visible_and_different(here: Daemon) -> None:
    """C-21: an id is visible ASCII, long, and given once."""
    ids = [str(Session(here).id) for _ in range(5)]
    assert len(set(ids)) == 5
    assert all(len(name) >= 16 and all(0x21 <= ord(character) <= 0x7E for character in name) for name in ids)


def test_without_its_session_a_client_is_not_served(here: Daemon) -> None:
    """C-21: a request without the id is 400, one with an id that nobody was given 404."""
    session = Session(here)
    session.headers.pop("Mcp-Session-Id")
    assert session.send("tools/list").status == 400
    assert session.send("tools/list", headers={"Mcp-Session-Id": "x" * 32}).status == 404


@pytest.mark.parametrize("group", ["mcp", "internal"])
def test_the_key_of_a_session(here: Daemon, store: Redis, group: str) -> None:
    """C-21: the key is exactly `ufo_mcp_<group>_<session id>`, in Redis too, without `cache.prefix`."""
    session = Session(here, f"/{group}")
    assert keys(store, session) == [f"ufo_mcp_{group}_{session.id}"]


def test_the_prefix_is_for_results(here: Daemon, store: Redis) -> None:
    """C-21: sessions and results share the pool, and `cache.prefix` stands before the keys of results only."""
    Session(here).result("Shop.kept")
    of_sessions = ("ufo_mcp_", "rpcgw_sessions_")  # each of them, and the index of a group's
    others = [key for key in store.scan_iter() if not key.startswith(of_sessions) and key != "taken"]
    assert others != []
    assert all(key.startswith("shop") for key in others)


@pytest.mark.parametrize(("group", "seconds"), [("mcp", 900), ("internal", 300)])
def test_a_session_lives_as_long_as_its_group_says(here: Daemon, store: Redis, group: str, seconds: int) -> None:
    """C-21: the time to live is the group's `session_ttl`."""
    session = Session(here, f"/{group}")
    assert seconds - 10 < float(str(store.pttl(keys(store, session)[0]))) / 1000 <= seconds


def test_after_its_time_a_session_is_gone(here: Daemon, store: Redis) -> None:
    """C-21: once its time is over, a session is unknown: 404."""
    session = Session(here, "/brief")
    wait_until(lambda: not keys(store, session), 10, lambda: "the session outlives its time")
    assert session.send("tools/list").status == 404


def test_an_ended_session_is_gone(here: Daemon, store: Redis) -> None:
    """C-21: DELETE takes the session out of the pool."""
    session = Session(here)
    session.end()
    assert keys(store, session) == []


# -- C-22: which pool


def test_the_default_pool_is_local_files(alone: Path) -> None:
    """C-22: without a setting the session is a file of the host, its key in it."""
    with serving(alone) as running:
        session = Session(running)
        assert len(files_with(alone, f"ufo_mcp_mcp_{session.id}")) == 1


def test_the_default_pool_outlives_the_daemon(alone: Path) -> None:
    """C-22: the files are still there when the daemon is started again, and so is the session."""
    with serving(alone) as first:
        session = Session(first)
    with serving(alone) as second:
        session.client = second
        assert session.result("Shop.now")["structuredContent"] == {"result": "now"}


def test_a_local_session_is_unknown_elsewhere(alone: Path, here: Daemon) -> None:
    """C-22: a session in local files is known to no other host."""
    with serving(alone) as running:
        session = Session(running)
    session.client = here
    assert session.send("tools/list").status == 404


def test_a_shared_pool_makes_sessions_known(here: Daemon, there: Daemon) -> None:
    """C-22: hosts with one Redis serve each other's sessions, be the pool named or given by its URL."""
    for maker, server in ((here, there), (there, here)):
        session = Session(maker)
        session.client = server
        assert session.result("Shop.now")["structuredContent"] == {"result": "now"}


def test_a_session_ends_on_all_hosts(here: Daemon, there: Daemon) -> None:
    """C-22: what another host has ended is over here too."""
    session = Session(here)
    session.client = there
    session.end()
    session.client = here
    wait_until(lambda: session.send("tools/list").status == 404, 10, lambda: "still served where it was made")


# -- C-23: the stateless revision


def everything(client: Daemon) -> list[int]:
    """Ask all that a stateless client may, and return the statuses."""
    stateless = Stateless(client)
    answers = [
        stateless.send("server/discover"),
        stateless.send("tools/list"),
        stateless.call("Shop.now"),
        stateless.call("Shop.missing"),
        stateless.send("tools/list", headers={"Mcp-Session-Id": "x" * 32}),
    ]
    assert [answer.header("Mcp-Session-Id") for answer in answers] == [None] * len(answers)
    return [answer.status for answer in answers]


def test_a_stateless_client_gets_no_session(here: Daemon) -> None:
    """C-23: no answer to it carries `Mcp-Session-Id`, and none wants one."""
    assert everything(here) == [200, 200, 200, 400, 200]
    assert result_of(Stateless(here).send("server/discover"))["supportedVersions"] == [MODERN]


def test_no_store_is_asked_for_a_stateless_client(here: Daemon, store: Redis) -> None:
    """C-23: Redis sees not a single command while one is served."""
    Session(here).result("Shop.now")
    before = commands(store)
    everything(here)
    assert commands(store) - before == 1, "the one is our own question"


def test_nothing_is_kept_for_a_stateless_client() -> None:
    """C-23: no file of the pool comes into being for one."""
    with daemon(config={"ufo_json_rpc": {"security": OPEN}}, routes=ROUTES, plugins={"shop.py": SHOP}) as running:
        assert everything(running) == [200, 200, 200, 400, 200]
        assert files_with(running.folder, "ufo_mcp_mcp_") == []


def test_a_stateless_client_is_served_without_a_store(address: str) -> None:
    """C-23: where the pool cannot be reached a stateless client is served, and only a session cannot begin."""
    away = f"redis://127.0.0.1:{redis_support.free_port()}/0"
    config: dict[str, Any] = {"ufo_json_rpc": {"security": OPEN, "cache": {"pool": away}}}
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": SHOP}) as running:
        assert everything(running) == [200, 200, 200, 400, 200]
        initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}
        assert running.post("/mcp", message).status == 503


def commands(store: Redis) -> int:
    """Return how many commands Redis has been given so far."""
    stats: Any = store.info("stats")
    return int(stats["total_commands_processed"])
