"""The console in a real Chromium: methods called through it over both protocols, and pages that everybody can use."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.browser import Browser, browser
from tests.support.console import SEARCH, called, fill, text
from tests.support.daemon import Daemon, daemon

CONSOLE = "/console/internal"
TOKEN = "t0ken-of-the-test"
HOSTILE = "</script><img src=x onerror=window.bad=1>"
PLUGIN = """
import rpcgw


@rpcgw.procedure("Echo", groups=["general", "mcp"])
class Echo:
    def say(self, text: str, number: int = 0) -> str:
        '''Say it again. </script><img src=x onerror=window.bad=1>'''
        return f"{text} {number}"

    def big(self) -> dict[str, int]:
        return {"number": 12345678901234567890}

    def both(self, items: list[int], flag: bool | None = None) -> dict[str, object]:
        return {"items": items, "flag": flag}
"""
SECURED = f"""
ufo_json_rpc:
  security: {{protected_api: true, clients_tokens: [{TOKEN}]}}
  docs: {{project_name: "Shop {HOSTILE}"}}
"""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    """One browser for all; each test opens a page of its own."""
    async with browser() as running:
        yield running


async def test_a_method_is_called_through_the_page(chromium: Browser, example_daemon: Daemon) -> None:
    """Over JSON-RPC and over MCP: the result is read, and the raw exchange stands beside it."""
    page = await chromium.open(example_daemon.url + CONSOLE)
    for over, method in (("rpc", SEARCH), ("mcp", "tools/call")):
        said = await called(page, values={"query": "le", "limit": "1", "category": '"toys"'}, over=over)
        assert "The call succeeded · HTTP 200" in said
        assert '"sku"' in said
        assert f'"method": "{method}"' in await text(page, SEARCH, ".request")
        assert (await text(page, SEARCH, ".response")).startswith("HTTP 200\n")


async def test_errors_are_explained(chromium: Browser, example_daemon: Daemon) -> None:
    """What a code means and which parameter it is about, in the visitor's language; what is no number is not sent."""
    page = await chromium.open(example_daemon.url + CONSOLE, language="uk")
    for over in ("rpc", "mcp"):
        said = await called(page, values={"query": "a", "limit": "1000"}, over=over)
        assert "Код -32602" in said
        assert "Параметр limit: має бути не більше 100" in said
    await called(page, values={"limit": "ten"})
    assert await text(page, SEARCH, '[data-name="limit"] .error') == "має бути цілим числом"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", CONSOLE])
async def test_everybody_can_use_it(chromium: Browser, example_daemon: Daemon, path: str, scheme: str) -> None:
    """axe-core finds no violation in light and dark, with a method open, called and in error."""
    page = await chromium.open(example_daemon.url + path, scheme=scheme)
    if path == CONSOLE:
        await called(page, values={"query": "le", "limit": "1"})
        await called(page, "Catalog.get", {"id": "99999999"})
        await page.value("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert await page.violations() == []


@pytest.mark.parametrize("language", ["en", "uk"])
@pytest.mark.parametrize("path", ["/", CONSOLE])
async def test_narrow_windows(chromium: Browser, example_daemon: Daemon, path: str, language: str) -> None:
    """360 pixels are enough: nothing is to be scrolled sideways."""
    page = await chromium.open(example_daemon.url + path, width=360, height=740, language=language)
    if path == CONSOLE:
        await called(page, values={"query": "le", "limit": "1"}, over="mcp")
        await page.value("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert await page.overflow() <= 0


async def test_the_keyboard_is_enough(chromium: Browser, example_daemon: Daemon) -> None:
    """Search, open, fill in and call without a mouse; the focus is seen all the way."""
    page = await chromium.open(example_daemon.url + CONSOLE)
    await page.press("/", 191, "/")
    await page.type("search products")
    await page.until("document.querySelectorAll('details.method:not([hidden])').length === 1")
    await page.press("Tab", 9)
    await page.press("Tab", 9)
    assert await page.value("document.activeElement.closest('details').id") == SEARCH
    assert await page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    await page.press("Enter", 13, "\r")
    await page.press("Tab", 9)
    await page.type("le")
    await page.press("Enter", 13, "\r")
    await page.until("document.querySelector('details:not([hidden]) .outcome.good') !== null")


async def test_tokens_and_hostile_texts(chromium: Browser) -> None:
    """A typed token goes with the call and nowhere else; markup in texts does nothing."""
    with daemon(config=SECURED, plugins={"shop.py": PLUGIN}) as running:
        page = await chromium.open(running.url + "/console/general")
        assert "Code -32401" in await called(page, "Echo.say", {"text": "a", "number": "12345678901234567890"})
        await page.value("document.getElementById('token').focus()")
        await page.type(TOKEN)
        assert '"a 12345678901234567890"' in await called(page, "Echo.say")
        assert "Bearer ••••" in await text(page, "Echo.say", ".request")
        assert TOKEN not in await page.value("document.documentElement.outerHTML")
        assert await page.value("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
        said = await called(page, "Echo.both", {"items": "[1, 2]", "flag": "true"})
        assert json.loads(said[said.index("{") :]) == {"items": [1, 2], "flag": True}
        assert "12345678901234567890" in await called(page, "Echo.big")
        assert await page.value("window.bad") is None
        assert HOSTILE in await page.value("document.querySelector('h1').textContent")


async def test_snippets(chromium: Browser, example_daemon: Daemon) -> None:
    """What is copied says what the form says, and where the daemon is."""
    page = await chromium.open(example_daemon.url + CONSOLE)
    await fill(page, SEARCH, {"query": "it's"})
    curl, python, agent = [await text(page, SEARCH, f"pre.{kind}") for kind in ("curl", "python", "agent")]
    assert curl.startswith(f"curl {example_daemon.url}/rpc/internal")
    assert "it'\\''s" in curl
    compile(python, "snippet", "exec")
    assert agent.startswith("claude mcp add --transport http ")
    assert agent.endswith(f" {example_daemon.url}/mcp/internal")
