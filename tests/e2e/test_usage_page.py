"""The dashboard of tools in web pages, and the self-test, in a real Chromium and over HTTP."""

from __future__ import annotations

import base64
import csv
import io
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import Browser, browser
from tests.support.daemon import Daemon, daemon, example
from tests.support.sites import begin, send
from tests.support.webmcp import NATIVE, ToolTab

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "t0ken-of-the-test"
HOSTILE = '"><img src=x onerror=window.bad=1>'
ROUTES = """
rpc: {resource: rpc, prefix: /rpc}
webmcp: {resource: webmcp, prefix: /webmcp}
"""
OPEN = """
ufo_json_rpc: {security: {protected_api: false}}
webmcp:
  usage: {clients: ["-cmd (x)"]}
  sites:
    main:
      tools:
        hours: {description: Opening hours., static: {items: [{title: Mo}]}}
        find: {description: Finds nothing., static: {items: [{title: None}]}}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE) as running:
        yield running


@pytest.fixture(scope="module")
def empty() -> Iterator[Daemon]:
    with daemon(config=OPEN, routes=ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def busy() -> Iterator[Daemon]:
    """A daemon whose tools were used: twelve calls of three agents, with all ways that a call can end."""
    with daemon(config=OPEN, routes=ROUTES) as running:
        page = {"Origin": running.url, "Sec-Fetch-Site": "same-origin"}
        for number, (tool, client, outcome, ms) in enumerate(CALLS):
            call = f"call-of-the-test-{number}"
            assert send(running, begin(tool, client, call), page).status == 204
            if outcome is not None:
                assert send(running, {"call": call, "outcome": outcome, "ms": ms}, page).status == 204
        yield running


CALLS: list[tuple[str, str, str | None, int]] = [
    *[("hours", "ChatGPT", "ok", ms) for ms in (10, 20, 30, 40, 1000)],
    ("hours", "Claude", "ok", 50),
    ("find", "Claude", "invalid", 1),
    ("find", "Claude", "error", 2),
    ("find", "Gemini", "declined", 9000),
    ("find", "Gemini", "aborted", 3),
    ("find", "-cmd (x)", "ok", 4),
    ("find", "ChatGPT", None, 0),
]


def as_json(running: Daemon, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = running.get(f"/webmcp/usage?format=json&{query}").json()
    return found


async def test_figures(busy: Daemon) -> None:
    """Totals, shares by tool, agent and outcome, durations, and the last calls, the newest first."""
    found = as_json(busy)
    assert found["query"] == {"days": 30, "site": "", "tool": "", "client": "", "outcome": ""}
    total = found["total"]
    assert (total["calls"], total["ended"], total["ok"], total["success"]) == (12, 11, 7, round(7 / 11, 4))
    assert (total["mean_ms"], total["median_ms"], total["slow_ms"]) == (924, 20, 9000)
    assert [(each["name"], each["calls"]) for each in found["tools"]] == [("find", 6), ("hours", 6)]
    assert {each["name"]: each["calls"] for each in found["outcomes"]} == {
        "ok": 7,
        "aborted": 1,
        "declined": 1,
        "error": 1,
        "invalid": 1,
        "open": 1,
    }
    assert len(found["recent"]) == 12
    assert found["recent"][0]["tool"] == "find"
    assert abs(datetime.fromisoformat(found["recent"][0]["at"]).timestamp() - time.time()) < 600


DAYS = [("", 30), ("7", 7), ("30", 30), ("90", 90), ("8", 30), ("-1", 30), ("9" * 50, 30), ("x", 30), ("%00", 30)]


@pytest.mark.parametrize(("asked", "days"), DAYS)
async def test_days(busy: Daemon, asked: str, days: int) -> None:
    """7, 30 or 90 days of UTC, each with its number, also where that is 0; what else is asked for is 30."""
    shown = as_json(busy, f"days={asked}")["days"]
    assert len(shown) == days
    assert [each["day"] for each in shown] == sorted(each["day"] for each in shown)
    assert sum(each["calls"] for each in shown) == 12
    assert shown[-1]["day"] in {datetime.now(UTC).date().isoformat(), shown[-1]["day"]}


FILTERS = [
    pytest.param("tool=hours", 6, id="a tool"),
    pytest.param("client=Claude", 3, id="an agent"),
    pytest.param("outcome=ok", 7, id="an outcome"),
    pytest.param("outcome=open", 1, id="calls whose end is unknown"),
    pytest.param("site=main", 12, id="a site"),
    pytest.param("site=other", 0, id="another site"),
    pytest.param("tool=hours&client=Claude&outcome=ok", 1, id="all at once"),
    pytest.param("tool=hours'%20OR%20'1'%3D'1", 0, id="what is no filter"),
]


@pytest.mark.parametrize(("query", "calls"), FILTERS)
async def test_filters(busy: Daemon, query: str, calls: int) -> None:
    """Site, tool, agent and outcome, alone and together, in figures, in the list and in CSV."""
    found = as_json(busy, query)
    assert (found["total"]["calls"], len(found["recent"])) == (calls, calls)
    rows = list(csv.reader(io.StringIO(busy.get(f"/webmcp/usage?format=csv&{query}").text)))
    assert rows[0] == ["at", "site", "tool", "client", "outcome", "ms"]
    assert len(rows) == calls + 1


async def test_the_last_hundred_are_listed_and_all_are_exported() -> None:
    """The page and JSON list the newest hundred of a time, CSV has every call; older days count where they are asked for."""
    with daemon(config=OPEN, routes=ROUTES) as running:
        page = {"Origin": running.url, "Sec-Fetch-Site": "same-origin"}
        assert send(running, begin("hours", "Claude", "the-first-call-of-all"), page).status == 204
        now = int(time.time())
        calls = [(now - 100 - n, "main", "find", "Claude", "ok", n) for n in range(150)]
        calls += [(now - 40 * 86_400, "main", "find", "Claude", "ok", 1)]
        with closing(sqlite3.connect(running.folder / "var" / "usage.db")) as log, log:
            log.executemany(
                "INSERT INTO webmcp_uses (at, site, tool, client, outcome, ms) VALUES (?, ?, ?, ?, ?, ?)", calls
            )
        found = as_json(running, "days=30")
        assert (found["total"]["calls"], len(found["recent"])) == (151, 100)
        assert found["recent"][0]["tool"] == "hours"
        assert [each["ms"] for each in found["recent"][1:4]] == [0, 1, 2]
        assert len(running.get("/webmcp/usage?format=csv&days=30").text.splitlines()) == 152
        assert as_json(running, "days=90")["total"]["calls"] == 152


async def test_csv_runs_no_formula(busy: Daemon) -> None:
    """What a spreadsheet would compute begins with an apostrophe; the file has a name."""
    answer = busy.get("/webmcp/usage?format=csv&tool=find")
    assert answer.header("content-disposition") == 'attachment; filename="usage.csv"'
    clients = [row["client"] for row in csv.DictReader(io.StringIO(answer.text))]
    assert "'-cmd (x)" in clients
    assert "-cmd (x)" not in clients


async def test_nothing_is_kept_and_nothing_runs(busy: Daemon) -> None:
    """Every form is `no-store`; the page allows no script and no frame."""
    for form in ("", "json", "csv"):
        assert busy.get(f"/webmcp/usage?format={form}").header("cache-control") == "no-store"
    policy = busy.get("/webmcp/usage").header("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy


async def test_a_token_is_typed() -> None:
    """Where calls need a token the dashboard does: as Bearer, in the header of tokens, or typed into the browser."""
    config = OPEN.replace("{protected_api: false}", f"{{protected_api: true, clients_tokens: [{TOKEN}]}}")

    def basic(text: str) -> dict[str, str]:
        return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}

    with daemon(config=config, routes=ROUTES) as running:
        for refused in (
            {},
            basic("me:wrong"),
            basic("me:"),
            {"Authorization": "Basic !"},
            {"Authorization": "Bearer no"},
        ):
            answer = running.get("/webmcp/usage", headers=refused)
            assert answer.status == 401
            assert 'Basic realm="rpcgw"' in ", ".join(answer.header_all("www-authenticate"))
        for accepted in (
            basic(f"me:{TOKEN}"),
            basic(f":{TOKEN}"),
            {"Authorization": f"Bearer {TOKEN}"},
            {"Ufo-RPC-Token": TOKEN},
        ):
            assert running.get("/webmcp/usage", headers=accepted).status == 200


async def test_no_dashboard_where_nothing_is_counted() -> None:
    """`webmcp.usage.enabled: false`: there is none, and pages are told of no endpoint."""
    with daemon(config=OPEN.replace("usage: {", "usage: {enabled: false, "), routes=ROUTES) as running:
        assert running.get("/webmcp/usage").status == 404
        assert "endpoint" not in running.get("/webmcp/config.json").json()


async def test_the_page_shows_the_figures(chromium: Browser, busy: Daemon) -> None:
    """Totals, a bar a day, shares, a hundred calls; the form filters by keyboard alone."""
    page = await chromium.open(busy.url + "/webmcp/usage")
    text = await page.value("document.body.innerText")
    assert [word for word in ("63.6 %", "20 ms", "ChatGPT", "declined by the visitor") if word not in text] == []
    assert await page.value("document.querySelectorAll('.chart rect').length") == 30
    assert await page.value("document.querySelectorAll('[aria-labelledby=recent] tbody tr').length") == 12
    await page.value("document.getElementById('tool').focus()")
    await page.type("hours")
    await page.value("document.querySelector('#tool').value = 'hours'")
    await page.value("document.querySelector('.filters button').focus()")
    await page.press("Enter", 13, "\r")
    await page.until("location.search.includes('tool=hours') && document.readyState === 'complete'")
    assert await page.value("document.querySelector('.totals dd').textContent") == "6"


async def test_hostile_filters_are_only_text(chromium: Browser, busy: Daemon) -> None:
    """What stands in the address stays text on the page and in its links."""
    page = await chromium.open(
        busy.url + "/webmcp/usage?tool=" + HOSTILE.replace('"', "%22").replace(" ", "%20") + "&client=" + "%3Cscript%3E"
    )
    assert await page.value("window.bad === undefined && document.querySelector('img') === null")


async def test_the_empty_page(chromium: Browser, empty: Daemon) -> None:
    """Without calls it says when there will be some, in the visitor's language."""
    page = await chromium.open(empty.url + "/webmcp/usage", language="uk")
    assert "Таких викликів немає" in await page.value("document.querySelector('[role=status]').textContent")
    assert await page.value("document.documentElement.lang") == "uk"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("which", ["busy", "empty"])
async def test_everybody_can_use_it(
    chromium: Browser, request: pytest.FixtureRequest, which: str, width: int, scheme: str
) -> None:
    """axe-core finds no violation, contrast included, in light and dark; nothing is to be scrolled sideways."""
    running: Daemon = request.getfixturevalue(which)
    page = await chromium.open(running.url + "/webmcp/usage", scheme=scheme, width=width, height=740)
    await page.value("document.querySelectorAll('details').forEach((each) => each.open = true)")
    assert await page.violations() == []
    assert await page.overflow() <= 0


# -- the self-test


@pytest.fixture(scope="module")
def in_dev() -> Iterator[Daemon]:
    with example("--env", "dev") as running:
        yield running


async def test_the_self_test_is_for_development(busy: Daemon) -> None:
    """In production there is none."""
    assert busy.get("/webmcp/selftest").status == 404


async def test_the_self_test_shows_what_the_browser_made_of_it(chromium: Browser, in_dev: Daemon) -> None:
    """Every check is passed, each tool of the asked page is registered, and runs by hand."""
    tab = await ToolTab.open(chromium, in_dev.url + "/webmcp/selftest?path=/site/en/contact/&locale=en")
    verdicts = "[...document.querySelectorAll('.verdict')].map((each) => each.textContent)"
    await tab.page.until(f"!{verdicts}.includes('…')")
    assert await tab.page.value(verdicts) == ["yes"] * 7
    states = "[...document.querySelectorAll('.state')].map((each) => each.textContent)"
    assert await tab.page.value(states) == ["registered"] * 7
    form = "document.querySelector('form.run[data-tool=site_price]')"
    await tab.page.value(f"{form}.querySelector('textarea').value = {json.dumps(json.dumps({'service': 'wheel'}))}")
    await tab.page.value(f"{form}.querySelector('button').click()")
    await tab.page.until(f"{form}.querySelector('output pre') !== null")
    assert '"total": 600' in await tab.page.value(f"{form}.querySelector('output').textContent")
    assert await tab.page.violations() == []
    assert (tab.warnings, tab.errors) == ([], [])


async def test_the_self_test_says_what_is_missing(in_dev: Daemon) -> None:
    """Without the browser's interface it says so, and what to do."""
    async with browser() as plain:
        tab = await ToolTab.open(
            plain, in_dev.url + "/webmcp/selftest?path=/site/", native=False, language="uk", width=360
        )
        await tab.page.until("document.querySelector('[data-check=interface] .no') !== null")
        assert "--enable-features=WebMCP" in await tab.page.value(
            "document.querySelector('[data-check=interface]').textContent"
        )
        assert await tab.page.violations() == []
        assert await tab.page.overflow() <= 0
