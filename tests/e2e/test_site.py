"""The example's site in a real Chromium, served by the daemon: each of its tools, and what the usage log has after."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import Browser, browser
from tests.support.daemon import Daemon, example
from tests.support.pages import POLYFILL
from tests.support.webmcp import NATIVE, ToolTab, text_of, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYWHERE = ("site_goto", "site_hours", "site_mail", "site_open_now", "site_price", "site_search")
DIALOG = "document.querySelector('rpcgw-dialog')"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE) as running:
        yield running


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with example() as running:
        yield running


def rows(served: Daemon) -> list[tuple[str, str, str]]:
    """Return what the usage log has of an agent: tool, client and outcome."""
    with closing(sqlite3.connect(served.folder / "var" / "usage.db")) as log:
        return list(log.execute("SELECT tool, client, outcome FROM webmcp_uses WHERE client = 'ChatGPT'"))


async def agree(tab: ToolTab) -> None:
    """Agree as a visitor would who has the keyboard only."""
    await tab.page.until(f"{DIALOG} !== null")
    await tab.page.press("Tab", 9)
    await tab.page.press("Enter", 13, "\r")


async def test_each_primitive_works_and_is_counted(chromium: Browser, served: Daemon) -> None:
    """All seven primitives from one page, with their rows in the log: tool, client and outcome."""
    tab = await ToolTab.open(chromium, served.url + "/site/en/contact/")
    await tab.has(*EVERYWHERE, "site_booking")
    me = {"client": "ChatGPT"}

    found = await tab.call("site_search", {"query": "BRAKE pads", **me})
    assert [each["url"] for each in found["structuredContent"]["results"]] == ["/site/en/blog/brake-pads/"]
    assert found["structuredContent"]["searchUrl"] == served.url + "/site/en/blog/?q=BRAKE%20pads"
    assert "Saturday: 10:00 – 16:00" in text_of(await tab.call("site_hours", me))
    assert isinstance((await tab.call("site_open_now", me))["structuredContent"]["open"], bool)
    price = await tab.call("site_price", {"service": "wheel", "bicycles": 3, **me})
    assert price["structuredContent"] == {"result": {"service": "wheel", "total": 1560, "days": 2}}
    assert (await tab.call("site_price", {"service": "nothing", **me}))["isError"] is True

    mail = await tab.begin("site_mail", {"name": "Olha", "message": "Hello", **me})
    await agree(tab)
    written = (await tab.answer(mail))["output"]["structuredContent"]
    assert (written["to"], written["body"]) == ("workshop@example.org", "Name: Olha\n\nHello")
    declined = await tab.begin("site_mail", {"name": "Olha", "message": "Hello", **me})
    await tab.page.until(f"{DIALOG} !== null")
    await tab.page.press("Escape", 27)
    assert (await tab.answer(declined))["output"]["isError"] is True

    booking = await tab.begin("site_booking", {"name": "Olha", "mail": "olha@example.org", "what": "wheel", **me})
    await tab.page.until(f"{DIALOG}?.shadowRoot.querySelector('p').textContent === 'Book a repair for Olha?'")
    await agree(tab)
    assert text_of((await tab.answer(booking))["output"]) == "The form was sent."
    await tab.page.until("location.pathname === '/site/en/contact/sent/' && location.search.includes('olha%40')")

    await tab.has(*EVERYWHERE)
    assert text_of(await tab.call("site_goto", {"section": "blog", **me})) == "Opening: Blog."
    await tab.page.until("location.pathname === '/site/en/blog/'")
    wanted = [
        *(("site_search", "ChatGPT", "ok"), ("site_hours", "ChatGPT", "ok"), ("site_open_now", "ChatGPT", "ok")),
        *(("site_price", "ChatGPT", "ok"), ("site_price", "ChatGPT", "invalid"), ("site_mail", "ChatGPT", "ok")),
        *(("site_mail", "ChatGPT", "declined"), ("site_booking", "ChatGPT", "ok"), ("site_goto", "ChatGPT", "ok")),
    ]
    await until(lambda: sorted(rows(served)) == sorted(wanted), lambda: str(rows(served)))
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


async def test_with_the_polyfill_the_site_works_too(served: Daemon) -> None:
    """In a browser without tools a polyfill gives them: searched, listed, calculated and asked for as natively."""
    async with browser() as chromium:
        tab = await ToolTab.open(chromium, native=False)
        await tab.page.command("Page.addScriptToEvaluateOnNewDocument", {"source": POLYFILL.read_text("utf-8")})
        await tab.page.visit(served.url + "/site/en/")
        assert sorted(await tab.page.value("rpcgw.refresh()")) == sorted(EVERYWHERE)
        found = await tab.call_in_page("site_search", {"query": "brake pads"}, text=True)
        assert [each["title"] for each in found["structuredContent"]["results"]] == ["Brake pads: how much is left"]
        price = await tab.call_in_page("site_price", {"service": "wheel"}, text=True)
        assert price["structuredContent"]["result"]["total"] == 600
        gone = await tab.call_in_page("site_goto", {"section": "blog"}, text=True)
        assert gone["structuredContent"]["label"] == "Blog"
        await tab.page.until("location.pathname === '/site/en/blog/'")
        assert tab.errors == []
