"""The example's site in a real Chromium, served by the daemon: each of its tools, and what the usage log has after."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from tests.support.between import between
from tests.support.browser import Browser, browser
from tests.support.daemon import Daemon, example
from tests.support.pages import POLYFILL, STRICT
from tests.support.webmcp import NATIVE, ToolTab, text_of, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYWHERE = ("site_goto", "site_hours", "site_mail", "site_open_now", "site_price", "site_search")
DIALOG = "document.querySelector('rpcgw-dialog')"
LISTENING = """addEventListener('securitypolicyviolation', (event) => {
  const kept = JSON.parse(sessionStorage.getItem('violations') ?? '[]');
  sessionStorage.setItem('violations', JSON.stringify([...kept, event.violatedDirective + ' ' + event.blockedURI]));
});"""
"""Keeps what a policy forbids, over all pages of a tab."""

Json = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE) as running:
        yield running


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with example() as running:
        yield running


@pytest.fixture
def fresh() -> Iterator[Daemon]:
    """A daemon of the test's own: the example takes sixty beacons a minute from one address, as it is shipped."""
    with example() as running:
        yield running


Call = Callable[[str, Json], Awaitable[Json]]
"""Calls a tool of the open page, and returns its result."""


def rows(served: Daemon, agent: str) -> list[tuple[str, str]]:
    """Return what the usage log has of an agent: tool and outcome."""
    with closing(sqlite3.connect(served.folder / "var" / "usage.db")) as log:
        return sorted(log.execute("SELECT tool, outcome FROM webmcp_uses WHERE client = ?", (agent,)))


async def agree(tab: ToolTab) -> None:
    """Agree as a visitor would who has the keyboard only."""
    await tab.page.until(f"{DIALOG} !== null")
    await tab.page.press("Tab", 9)
    await tab.page.press("Enter", 13, "\r")


async def answered(tab: ToolTab, asked: Awaitable[Json], answer: Callable[[ToolTab], Awaitable[None]]) -> Json:
    """Call a tool that asks the visitor, answer for the visitor, and return the result."""
    calling = asyncio.ensure_future(asked)
    await tab.page.until(f"{DIALOG} !== null")
    await answer(tab)
    return await calling


async def decline(tab: ToolTab) -> None:
    """Decline by the keyboard."""
    await tab.page.press("Escape", 27)


async def use_all(tab: ToolTab, call: Call, agent: str) -> None:
    """Use each primitive of the contact page as an agent would, and see what it says and does."""
    me = {"client": agent}
    found = await call("site_search", {"query": "BRAKE pads", **me})
    assert [each["url"] for each in found["structuredContent"]["results"]] == ["/site/en/blog/brake-pads/"]
    origin = await tab.page.value("location.origin")
    assert found["structuredContent"]["searchUrl"] == origin + "/site/en/blog/?q=BRAKE%20pads"
    assert "Saturday: 10:00 – 16:00" in text_of(await call("site_hours", me))
    assert isinstance((await call("site_open_now", me))["structuredContent"]["open"], bool)
    price = await call("site_price", {"service": "wheel", "bicycles": 3, **me})
    assert price["structuredContent"] == {"result": {"service": "wheel", "total": 1560, "days": 2}}
    assert (await call("site_price", {"service": "nothing", **me}))["isError"] is True

    letter = {"name": "Olha", "message": "Hello", **me}
    written = (await answered(tab, call("site_mail", letter), agree))["structuredContent"]
    assert (written["to"], written["body"]) == ("workshop@example.org", "Name: Olha\n\nHello")
    await tab.page.until(f"{DIALOG} === null")
    assert (await answered(tab, call("site_mail", letter), decline))["isError"] is True
    await tab.page.until(f"{DIALOG} === null")

    booking = {"name": "Olha", "mail": "olha@example.org", "what": "wheel", **me}
    asked = f"{DIALOG}?.shadowRoot.querySelector('p').textContent === 'Book a repair for Olha?'"

    async def agree_to_that(tab: ToolTab) -> None:
        await tab.page.until(asked)
        await agree(tab)

    assert text_of(await answered(tab, call("site_booking", booking), agree_to_that)) == "The form was sent."
    await tab.page.until("location.pathname === '/site/en/contact/sent/' && location.search.includes('olha%40')")
    await tab.page.until("document.readyState === 'complete' && window.rpcgw !== undefined")
    await tab.page.until("rpcgw.refresh().then((found) => found.site_goto === 'registered')")
    assert text_of(await call("site_goto", {"section": "blog", **me})) == "Opening: Blog."
    await tab.page.until("location.pathname === '/site/en/blog/'")


USED = sorted(
    [
        *(("site_search", "ok"), ("site_hours", "ok"), ("site_open_now", "ok"), ("site_price", "ok")),
        *(("site_price", "invalid"), ("site_mail", "ok"), ("site_mail", "declined")),
        *(("site_booking", "ok"), ("site_goto", "ok")),
    ]
)
"""What the log has of an agent that used everything."""


async def test_each_primitive_works_and_is_counted(chromium: Browser, served: Daemon) -> None:
    """All seven primitives from one page, with their rows in the log: tool, client and outcome."""
    tab = await ToolTab.open(chromium, served.url + "/site/en/contact/")
    await tab.has(*EVERYWHERE, "site_booking")
    await use_all(tab, tab.call, "ChatGPT")
    await tab.has(*EVERYWHERE)
    await until(lambda: rows(served, "ChatGPT") == USED, lambda: str(rows(served, "ChatGPT")))
    assert (tab.warnings, tab.errors) == ([], [])


async def test_a_strict_policy_is_enough_for_all_of_it(chromium: Browser, fresh: Daemon) -> None:
    """Under `default-src 'none'` with Trusted Types every primitive does the same, the dialog too; nothing is violated."""
    async with between(fresh.url, {"Content-Security-Policy": STRICT + "; img-src data:"}) as url:
        tab = await ToolTab.open(chromium)
        await tab.page.command("Page.addScriptToEvaluateOnNewDocument", {"source": LISTENING})
        await tab.page.visit(url + "/site/en/contact/")
        await tab.has(*EVERYWHERE, "site_booking")
        await use_all(tab, tab.call, "Gemini")
        await until(lambda: rows(fresh, "Gemini") == USED, lambda: str(rows(fresh, "Gemini")))
        assert await tab.page.value("JSON.parse(sessionStorage.getItem('violations') ?? '[]')") == []
        assert (tab.warnings, tab.errors) == ([], [])


async def test_a_page_whose_policy_forbids_tools_has_none(chromium: Browser, served: Daemon) -> None:
    """`Permissions-Policy: tools=()`: the browser refuses each tool by itself, the page is shown and has no error."""
    async with between(served.url, {"Permissions-Policy": "tools=()"}) as url:
        tab = await ToolTab.open(chromium, url + "/site/en/contact/")
        found = await tab.page.value("rpcgw.refresh()")
        assert sorted(found) == sorted([*EVERYWHERE, "site_booking"])
        assert {reason.partition(":")[0] for reason in found.values()} == {"NotAllowedError"}
        assert await tab.page.value("document.querySelector('form#booking') !== null")
        assert (tab.tools, tab.errors) == ({}, [])
        assert len(tab.warnings) == len(found)


OUTSIDE = '<!doctype html><title>Outside</title><iframe src="/site/en/contact/" style="width: 90%"></iframe>'
FRAMED = {"/outside": OUTSIDE}


async def test_the_site_in_a_frame_has_no_tools(chromium: Browser, served: Daemon) -> None:
    """Only what the visitor has in the address bar offers tools: framed, the site is shown, and registers nothing."""
    async with between(served.url, {"Content-Security-Policy": "frame-ancestors 'self'"}, FRAMED) as url:
        tab = await ToolTab.open(chromium, url + "/outside")
        await tab.page.until("frames[0]?.document.readyState === 'complete' && frames[0].rpcgw !== undefined")
        assert await tab.page.value("'modelContext' in frames[0].document") is True
        assert await tab.page.value("frames[0].rpcgw.refresh()") == {}
        assert await tab.page.value("frames[0].document.querySelector('form#booking') !== null")
        assert (tab.tools, tab.warnings, tab.errors) == ({}, [], [])


async def test_the_daemon_lets_nobody_frame_the_site(chromium: Browser, served: Daemon) -> None:
    """As the daemon serves it a page of the site is shown in no frame at all, one of its own origin included."""
    async with between(served.url, pages=FRAMED) as url:
        tab = await ToolTab.open(chromium, url + "/outside")
        blocked = "(() => { try { return frames[0].document === null; } catch { return true; } })()"
        await tab.page.until(blocked)
        assert (tab.tools, tab.errors) == ({}, [])


async def test_back_and_forward_through_the_site(chromium: Browser, fresh: Daemon) -> None:
    """Pages that come back from the browser's memory have each of their tools once, and calls are counted as before."""
    tab = await ToolTab.open(chromium, fresh.url + "/site/en/contact/")
    await tab.has(*EVERYWHERE, "site_booking")
    await tab.page.value("addEventListener('pageshow', (e) => { window.restored = e.persisted; })")
    assert text_of(await tab.call("site_goto", {"section": "blog", "client": "Copilot"})) == "Opening: Blog."
    await tab.page.until("location.pathname === '/site/en/blog/' && document.readyState === 'complete'")
    await tab.has(*EVERYWHERE)
    await tab.page.value("history.back()")
    await tab.page.until("location.pathname === '/site/en/contact/' && window.restored")
    names = "document.modelContext.getTools().then((all) => all.map((each) => each.name).sort())"
    assert await tab.page.value(names) == sorted([*EVERYWHERE, "site_booking"])
    price = await tab.call_in_page("site_price", {"service": "wheel", "client": "Copilot"})
    assert price["structuredContent"]["result"]["total"] == 600
    await tab.page.value("history.forward()")
    await tab.page.until("location.pathname === '/site/en/blog/' && document.readyState === 'complete'")
    assert await tab.page.value(names) == sorted(EVERYWHERE)
    assert "Saturday" in text_of(await tab.call_in_page("site_hours", {"client": "Copilot"}))
    wanted = [("site_goto", "ok"), ("site_hours", "ok"), ("site_price", "ok")]
    await until(lambda: rows(fresh, "Copilot") == wanted, lambda: str(rows(fresh, "Copilot")))
    assert (tab.warnings, tab.errors) == ([], [])


LANGUAGES = [
    pytest.param("/site/", "Субота: 10:00 – 16:00", "Прокачуємо гідравліку", id="Ukrainian"),
    pytest.param("/site/en/", "Saturday: 10:00 – 16:00", "Bleeding hydraulics", id="English"),
]


@pytest.mark.parametrize(("path", "hours", "title"), LANGUAGES)
async def test_tools_speak_the_pages_language(
    chromium: Browser, served: Daemon, path: str, hours: str, title: str
) -> None:
    """Descriptions, answers and the index are those of the page's language; the form's tool is left out here."""
    tab = await ToolTab.open(chromium, served.url + path)
    await tab.has(*EVERYWHERE)
    assert hours in text_of(await tab.call("site_hours"))
    found = await tab.call("site_search", {"query": title.split(" ")[1].upper()})
    assert title in [each["title"] for each in found["structuredContent"]["results"]]
    wrong: dict[str, Any] = await tab.call("site_hours", {"odd": 1})
    assert ("Неправильні аргументи" in text_of(wrong)) is (path == "/site/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/site/", "/site/en/blog/", "/site/en/services/", "/site/contact/"])
async def test_everybody_can_use_the_site(chromium: Browser, served: Daemon, path: str, scheme: str) -> None:
    """axe-core finds no violation, and 360 pixels are enough."""
    tab = await ToolTab.open(chromium, served.url + path, scheme=scheme, width=360, height=740)
    assert await tab.page.violations() == []
    assert await tab.page.overflow() <= 0


async def test_the_blog_shows_what_was_searched_for(chromium: Browser, served: Daemon) -> None:
    """The link that a search gives leads to a page with the same articles."""
    tab = await ToolTab.open(chromium, served.url + "/site/en/blog/?q=brake%20PADS")
    shown = "[...document.querySelectorAll('.list li:not([hidden]) a')].map((each) => each.textContent)"
    assert await tab.page.value(shown) == ["Brake pads: how much is left"]


async def test_without_the_flag_the_site_is_the_same(served: Daemon) -> None:
    """A browser without tools shows the page, registers nothing, asks for nothing more, and has no error."""
    async with browser() as chromium:
        tab = await ToolTab.open(chromium, served.url + "/site/en/", native=False)
        assert await tab.page.value("'modelContext' in document") is False
        assert await tab.page.value("rpcgw.refresh()") == {}
        asked = "performance.getEntriesByType('resource').map((each) => new URL(each.name).pathname)"
        assert sorted(await tab.page.value(asked)) == ["/site/site.css", "/webmcp/webmcp.js"]
        assert (tab.warnings, tab.errors) == ([], [])


async def test_with_the_polyfill_the_site_works_too(fresh: Daemon) -> None:
    """In a browser without tools a polyfill gives them: every primitive does and is counted as natively."""
    async with browser() as chromium:
        tab = await ToolTab.open(chromium, native=False)
        await tab.page.command("Page.addScriptToEvaluateOnNewDocument", {"source": POLYFILL.read_text("utf-8")})
        await tab.page.visit(fresh.url + "/site/en/contact/")
        assert sorted(await tab.page.value("rpcgw.refresh()")) == sorted([*EVERYWHERE, "site_booking"])
        await use_all(tab, partial(tab.call_in_page, text=True), "Perplexity")
        await until(lambda: rows(fresh, "Perplexity") == USED, lambda: str(rows(fresh, "Perplexity")))
        assert tab.errors == []
