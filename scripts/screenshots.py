"""Takes pictures of the pages that the daemon serves, into `.cache/screenshots`: light, dark and narrow.

The overview, the console, the example's site with a question to the visitor and the note of a mail, the dashboard with
and without calls, and the self-test.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.support.browser import Browser, Page, browser
from tests.support.console import called
from tests.support.daemon import Daemon, example
from tests.support.sites import begin, send
from tests.support.webmcp import NATIVE, ToolTab

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "screenshots"
WINDOWS = {"light": (1200, "light", "en"), "dark": (1200, "dark", "uk"), "narrow": (360, "light", "en")}
SITES = {"light": "/site/en/", "dark": "/site/", "narrow": "/site/en/"}
AGENTS = ("ChatGPT", "Claude", "Gemini", "Perplexity")
TOOLS = ("site_search", "site_goto", "site_hours", "site_price", "site_mail")
OUTCOMES = ("ok",) * 8 + ("error", "invalid", "declined", "aborted")


async def keep(page: Page, name: str) -> None:
    """Keep a picture of a page."""
    (FOLDER / f"{name}.png").write_bytes(await page.picture())


async def take_console(chromium: Browser, url: str, window: str) -> None:
    """Take the overview and a group's page with a method that was called."""
    width, scheme, language = WINDOWS[window]
    await keep(await chromium.open(url + "/", width=width, scheme=scheme, language=language), f"overview-{window}")
    console = await chromium.open(f"{url}/console/internal", width=width, scheme=scheme, language=language)
    await called(console, values={"query": "le", "limit": "2"})
    await keep(console, f"console-{window}")


async def take_site(chromium: Browser, url: str, window: str) -> None:
    """Take the site's contact page, the question before a mail, and the note after it."""
    width, scheme, language = WINDOWS[window]
    tab = await ToolTab.open(chromium, width=width, scheme=scheme, language=language, height=740)
    await tab.page.visit(url + SITES[window] + "contact/")
    await keep(tab.page, f"site-{window}")
    call = await tab.begin("site_mail", {"name": "Olha", "phone": "+380 44 000 00 00", "message": "Is a wheel true?"})
    await tab.page.until("document.querySelector('rpcgw-dialog') !== null")
    await keep(tab.page, f"question-{window}")
    await tab.page.press("Tab", 9)
    await tab.page.press("Enter", 13, "\r")
    await tab.answer(call)
    await tab.page.until("document.querySelector('rpcgw-note') !== null")
    await keep(tab.page, f"note-{window}")


async def take_usage(chromium: Browser, url: str, window: str, name: str) -> None:
    """Take the dashboard."""
    width, scheme, language = WINDOWS[window]
    page = await chromium.open(f"{url}/webmcp/usage", width=width, scheme=scheme, language=language)
    await keep(page, f"{name}-{window}")


async def take_selftest(chromium: Browser, url: str, window: str) -> None:
    """Take the self-test of the contact page."""
    width, scheme, language = WINDOWS[window]
    page = await chromium.open(
        f"{url}/webmcp/selftest?path={SITES[window]}contact/", width=width, scheme=scheme, language=language
    )
    await page.until("![...document.querySelectorAll('.verdict')].some((each) => each.textContent === '…')")
    await keep(page, f"selftest-{window}")


def use(running: Daemon) -> None:
    """Let agents have used the tools for weeks: one call is told, which makes the log, others are written in."""
    page = {"Origin": running.url, "Sec-Fetch-Site": "same-origin"}
    send(running, begin(TOOLS[0], AGENTS[0], "call-for-a-picture"), page)
    dice = random.Random(7)
    calls = []
    for day in range(30):
        for _ in range(dice.randint(2, 12) + day // 3):
            at = int(time.time()) - (29 - day) * 86_400 - dice.randint(0, 3_600)
            ms = round(dice.expovariate(0.01))
            calls.append((at, "main", dice.choice(TOOLS), dice.choice(AGENTS), dice.choice(OUTCOMES), ms))
    with closing(sqlite3.connect(running.folder / "var" / "usage.db")) as log, log:
        log.executemany(
            "INSERT INTO webmcp_uses (at, site, tool, client, outcome, ms) VALUES (?, ?, ?, ?, ?, ?)", calls
        )


async def main() -> None:
    """Serve the example and look at it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with example("--env", "dev") as running:
        async with browser(NATIVE) as chromium:
            for window in WINDOWS:
                await take_usage(chromium, running.url, window, "usage-empty")
            use(running)
            for window in WINDOWS:
                await take_console(chromium, running.url, window)
                await take_usage(chromium, running.url, window, "usage")
                await take_selftest(chromium, running.url, window)
                await take_site(chromium, running.url, window)
    for picture in sorted(FOLDER.glob("*.png")):
        print(picture.relative_to(Path.cwd()) if picture.is_relative_to(Path.cwd()) else picture)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
