"""W-04 to W-11 and W-13: what tools of pages do in a real Chromium, declared by a plugin, served by the daemon."""

from __future__ import annotations

import urllib.parse
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import Browser, browser
from tests.support.daemon import CONFIG, Daemon, daemon
from tests.support.webmcp import NATIVE, ToolTab, text_of, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUTES = "webmcp: {resource: webmcp, prefix: /webmcp}\n"
PLUGIN = '''
import json

import rpcgw as rpc
from rpcgw.api.webmcp import (
    BodyLine, ListText, Mailto, Manifest, Module, Navigate, NavigateText, Option, Search, SearchText, StaticList
)

PAGE = """<!doctype html><html lang="en"><title>Shop</title>
<script src="/webmcp/webmcp.js" data-config="/webmcp/config.json" defer></script><h1>Shop</h1>"""
LAMPS = [
    {"name": "Desk lamp", "colour": "Red", "price": 10, "link": "/lamps/1", "secret": "s"},
    {"name": "Floor lamp", "colour": "Red", "price": 90, "link": "/lamps/2", "secret": "s"},
    {"name": "Candle", "colour": "White", "price": 1, "link": "/lamps/3", "secret": "s"},
]
ECHO = """
export const execute = async (args, ctx) => ({
  content: [{ type: "text", text: "ran" }],
  structuredContent: {
    args,
    tool: ctx.tool,
    site: ctx.config.site,
    tools: ctx.config.tools.length,
  },
});
"""
BROKEN = "export const execute = () => { throw new Error('The shop is shut.'); }"

LINES = [BodyLine("Name", "name"), BodyLine("Phone", "phone", optional=True)]
SEARCH = dict(
    index_url="/lamps.json",
    search_fields=["name", "colour"],
    query_param="words",
    limit_param="most",
    limit_default=2,
    result_key="lamps",
    result_fields={"title": "name", "url": "link", "price": "price"},
    deep_link_template="/lamps/?q={words}&n={most}",
    text=SearchText("{count} lamps for {query}{nothing}", "All {count}", "{n}) {title}: {price}{nothing}", "No {query}", "None"),
)
TOOLS = {
    "goto": Navigate(
        [Option("lamps", "Our lamps", "/lamps/"), Option("home", "Home", "/shop/")],
        "section",
        NavigateText("Now {label}", "Only {options}"),
    ),
    "find": Search(**SEARCH),
    "find_all": Search("/lamps.json", ["name"]),
    "find_some": Search("/lamps.json", ["name"], result_fields=["name"], query_required=True),
    "write": Mailto("shop@example.org", "Lamp for {name}", LINES, "text", "Ready for {to}, {name}{nothing}"),
    "hours": StaticList([{"day": "Mo", "at": {"from": 9}}, {"day": "Su"}], "days", ListText("{count} days:", "{n}. {day}")),
    "echo": Module("/echo.mjs", extra={"mine": {"deep": [1, 2]}}),
    "shut": Module("/shut.mjs"),
    "gone": Module("/gone.mjs"),
}


class Tool:
    def __init__(self, name, primitive):
        self.name, self.primitive = name, primitive

    def manifest(self, page, data):
        return Manifest(self.name, "A tool.", self.primitive, consequential=False)


plugin = rpc.Plugin(
    page_tools=[Tool(name, primitive) for name, primitive in TOOLS.items()],
    pages={
        "/shop/": PAGE, "/lamps/": PAGE, "/lamps.json": json.dumps(LAMPS), "/echo.mjs": ECHO, "/shut.mjs": BROKEN
    },
)
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE) as running:
        yield running


@pytest.fixture(scope="module")
def shop() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def tab(chromium: Browser, shop: Daemon) -> AsyncIterator[ToolTab]:
    """The shop's page, as an agent sees it."""
    yield await ToolTab.open(chromium, shop.url + "/shop/")
    await chromium.close_tabs()


async def test_the_runtime_adds_client(tab: ToolTab, shop: Daemon) -> None:
    """W-04: each tool that a page registers takes an optional text `client`, which its declaration does not have."""
    declared = {tool["name"]: tool for tool in shop.get("/webmcp/config.json?path=/shop/").json()["tools"]}
    assert declared
    await tab.has(*declared)
    for name, tool in tab.tools.items():
        assert "client" not in declared[name]["inputSchema"].get("properties", {})
        assert tool["inputSchema"]["properties"]["client"]["type"] == "string"
        assert "client" not in tool["inputSchema"].get("required", [])


async def test_navigate(tab: ToolTab, shop: Daemon) -> None:
    """W-05, W-09: a tool goes to the URL of the option that was chosen, and nowhere else."""
    for arguments in ({"section": "nowhere"}, {"section": "/lamps/"}, {"section": "constructor"}, {}):
        result = await tab.call("goto", arguments)
        assert (result["isError"], text_of(result)) == (True, "Only lamps, home")
    assert await tab.page.value("location.pathname") == "/shop/"
    result = await tab.call("goto", {"section": "lamps"})
    assert text_of(result) == "Now Our lamps"
    await tab.page.until("location.pathname === '/lamps/'")


async def test_search(tab: ToolTab, shop: Daemon) -> None:
    """W-06, W-09: arguments, fields, results, link and texts are those that the author named."""
    result = await tab.call("find", {"words": "red LAMP", "most": 1})
    assert text_of(result) == "1 lamps for red LAMP\n1) Desk lamp: 10"
    assert result["structuredContent"] == {
        "count": 1,
        "total": 2,
        "words": "red LAMP",
        "lamps": [{"title": "Desk lamp", "url": "/lamps/1", "price": 10}],
        "searchUrl": shop.url + "/lamps/?q=red%20LAMP&n=1",
    }


TEXTS = [
    pytest.param({}, "All 2", id="everything, where nothing is asked for"),
    pytest.param({"words": "sofa"}, "No sofa", id="nothing is found"),
]


@pytest.mark.parametrize(("arguments", "text"), TEXTS)
async def test_search_without_words_and_without_results(tab: ToolTab, arguments: dict[str, Any], text: str) -> None:
    """W-06: an empty query lists all, up to the default limit; finding nothing is an answer."""
    result = await tab.call("find", arguments)
    assert text_of(result).split("\n")[0] == text
    assert not result.get("isError")


async def test_result_fields(tab: ToolTab) -> None:
    """W-06: a list picks fields, without one items pass through; a query that is required has to be there."""
    whole = await tab.call("find_all", {"query": "candle"})
    assert whole["structuredContent"]["results"][0]["secret"] == "s"
    picked = await tab.call("find_some", {"query": "candle"})
    assert picked["structuredContent"]["results"] == [{"name": "Candle"}]
    assert (await tab.call("find_some", {}))["isError"] is True
    assert (await tab.call("find_some", {"query": ""}))["isError"] is True


async def test_mailto(tab: ToolTab) -> None:
    """W-07, W-09: a pre-filled link is in the result, in the text and on the page; nobody claims that a mail is open."""
    result = await tab.call("write", {"name": "Olha & Co", "phone": "", "text": "Hello\nthere"})
    mail = result["structuredContent"]
    link = urllib.parse.urlsplit(mail["mailto"])
    fields = urllib.parse.parse_qs(link.query)
    assert urllib.parse.unquote(link.path) == "shop@example.org"
    assert fields == {"subject": ["Lamp for Olha & Co"], "body": ["Name: Olha & Co\r\n\r\nHello\r\nthere"]}
    assert text_of(result) == f"Ready for shop@example.org, Olha & Co\n{mail['mailto']}"
    await tab.page.until("document.querySelector('rpcgw-note') !== null")
    assert (
        await tab.page.value("document.querySelector('rpcgw-note').shadowRoot.querySelector('a').href")
        == mail["mailto"]
    )
    longer = await tab.call("write", {"name": "O", "phone": "1", "text": "x"})
    assert longer["structuredContent"]["body"] == "Name: O\nPhone: 1\n\nx"


async def test_static(tab: ToolTab) -> None:
    """W-08, W-09: the list as it was written, and a line each with its number from 1."""
    result = await tab.call("hours")
    assert result["structuredContent"] == {"days": [{"day": "Mo", "at": {"from": 9}}, {"day": "Su"}]}
    assert text_of(result) == "2 days:\n1. Mo\n2. Su"


async def test_module(tab: ToolTab) -> None:
    """W-10: an ES module is imported with the first call, and gets the arguments unwrapped, with who calls."""
    loaded = "performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/echo.mjs')).length"
    assert await tab.page.value(loaded) == 0
    result = await tab.call("echo", {"arguments": {"a": 1}, "client": "Agent"})
    assert result["structuredContent"]["args"] == {"a": 1, "client": "Agent"}
    assert (await tab.call("echo", {"a": 1}))["structuredContent"]["args"]["client"] == "unknown"


async def test_a_module_that_is_not_there(tab: ToolTab) -> None:
    """W-10: a failed import fails that one call and nothing else."""
    result = await tab.call("gone")
    assert result["isError"] is True
    assert text_of(await tab.call("echo")) == "ran"
    assert tab.errors == []


async def test_the_beacon_goes_first(tab: ToolTab) -> None:
    """W-11: the site's owner is told of a call before its module is imported."""
    asked: list[str] = []

    def heard(event: str, said: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            asked.append(urllib.parse.urlsplit(said["request"]["url"]).path)

    tab.page.listen(heard)
    await tab.page.command("Network.enable", {})
    await tab.call("echo")
    await until(lambda: len(asked) >= 3, lambda: str(asked))
    assert asked[:3] == ["/webmcp/event", "/echo.mjs", "/webmcp/event"]


async def test_what_a_module_is_given(tab: ToolTab, shop: Daemon) -> None:
    """W-13: `ctx.tool` is the tool's entry with all of its data, `ctx.config` what the whole page got."""
    config = shop.get("/webmcp/config.json?path=/shop/&locale=en").json()
    given = (await tab.call("echo"))["structuredContent"]
    assert given["tool"] == next(tool for tool in config["tools"] if tool["name"] == "echo")
    assert given["tool"]["data"] == {"mine": {"deep": [1, 2]}}
    assert (given["site"], given["tools"]) == (config["site"], len(config["tools"]))


async def test_what_a_module_returns_and_throws(tab: ToolTab) -> None:
    """W-13: its result is the call's, and what it throws comes back as an error with its words."""
    result = await tab.call("echo")
    assert result["content"] == [{"type": "text", "text": "ran"}]
    assert "structuredContent" in result
    thrown = await tab.call("shut")
    assert (thrown["isError"], text_of(thrown)) == (True, "The shop is shut.")
