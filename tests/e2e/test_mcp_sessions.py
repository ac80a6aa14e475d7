"""Sessions over workers, hosts, deaths and restarts: whoever made one, whoever shares the pool serves it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.support.daemon import Daemon, daemon, folder, serving, wait_until
from tests.support.http import Answer, Client, exchange
from tests.support.redisservers import redis_process

COUNT = 200
PATH = "/mcp"
BRIEF = "/brief"
PLUGIN = """
import os

import rpcgw as rpc


@rpc.procedure("Shop", groups=["mcp"], with_default=False)
class Shop:
    def process(self) -> int:
        \"\"\"Tell who serves.\"\"\"
        return os.getpid()


plugin = rpc.Plugin(procedures=[Shop])
"""
ROUTES = {"mcp": {"resource": "mcp", "prefix": PATH, "defaults": {"api_group": "mcp"}}}
OPEN: dict[str, Any] = {"security": {"protected_api": False}}
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def ask(
    connection: http.client.HTTPConnection, method: str, params: dict[str, Any], session: str | None, path: str = PATH
) -> Answer:
    """Send one request of the session era on an open connection."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    held = {} if session is None else {"Mcp-Session-Id": session}
    return exchange(connection, "POST", path, body, {"Content-Type": "application/json", **held})


def begin(client: Client, path: str = PATH) -> str:
    """Begin a session on a connection of its own, which any worker may take."""
    with closing(client.connect()) as connection:
        session = ask(connection, "initialize", PARAMS, None, path).header("Mcp-Session-Id")
    assert session is not None
    return session


def server_of(client: Client, session: str) -> int:
    """Call a tool in a session on a connection of its own; return the process that answered."""
    with closing(client.connect()) as connection:
        answer = ask(connection, "tools/call", {"name": "Shop.process"}, session)
    assert answer.status == 200, answer
    found: int = answer.json()["result"]["structuredContent"]["result"]
    return found


def is_served(client: Client, session: str, path: str = PATH) -> bool:
    """Whether a session is known."""
    with closing(client.connect()) as connection:
        status = ask(connection, "ping", {}, session, path).status
    assert status in {200, 404}
    return status == 200


def end(client: Client, session: str) -> int:
    """DELETE a session."""
    return client.request("DELETE", PATH, headers={"Mcp-Session-Id": session}).status


def metric(client: Client, name: str) -> float:
    """The value of a metric without labels, or the sum over them."""
    found = re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", client.get("/metrics").text, re.MULTILINE)
    return sum(map(float, found))


# -- one host, two workers, the file pool


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The folder of a host that says nothing of pools."""
    with folder(config={"ufo_json_rpc": OPEN}, routes=ROUTES, plugins={"shop.py": PLUGIN}) as made:
        yield made


def test_two_workers_and_the_file_pool_lose_no_session(place: Path) -> None:
    """200 sessions are served by both workers, after one was killed, and after a restart; after DELETE by none."""
    with serving(place, arguments=["--workers", "2"]) as running:
        sessions = [begin(running) for _ in range(COUNT)]
        workers = {server_of(running, session) for _ in range(2) for session in sessions}
        assert len(workers) == 2
        killed = min(workers)
        os.kill(killed, signal.SIGKILL)
        running.wait_log("worker.ready", count=3)
        survivors = {server_of(running, session) for session in sessions}
        assert killed not in survivors
    with serving(place, arguments=["--workers", "2"]) as running:
        again = {server_of(running, session) for _ in range(2) for session in sessions}
        assert len(again) == 2
        assert not again & (workers | survivors)
        assert metric(running, "rpcgw_sessions_active") == COUNT
        assert {end(running, session) for session in sessions} == {200}
        assert not any(is_served(running, session) for _ in range(3) for session in sessions)


def test_no_worker_serves_a_session_after_its_end_was_answered() -> None:
    """What workers remember is forgotten by the time that DELETE's answer is out, whichever of them gave it."""
    with daemon(
        config={"ufo_json_rpc": OPEN}, routes=ROUTES, plugins={"shop.py": PLUGIN}, arguments=["--workers", "2"]
    ) as running:
        open_: dict[int, http.client.HTTPConnection] = {}
        first = begin(running)
        while len(open_) < 2:
            connection = running.connect()
            answer = ask(connection, "tools/call", {"name": "Shop.process"}, first)
            if open_.setdefault(answer.json()["result"]["structuredContent"]["result"], connection) is not connection:
                connection.close()
        for _ in range(50):
            session = begin(running)
            assert [ask(one, "ping", {}, session).status for one in open_.values()] == [200, 200]
            assert end(running, session) == 200
            assert [ask(one, "ping", {}, session).status for one in open_.values()] == [404, 404]
        for connection in open_.values():
            connection.close()


# -- two hosts, one Redis


@pytest.fixture
def hosts(redis_url: str) -> Iterator[tuple[Path, Path]]:
    """The folders of two hosts that share a Redis."""
    config = {"ufo_json_rpc": {**OPEN, "cache": {"pool": redis_url}}}
    files: dict[str, Any] = {"config": config, "routes": ROUTES, "plugins": {"shop.py": PLUGIN}}
    with folder(**files) as here, folder(**files) as there:
        yield here, there


def test_two_hosts_and_one_redis_lose_no_session(hosts: tuple[Path, Path]) -> None:
    """200 sessions made on one host are served on the other, after a restart of both too; after DELETE on neither."""
    with serving(hosts[0]) as here, serving(hosts[1]) as there:
        sessions = [begin(here) for _ in range(COUNT)]
        servers = {server_of(there, session) for session in sessions}
        os.kill(min(servers), signal.SIGKILL)
        there.wait_log("worker.ready", count=2)
        assert all(is_served(there, session) for session in sessions)
    with serving(hosts[0]) as here, serving(hosts[1]) as there:
        assert all(is_served(host, session) for host in (here, there) for session in sessions)
        assert [metric(host, "rpcgw_sessions_active") for host in (here, there)] == [COUNT, COUNT]
        assert {end(here, session) for session in sessions} == {200}
        ended = time.monotonic()
        assert not any(is_served(here, session) for session in sessions)
        wait_until(lambda: time.monotonic() > ended + 1.0, 10, lambda: "time stands still")
        assert not any(is_served(there, session) for session in sessions)


CALLED: dict[str, Any] = {"name": "Shop.process"}


def looks(redis: Redis) -> int:
    """How many scripts the server has run: a look at a session is one."""
    return int(redis.info("commandstats").get("cmdstat_eval", {"calls": 0})["calls"])


def is_remembered(client: Client, session: str, redis: Redis) -> bool:
    """Whether ten requests on one connection cost fewer than ten looks at the pool."""
    with closing(client.connect()) as connection:
        before = looks(redis)
        assert {ask(connection, "ping", {}, session).status for _ in range(10)} == {200}
        return looks(redis) - before < 5


def test_what_one_host_ends_the_other_serves_no_more_within_a_second() -> None:
    """DELETE's answer is out: sessions that the other host uses all the time, and remembers, are 404 there within 1 s."""
    with redis_process() as server, two_hosts(server.url) as (here, there), closing(server.client()) as redis:
        latest = 0.0
        for _ in range(20):
            session = begin(here)
            wait_until(partial(is_remembered, there, session, redis), 20, there.stderr)
            with closing(there.connect()) as connection:
                assert end(here, session) == 200
                ended = time.monotonic()
                while ask(connection, "tools/call", CALLED, session).status == 200:
                    assert time.monotonic() < ended + 1.0
                latest = max(latest, time.monotonic() - ended)
        assert latest < 1.0


def test_while_the_channel_is_cut_nothing_is_remembered() -> None:
    """Every request looks at the pool, so what the other host ends is gone at once; then the channel is there again."""
    with redis_process() as server, two_hosts(server.url) as (here, there), closing(server.client()) as redis:
        session, ended = begin(here), begin(here)
        wait_until(lambda: is_remembered(there, session, redis), 20, there.stderr)
        assert server.ask("ACL", "SETUSER", "default", "resetchannels") is not None  # nobody may listen any more
        server.ask("CLIENT", "KILL", "TYPE", "pubsub")
        wait_until(lambda: not is_remembered(there, session, redis), 20, there.stderr)
        for _ in range(5):
            assert not is_remembered(there, session, redis)
        assert is_served(there, ended)
        assert end(here, ended) == 200
        assert not is_served(there, ended)
        server.ask("ACL", "SETUSER", "default", "allchannels")
        wait_until(lambda: is_remembered(there, session, redis), 20, there.stderr)


@contextmanager
def two_hosts(url: str) -> Iterator[tuple[Daemon, Daemon]]:
    """Two daemons of one worker each that share a Redis."""
    config = {"ufo_json_rpc": {**OPEN, "cache": {"pool": url}}, "server": {"workers": 1}}
    files: dict[str, Any] = {"config": config, "routes": ROUTES, "plugins": {"shop.py": PLUGIN}}
    with daemon(**files) as here, daemon(**files) as there:
        yield here, there


def test_what_is_counted_of_sessions() -> None:
    """Created, ended, expired unused, and those that live: each by itself; refusing an id that is unknown is none."""
    config = {"ufo_json_rpc": OPEN, "ufo_mcp": {"session_ttl": 3600, "groups": {"general": {"session_ttl": 1}}}}
    routes = {**ROUTES, "brief": {"resource": "mcp", "prefix": BRIEF}}
    with daemon(config=config, routes=routes, plugins={"shop.py": PLUGIN}) as running:
        kept, ended = begin(running), begin(running)
        end(running, ended)
        assert [is_served(running, session) for session in (kept, ended)] == [True, False]
        running.get(PATH)
        running.request("HEAD", PATH)
        end(running, "x" * 32)
        with closing(running.connect()) as connection:
            ask(connection, "initialize", {}, None)
        brief = [begin(running, BRIEF) for _ in range(3)]
        wait_until(lambda: not is_served(running, brief[2], BRIEF), 20, lambda: "sessions do not expire")
        wait_until(lambda: metric(running, "rpcgw_sessions_expired_total") == 3, 20, lambda: "expiry is not counted")
        names = ("created_total", "ended_total", "expired_total", "active")
        assert [metric(running, f"rpcgw_sessions_{name}") for name in names] == [5, 1, 3, 1]


def test_a_session_in_use_does_not_expire() -> None:
    """Expiry slides with use, and an unused session is gone once its time is over."""
    config = {"ufo_json_rpc": OPEN, "ufo_mcp": {"session_ttl": 2}}
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        used, unused = begin(running), begin(running)
        until = time.monotonic() + 3.0

        def is_over() -> bool:
            assert is_served(running, used)
            return time.monotonic() > until

        wait_until(is_over, 10, lambda: "time stands still")
        assert not is_served(running, unused)
