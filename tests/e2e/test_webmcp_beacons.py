"""Beacons at a real daemon: which are taken, which are refused and how, and what is on disk of them afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import aiohttp
import psycopg
import pytest

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.daemon import serving as again
from tests.support.postgres import postgres_server
from tests.support.sites import CALL, OURS, PLUGIN, ROUTES, begin, configured, send, stored

UNLIMITED = {"rate_limit": 0, "ceiling": 0}


def serving(**usage: Any) -> Any:
    """A daemon whose usage log has these settings."""
    return daemon(config=configured(usage=usage), routes=ROUTES, plugins={"shop.py": PLUGIN})


@pytest.fixture(scope="module")
def d() -> Iterator[Daemon]:
    with serving(**UNLIMITED) as running:
        yield running


def counters(d: Daemon) -> dict[str, float]:
    """How many beacons there were, by what became of them."""
    text = d.get("/metrics").text
    found = re.findall(r"^rpcgw_webmcp_beacons_total\{(.*?)\} (\S+)$", text, re.MULTILINE)
    return {re.findall(r'outcome="(\w+)"', labels)[0]: float(value) for labels, value in found}


def changed(d: Daemon, statement: str) -> list[tuple[Any, ...]]:
    """Look into the log, or change it, as nobody but a test would."""
    with contextlib.closing(sqlite3.connect(d.folder / "var" / "usage.db")) as log, log:
        return log.execute(statement).fetchall()


def within_a_minute() -> None:
    """Wait, if need be, until no minute ends for a while: rates are counted by the minute."""
    wait_until(lambda: time.time() % 60 < 40, 30, lambda: "no minute began")


def call_id(name: str) -> str:
    """The id of a call that belongs to one test."""
    return re.sub(r"[^A-Za-z0-9]", "-", name)[-60:].rjust(16, "-")


def of(d: Daemon, tool: str) -> list[tuple[Any, ...]]:
    """What is stored of a tool."""
    return [row for row in stored(d) if row[1] == tool]


def test_a_call_is_counted_and_completed() -> None:
    """W-11: the first beacon counts the call, the second completes its row; the log begins with the first beacon."""
    with serving(**UNLIMITED) as running:
        assert stored(running) == []
        assert send(running, begin()).status == 204
        assert stored(running) == [("main", "site_goto", "ChatGPT", None, None)]
        assert send(running, {"call": CALL, "outcome": "ok", "ms": 12}).status == 204
        assert stored(running) == [("main", "site_goto", "ChatGPT", "ok", 12)]


TAKEN = [
    pytest.param({"Content-Type": "application/json"}, id="JSON"),
    pytest.param({"Content-Type": "text/plain;charset=UTF-8"}, id="text, as a page of another origin may send it"),
    pytest.param({"Content-Type": "Application/JSON; charset=utf-8"}, id="JSON in other letters"),
]


@pytest.mark.parametrize("headers", TAKEN)
def test_media_types(d: Daemon, headers: Mapping[str, str], request: pytest.FixtureRequest) -> None:
    """Both media types are taken, and answered without a body and not to be kept."""
    answer = send(d, begin("shop_who", call=call_id(request.node.name)), {**OURS, **headers})
    assert (answer.status, answer.body, answer.header("Cache-Control")) == (204, b"", "no-store")


def test_a_tool_that_pages_leave_out_is_counted(d: Daemon) -> None:
    """W-02: the whitelist has every tool of the site, on whatever page it stands."""
    assert send(d, begin("site_hours", call=call_id("left out"))).status == 204
    assert len(of(d, "site_hours")) == 1


LONG = "l" * 128


def test_a_name_of_128_characters() -> None:
    """The longest name is stored whole."""
    config = configured(site={"tools": {LONG: {"description": "Long.", "static": {"items": [{"title": "a"}]}}}})
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        assert send(running, begin(LONG)).status == 204
        assert [row[1] for row in stored(running)] == [LONG]


SENDERS = [
    pytest.param({"Sec-Fetch-Site": "same-origin"}, True, id="same origin, without Origin"),
    pytest.param(OURS, True, id="the site's own page"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "https://www.example.org"}, True, id="the site's page, the daemon elsewhere"),
    pytest.param({"Sec-Fetch-Site": "same-site", "Origin": "https://www.example.org"}, True, id="the site's page, the daemon at another port"),
    pytest.param({"Origin": "https://www.example.org"}, True, id="an old browser on the site's page"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, False, id="a foreign page"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, False, id="a foreign page that hides its Origin"),
    pytest.param({"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.org"}, False, id="a sibling of the site"),
    pytest.param({"Sec-Fetch-Site": "same-origin", "Origin": "https://blog.example.org"}, False, id="another site behind the same daemon"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, False, id="a page in a sandbox"),
    pytest.param({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, False, id="no origin at all"),
    pytest.param({"Sec-Fetch-Site": "none"}, False, id="nobody's page"),
    pytest.param({"Sec-Fetch-Site": "Same-Origin"}, False, id="what no browser writes"),
    pytest.param({"Origin": "https://evil.example"}, False, id="an old browser on a foreign page"),
    pytest.param({}, False, id="no browser at all"),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "counted"), SENDERS)
def test_senders(d: Daemon, headers: Mapping[str, str], counted: bool, request: pytest.FixtureRequest) -> None:
    """Only the site's own pages are counted; what others send is answered the same way, and not stored."""
    before = len(of(d, "shop_find"))
    answer = send(d, begin("shop_find", call=call_id(request.node.name)), headers)
    assert (answer.status, answer.body) == (204, b"")
    assert len(of(d, "shop_find")) - before == int(counted)


REFUSED = [
    pytest.param(b"{", {}, 400, id="no JSON"),
    pytest.param(b'{"tool":"site_goto"}', {}, 400, id="another form"),
    pytest.param(b'{"tool":"unknown","call":"' + CALL.encode() + b'"}', {}, 204, id="an unknown tool"),
    pytest.param(b'{"call":"' + CALL.encode() + b'","outcome":"ok","ms":1}', {}, 204, id="the end of a call that nobody began"),
    pytest.param(b"x" * 2049, {}, 413, id="too large"),
    pytest.param(b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415, id="a form"),
    pytest.param(b"{}", {"Content-Type": ""}, 415, id="no media type"),
    pytest.param(b"{}", {"Host": "evil.example"}, 421, id="another host"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "headers", "status"), REFUSED)
def test_refused(d: Daemon, body: bytes, headers: Mapping[str, str], status: int) -> None:
    """What is not of the form is refused by its first fault, and nothing is stored of it."""
    before = stored(d)
    answer = d.request("POST", "/webmcp/event", body, {"Content-Type": "application/json", **OURS, **headers})
    assert (answer.status, answer.body) == (status, b"")
    assert stored(d) == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
def test_methods(d: Daemon, method: str) -> None:
    """Beacons are POSTed."""
    answer = d.request(method, "/webmcp/event")
    assert (answer.status, answer.header("Allow")) == (405, "POST, OPTIONS")


def test_the_largest_body(d: Daemon) -> None:
    """2,048 bytes are read, and judged by what they say."""
    assert send(d, b" " * 2048).status == 400


PREFLIGHTS = [
    pytest.param("https://www.example.org", 200, "https://www.example.org", id="the site's"),
    pytest.param("https://evil.example", 403, None, id="a foreign one"),
]


@pytest.mark.parametrize(("origin", "status", "allowed"), PREFLIGHTS)
def test_preflights(d: Daemon, origin: str, status: int, allowed: str | None) -> None:
    """A page of the site may ask from another origin, with its cookies; no other page may."""
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = d.request("OPTIONS", "/webmcp/event", headers=asked)
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (status, allowed)
    if allowed:
        assert answer.header("Access-Control-Allow-Credentials") == "true"
        assert (answer.header("Access-Control-Allow-Headers") or "").lower() == "content-type"
        assert answer.header("Access-Control-Max-Age")
    assert "Origin" in (answer.header("Vary") or "")


def test_the_answer_may_be_read_by_the_site(d: Daemon) -> None:
    """The POST repeats what the preflight allowed."""
    answer = send(d, begin(call=call_id("cors")), {**OURS, "Sec-Fetch-Site": "cross-site"})
    assert answer.header("Access-Control-Allow-Origin") == "https://www.example.org"
    assert answer.header("Access-Control-Allow-Credentials") == "true"


def test_the_daemon_s_own_origin() -> None:
    """Where no origins are configured, pages of the daemon's own origin are the site's, in old browsers too."""
    config = configured(site={"origins": []})
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        ours = {"Origin": running.url}
        assert send(running, begin(call=call_id("old")), ours).status == 204
        assert send(running, begin(call=call_id("new")), {"Sec-Fetch-Site": "same-origin", **ours}).status == 204
        assert send(running, begin(call=call_id("other")), {"Origin": "http://localhost:1"}).status == 204
        assert len(stored(running)) == 2


def test_the_end_may_come_first() -> None:
    """An end waits for its beginning, which another connection, or another worker, may bring a moment later."""
    with serving(**UNLIMITED) as running:
        assert send(running, {"call": CALL, "outcome": "error", "ms": 3}).status == 204
        assert send(running, begin()).status == 204
        wait_until(
            lambda: stored(running) == [("main", "site_goto", "ChatGPT", "error", 3)], 20, lambda: str(stored(running))
        )


def test_what_is_on_disk() -> None:
    """No address, no browser, no free text, and of a call that has ended no id: not one byte of it in any file."""
    with serving(**UNLIMITED) as running:
        hint = "Ann Smith ann@example.org"
        secrets = {
            **OURS,
            "User-Agent": "Strange/1.0",
            "Cookie": "session=42secret",
            "Referer": "https://www.example.org/p",
        }
        assert send(running, begin(client=hint), secrets).status == 204
        assert send(running, {"call": CALL, "outcome": "ok", "ms": 1}, secrets).status == 204
        assert stored(running) == [("main", "site_goto", "other", "ok", 1)]
        assert running.stop() == 0
        kept = b"".join(path.read_bytes() for path in (running.folder / "var").rglob("*") if path.is_file())
        found = [
            text
            for text in (b"127.0.0.1", b"Ann", b"ann@", b"Strange", b"42secret", b"/p", CALL.encode())
            if text in kept
        ]
        assert found == []


@pytest.mark.parametrize("signal", ["Sec-GPC", "DNT"])
def test_visitors_who_do_not_want_to_be_counted(signal: str) -> None:
    """Where the operator respects it, a browser's signal is enough; elsewhere nothing personal is kept anyway."""
    with serving(**UNLIMITED, respect_signals=True) as running:
        assert send(running, begin(), {**OURS, signal: "1"}).status == 204
        assert stored(running) == []
        assert counters(running) == {"opted_out": 1}
        assert send(running, begin(), {**OURS, signal: "0"}).status == 204
        assert len(stored(running)) == 1


def test_who_may_read_the_log() -> None:
    """The log's file is this user's alone."""
    with serving(**UNLIMITED) as running:
        send(running, begin())
        assert (running.folder / "var" / "usage.db").stat().st_mode & 0o077 == 0


def limited(workers: int, **usage: Any) -> Any:
    """A daemon of several workers."""
    config = {**configured(usage=usage), "server": {"workers": workers, "trusted_proxies": ["127.0.0.1"]}}
    return daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN})


def statuses(d: Daemon, count: int, forwarded: str = "192.0.2.1", first: int = 0) -> Counter[int]:
    """Send so many beacons at once, through a proxy that names its client."""
    within_a_minute()
    with ThreadPoolExecutor(8) as pool:
        sent = [
            pool.submit(send, d, begin(call=f"{first + number:032}"), {**OURS, "X-Forwarded-For": forwarded})
            for number in range(count)
        ]
        return Counter(each.result().status for each in sent)


def test_the_rate_is_exact() -> None:
    """Over two workers and eight connections at once: as many as the rate says, and not one more."""
    with limited(2, rate_limit=20) as running:
        assert statuses(running, 50) == {204: 20, 429: 30}
        assert len(stored(running)) == 20
        answer = send(running, begin(call="x" * 16), {**OURS, "X-Forwarded-For": "192.0.2.1"})
        assert (answer.status, 1 <= int(answer.header("Retry-After") or 0) <= 61) == (429, True)
        assert statuses(running, 5, "192.0.2.2", 100) == {204: 5}


def test_a_network_counts_as_one_address() -> None:
    """An IPv6 network of 64 bits is one sender; another one is another."""
    with limited(1, rate_limit=2) as running:
        assert statuses(running, 2, "2001:db8:0:1::1") == {204: 2}
        assert statuses(running, 2, "2001:db8:0:1:ffff::2", 10) == {429: 2}
        assert statuses(running, 2, "2001:db8:0:2::1", 20) == {204: 2}


def test_all_addresses_together() -> None:
    """The ceiling holds for everybody at once."""
    with limited(1, rate_limit=0, ceiling=3) as running:
        assert statuses(running, 2, "192.0.2.1") == {204: 2}
        assert statuses(running, 2, "192.0.2.2", 10) == {204: 1, 429: 1}


def test_preflights_and_foreign_pages_do_not_count() -> None:
    """Only what could be stored uses up the rate."""
    with limited(1, rate_limit=1) as running:
        asked = {"Origin": "https://www.example.org", "Access-Control-Request-Method": "POST"}
        for _ in range(3):
            assert running.request("OPTIONS", "/webmcp/event", headers=asked).status == 200
            assert send(running, begin(), {"Sec-Fetch-Site": "cross-site"}).status == 204
        assert send(running, begin()).status == 204
        assert len(stored(running)) == 1


def test_what_is_old_is_removed() -> None:
    """The retention job runs by default when a worker begins: what is older than its days is gone."""
    with serving(**UNLIMITED) as running:
        send(running, begin())
        assert running.stop() == 0
        changed(running, "UPDATE webmcp_uses SET at = at - 91 * 86400")
        with again(running.folder) as second:
            wait_until(lambda: stored(second) == [], 20, lambda: str(stored(second)))


def test_what_is_kept_for_ever() -> None:
    """`retention_days: 0` removes nothing; the id of a call that nobody completed goes all the same."""
    with serving(**UNLIMITED, retention_days=0) as running:
        send(running, begin())
        assert running.stop() == 0
        changed(running, "UPDATE webmcp_uses SET at = at - 1000 * 86400")
        with again(running.folder) as second:
            ids = partial(changed, second, "SELECT call FROM webmcp_uses")
            wait_until(lambda: ids() == [(None,)], 20, lambda: str(ids()))
            assert len(stored(second)) == 1


def test_counters(d: Daemon) -> None:
    """`/metrics` counts what became of each beacon."""
    before = counters(d)
    send(d, begin(call=call_id("counted")))
    send(d, {"call": call_id("counted"), "outcome": "ok", "ms": 1})
    send(d, begin("unknown"))
    send(d, begin(), {"Sec-Fetch-Site": "cross-site"})
    send(d, {})
    after = counters(d)
    grown = {outcome: after[outcome] - before.get(outcome, 0) for outcome in after}
    expected = {"begun": 1, "ended": 1, "unknown_tool": 1, "foreign": 1, "malformed": 1}
    assert {outcome: grown[outcome] for outcome in expected} == expected


async def beacons(d: Daemon, clients: int, each: int, rate: float) -> Counter[int]:
    """Several clients, each with connections of its own, at so many beacons a second together."""
    counted: Counter[int] = Counter()
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def client(number: int) -> None:
        headers = {**OURS, "Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=32), headers=headers) as session:

            async def one(at: int) -> None:
                await asyncio.sleep(max(began + at * clients / rate - loop.time(), 0))
                body = json.dumps(begin(call=f"{number:04}-{at:027}")).encode()
                async with session.post(f"{d.url}/webmcp/event", data=body) as answer:
                    counted[answer.status] += 1

            await asyncio.gather(*(one(at) for at in range(each)))

    await asyncio.gather(*(client(number) for number in range(clients)))
    return counted


def test_a_database_that_hosts_share() -> None:
    """With a DSN two daemons of their own keep one log; one ends what the other began."""
    with postgres_server() as dsn, serving(**UNLIMITED, dsn=dsn) as one, serving(**UNLIMITED, dsn=dsn) as other:
        assert send(one, begin()).status == 204
        assert send(other, {"call": CALL, "outcome": "ok", "ms": 5}).status == 204
        with psycopg.connect(dsn) as log:
            found = log.execute("SELECT site, tool, client, outcome, ms FROM webmcp_uses").fetchall()
        assert found == [("main", "site_goto", "ChatGPT", "ok", 5)]
        assert stored(one) == stored(other) == []


def test_a_log_that_cannot_be_written() -> None:
    """A log that is away is told to the sender and the operator, and pages are served all the same."""
    with serving(**UNLIMITED, dsn="postgresql://nobody@127.0.0.1:1/none") as running:
        answer = send(running, begin())
        assert (answer.status, answer.header("Retry-After")) == (503, "5")
        assert counters(running) == {"failed": 1}
        assert running.wait_log("webmcp.log_failed")["level"] == "error"
        assert running.get("/webmcp/config.json").status == 200


@pytest.mark.asyncio
async def test_none_is_lost_without_a_word() -> None:
    """2,000 beacons a second from several clients: each is stored, or refused by the rule; the log agrees with both."""
    config = {**configured(usage={"rate_limit": 0, "ceiling": 5000}), "server": {"workers": 2}}
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        counted = await beacons(running, clients=4, each=1500, rate=2000)
        assert counted[204] + counted[429] == 6000, counted
        assert counted[204] >= 5000
        assert len(stored(running)) == counted[204]
        told = counters(running)
        assert (told["begun"], told.get("limited", 0)) == (counted[204], counted[429])
