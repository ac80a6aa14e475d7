"""What the tools of a page do in a real Chromium: each primitive with its options, and what it refuses to do."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import unicodedata
import urllib.parse
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from rpcgw.api.webmcp import (
    BodyLine,
    Confirm,
    Field,
    Form,
    ListText,
    Mailto,
    Manifest,
    Module,
    Navigate,
    NavigateText,
    Option,
    Primitive,
    Search,
    SearchText,
    StaticList,
)
from rpcgw.protocol.webmcp.agents import cleaned
from rpcgw.protocol.webmcp.payload import entry
from tests.support.browser import Browser, browser
from tests.support.pages import Site, configuration, site
from tests.support.webmcp import NAMES, NATIVE, ToolTab, text_of, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = dict[str, Any]
DIALOG = "document.querySelector('rpcgw-dialog')"
NOTE = "document.querySelector('rpcgw-note')"
INSIDE = f"{DIALOG}.shadowRoot"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE, NAMES) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def served(chromium: Browser) -> AsyncIterator[Site]:
    async with site() as made:
        yield made
        await chromium.close_tabs()


def tool(primitive: Primitive, name: str = "do", **said: Any) -> Json:
    """Return a tool as the daemon gives it to a page; it asks nobody unless it is told to."""
    manifest = Manifest(name, "Does it.", primitive)
    return entry(replace(manifest, **{"consequential": False, **said}))


def refused(result: Json, outcome: str, served: Site) -> str:
    """Return the text of a refusal; `outcome` is what the site's owner is told."""
    assert result.get("isError") is True, result
    assert served.ended()[-1]["outcome"] == outcome
    return text_of(result)


async def told(served: Site, count: int = 1) -> list[Json]:
    """Wait until so many calls have told how they ended."""
    await until(lambda: len(served.ended()) >= count, lambda: str(served.beacons))
    return served.ended()


# -- arguments


SCHEMA: Json = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "rate": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "kind": {"type": "string", "enum": ["big", "small"]},
        "flag": {"type": ["boolean", "null"]},
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "deep": {
            "type": "object",
            "properties": {"inner": {"$ref": "#/$defs/Word"}},
            "required": ["inner"],
            "additionalProperties": False,
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "same": {"$ref": "#"},
        "odd": {"type": "string", "pattern": "(?P<python>x)"},
    },
    "$defs": {"Word": {"type": "string"}},
    "additionalProperties": False,
}
DEEP: Json = {}
for _ in range(40):
    DEEP = {"same": DEEP}

WRONG = [
    pytest.param({"word": 1}, "word must be of type string", id="a type"),
    pytest.param({"word": "a"}, "word must have a length >= 2", id="too short"),
    pytest.param({"word": "abcde"}, "word must have a length <= 4", id="too long"),
    pytest.param({"word": "AB"}, "word must match ^[a-z]+$", id="a pattern"),
    pytest.param({"size": 0}, "size must be >= 1", id="below the minimum"),
    pytest.param({"size": 10}, "size must be <= 9", id="above the maximum"),
    pytest.param({"size": 1.5}, "size must be of type integer", id="a fraction"),
    pytest.param({"size": "1"}, "size must be of type integer", id="a number as text"),
    pytest.param({"rate": 0}, "rate must be > 0", id="at an exclusive minimum"),
    pytest.param({"rate": 1}, "rate must be < 1", id="at an exclusive maximum"),
    pytest.param({"kind": "huge"}, "kind must be one of big, small", id="an enumeration"),
    pytest.param({"flag": "yes"}, "flag must be of type boolean or null", id="of two types"),
    pytest.param({"list": []}, "list must have a length >= 1", id="too few items"),
    pytest.param({"list": [1, 2, 3]}, "list must have a length <= 2", id="too many items"),
    pytest.param({"list": [1, "2"]}, "list[1] must be of type integer", id="an item"),
    pytest.param({"pair": ["a", "b"]}, "pair[1] must be of type integer", id="an item by its place"),
    pytest.param({"pair": ["a", 1, 2]}, "pair[2] is not taken", id="an item too many"),
    pytest.param({"deep": {}}, "deep.inner is missing", id="a required member inside"),
    pytest.param({"deep": {"inner": 1}}, "deep.inner must be of type string", id="by reference"),
    pytest.param({"deep": {"inner": "a", "more": 1}}, "deep.more is not taken", id="a member too many inside"),
    pytest.param({"either": []}, "either has none of the forms that it may have", id="none of several"),
    pytest.param({"more": 1}, "more is not taken", id="an argument too many"),
    pytest.param({"constructor": 1}, "constructor is not taken", id="a name of every object"),
    pytest.param({"client": 1}, "client must be of type string", id="the hint"),
    pytest.param(DEEP, "is nested too deeply", id="forty levels"),
]
RIGHT = [
    pytest.param({}, id="nothing"),
    pytest.param(
        {
            "word": "ab",
            "size": 9,
            "rate": 0.5,
            "kind": "big",
            "flag": None,
            "list": [1, 2],
            "pair": ["a", 1],
            "deep": {"inner": ""},
            "either": 1,
        },
        id="everything",
    ),
    pytest.param({"word": "abc", "client": "Somebody"}, id="with the hint"),
    pytest.param({"arguments": {"word": "abc"}}, id="wrapped once more"),
    pytest.param({"arguments": {"word": "abc"}, "client": "Somebody"}, id="wrapped, with the hint outside"),
    pytest.param({"same": {"same": {"word": "abc"}}}, id="by reference to the whole"),
    pytest.param({"odd": "anything"}, id="a pattern that only another language knows"),
]
ECHO = "export const execute = (args) => { window.ran = (window.ran ?? 0) + 1; return {content: [], structuredContent: args}; };"


@pytest.mark.parametrize(("arguments", "fault"), WRONG)
async def test_wrong_arguments_do_nothing(chromium: Browser, served: Site, arguments: Json, fault: str) -> None:
    """An argument that does not fit is named with its path, and the tool has not run."""
    served.file("/echo.mjs", ECHO, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/echo.mjs"), input_schema=SCHEMA)))
    result = await tab.call("do", arguments)
    await told(served)
    assert fault in refused(result, "invalid", served)
    assert await tab.page.value("window.ran ?? 0") == 0


@pytest.mark.parametrize("arguments", RIGHT)
async def test_right_arguments_arrive(chromium: Browser, served: Site, arguments: Json) -> None:
    """What fits runs, unwrapped where an agent wrapped it."""
    served.file("/echo.mjs", ECHO, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/echo.mjs"), input_schema=SCHEMA)))
    result = await tab.call("do", arguments)
    wanted = {**arguments, **arguments.get("arguments", {})}
    wanted.pop("arguments", None)
    assert {**result["structuredContent"], "client": ""} == {**wanted, "client": ""}


async def test_an_argument_named_arguments_is_not_unwrapped(chromium: Browser, served: Site) -> None:
    """A tool whose schema has such a property gets it as it is."""
    schema = {"type": "object", "properties": {"arguments": {"type": "object"}}}
    served.file("/echo.mjs", ECHO, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/echo.mjs"), input_schema=schema)))
    result = await tab.call("do", {"arguments": {"a": 1}})
    assert result["structuredContent"]["arguments"] == {"a": 1}


async def test_prototypes_are_out_of_reach(chromium: Browser, served: Site) -> None:
    """Keys that mean something to JavaScript are dropped before anybody sees them, at every depth."""
    served.file("/echo.mjs", ECHO, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/echo.mjs"))))
    given = '{"a": {"__proto__": {"x": 1}, "constructor": 1, "b": 2}, "__proto__": {"y": 1}}'
    result = await tab.page.value(
        f"document.modelContext.getTools().then(([t]) => document.modelContext.executeTool(t, JSON.parse({json.dumps(given)})))"
    )
    assert json.loads(result)["structuredContent"]["a"] == {"b": 2}
    assert await tab.page.value("({}).x === undefined && ({}).y === undefined")


# -- navigate

PLACES = Navigate(
    options=(
        Option("blog", "Blog", "/blog"),
        Option("part", "Part", "#part"),
        Option("away", "Away", "https://other.example/"),
        Option("script", "Script", "javascript:window.bad=1"),
        Option("user", "User", "//user:secret@127.0.0.1/"),
    ),
    messages=NavigateText(success="Off to {label}, {missing}{value}!", unknown="Not {value}: {options}."),
)


@pytest.mark.parametrize("by", ["browser", "script"])
async def test_the_answer_comes_before_the_page_goes(chromium: Browser, served: Site, by: str) -> None:
    """The result arrives whoever called, then the page is left."""
    served.page(path="/blog")
    tab = await ToolTab.open(chromium, served.page(tool(PLACES)))
    result = await (tab.call if by == "browser" else tab.call_in_page)("do", {"value": "blog"})
    assert text_of(result) == "Off to Blog, blog!"
    assert result["structuredContent"] == {"label": "Blog", "url": served.url + "/blog"}
    await tab.page.until("location.pathname === '/blog'")
    assert (await told(served))[0]["outcome"] == "ok"


async def test_a_place_on_the_same_page(chromium: Browser, served: Site) -> None:
    """A hash is gone to without leaving the page."""
    tab = await ToolTab.open(chromium, served.page(tool(PLACES)))
    await tab.page.value("window.stays = true")
    await tab.call("do", {"value": "part"})
    await tab.page.until("location.hash === '#part' && window.stays")


@pytest.mark.parametrize("value", ["__proto__", "constructor", "toString", "nowhere", "", "BLOG", 1, {}, None])
async def test_an_unknown_place_is_not_gone_to(chromium: Browser, served: Site, value: object) -> None:
    """Only a value of the list goes anywhere; the answer names those that do."""
    tab = await ToolTab.open(chromium, served.page(tool(PLACES)))
    before = await tab.page.value("location.href")
    result = await tab.call("do", {} if value is None else {"value": value})
    await told(served)
    assert refused(result, "invalid", served).endswith(": blog, part, away, script, user.")
    assert await tab.page.value("new Promise((done) => setTimeout(() => done(location.href), 300))") == before


@pytest.mark.parametrize("value", ["away", "script", "user"])
async def test_an_address_that_is_not_allowed_is_not_gone_to(chromium: Browser, served: Site, value: str) -> None:
    """Other origins, scripts and addresses with a password are refused also where the configuration has them."""
    tab = await ToolTab.open(chromium, served.page(tool(PLACES)))
    before = await tab.page.value("location.href")
    result = await tab.call("do", {"value": value})
    await told(served)
    assert "is not allowed here" in refused(result, "error", served)
    assert await tab.page.value("new Promise((done) => setTimeout(() => done(location.href), 300))") == before
    assert await tab.page.value("window.bad === undefined")


async def test_another_origin_that_the_site_lists_is_gone_to(chromium: Browser, served: Site) -> None:
    """`origins` are the exceptions."""
    other = served.url.replace("127.0.0.1", "shop.test")
    served.page(path="/there")
    primitive = Navigate((Option("shop", "Shop", other + "/there"),))
    tab = await ToolTab.open(chromium, served.page(tool(primitive), origins=[other]))
    await tab.call("do", {"value": "shop"})
    await tab.page.until("location.hostname === 'shop.test'")


# -- search

ARTICLES: list[Json] = [
    {"title": "Про їжака", "teaser": "Їжак і ґава", "url": "/1", "secret": "s1"},
    {"title": "Crème brûlée", "teaser": "A  dessert\u202e\u200b\nof eggs", "url": "/2", "secret": "s2"},
    {"title": "Eggs\u0007", "teaser": "How to boil", "url": "java\tscript:alert(1)", "secret": "s3"},
    {"title": "<b>Bold</b> \U000e0041", "teaser": "x" * 2000, "url": "https://127.0.0.1/4", "secret": "s4"},
]
FOUND = Search(
    "/index.json",
    ["title", "teaser"],
    result_fields=["title", "url"],
    deep_link_template="/find?q={query}&n={limit}",
    text=SearchText(
        "{count} of {total} for {query}:", "All {count}:", "{n}. {title} – {url}{none}", "No {query}.", "Empty."
    ),
)


async def searched(
    chromium: Browser, served: Site, primitive: Search, arguments: Json, index: object = ARTICLES, **said: Any
) -> Json:
    """Search an index, and return what is said."""
    served.file("/index.json", json.dumps(index))
    tab = await ToolTab.open(chromium, served.page(tool(primitive, **said)))
    return await tab.call("do", arguments)


HITS = [
    pytest.param({"query": "eggs"}, ["Crème brûlée", "Eggs"], id="in the index's order"),
    pytest.param({"query": "EGGS boil"}, ["Eggs"], id="every word has to occur"),
    pytest.param({"query": "creme brulee"}, ["Crème brûlée"], id="without accents"),
    pytest.param({"query": "ЇЖАК"}, ["Про їжака"], id="in capitals"),
    pytest.param({"query": "ıžа"}, [], id="nothing"),
    pytest.param({"query": "s1"}, [], id="not in a field that is not looked through"),
    pytest.param({"query": ".*"}, [], id="no regular expression"),
    pytest.param({"query": "b" * 100000}, [], id="a very long query"),
    pytest.param({"limit": 2}, ["Про їжака", "Crème brûlée"], id="a limit"),
    pytest.param(
        {"query": "  \u200b "}, ["Про їжака", "Crème brûlée", "Eggs", "<b>Bold</b>"], id="an empty query finds all"
    ),
]


@pytest.mark.parametrize(("arguments", "titles"), HITS)
async def test_what_is_found(chromium: Browser, served: Site, arguments: Json, titles: list[str]) -> None:
    """Words are looked for in the named fields, whatever their case and accents."""
    result = await searched(chromium, served, FOUND, arguments)
    assert [each["title"] for each in result["structuredContent"]["results"]] == titles
    assert not result.get("isError")


async def test_what_a_search_says(chromium: Browser, served: Site) -> None:
    """The heading, a line each, numbers, the link to the same search; hidden characters and scripts are gone."""
    result = await searched(chromium, served, FOUND, {"query": "eggs", "limit": 5})
    assert text_of(result) == "2 of 2 for eggs:\n1. Crème brûlée – /2\n2. Eggs – "
    assert result["structuredContent"] == {
        "count": 2,
        "total": 2,
        "query": "eggs",
        "results": [{"title": "Crème brûlée", "url": "/2"}, {"title": "Eggs", "url": ""}],
        "searchUrl": served.url + "/find?q=eggs&n=5",
    }


async def test_a_link_is_percent_encoded(chromium: Browser, served: Site) -> None:
    """What an agent wrote cannot leave its place in an address."""
    result = await searched(chromium, served, FOUND, {"query": "a&b=//c d?#%"})
    assert result["structuredContent"]["searchUrl"] == served.url + "/find?q=a%26b%3D%2F%2Fc%20d%3F%23%25&n="


TEXTS = [
    pytest.param({}, ARTICLES, "All 4:", id="all"),
    pytest.param({"query": "zzz"}, ARTICLES, "No zzz.", id="no result"),
    pytest.param({}, [], "Empty.", id="an empty index"),
    pytest.param({}, [1, "text", None, ["x"]], "Empty.", id="an index of something else"),
]


@pytest.mark.parametrize(("arguments", "index", "text"), TEXTS)
async def test_headings(chromium: Browser, served: Site, arguments: Json, index: list[Any], text: str) -> None:
    """Finding nothing is an answer, not an error."""
    result = await searched(chromium, served, FOUND, arguments, index)
    assert text_of(result).split("\n")[0] == text
    assert not result.get("isError")


FIELDS = [
    pytest.param(["title", "constructor"], {"title": "Про їжака"}, id="names"),
    pytest.param({"name": "title", "proto": "__proto__"}, {"name": "Про їжака"}, id="renamed"),
    pytest.param(None, {"title": "Про їжака", "teaser": "Їжак і ґава", "url": "/1", "secret": "s1"}, id="whole items"),
]


@pytest.mark.parametrize(("fields", "shown"), FIELDS)
async def test_fields_of_a_result(chromium: Browser, served: Site, fields: Any, shown: Json) -> None:
    """A list picks fields, a mapping renames them, without either an item is passed on; own properties only."""
    result = await searched(chromium, served, replace(FOUND, result_fields=fields), {"limit": 1})
    assert result["structuredContent"]["results"] == [shown]


async def test_other_names(chromium: Browser, served: Site) -> None:
    """Arguments and results have the names that the author gave."""
    primitive = replace(
        FOUND, query_param="q", limit_param="n", result_key="hits", limit_default=1, query_required=True
    )
    result = await searched(chromium, served, primitive, {"q": "eggs"})
    assert (
        result["structuredContent"]["q"],
        result["structuredContent"]["count"],
        len(result["structuredContent"]["hits"]),
    ) == ("eggs", 1, 1)
    assert result["structuredContent"]["total"] == 2


LIMITS = [(0, "isError"), (-1, "isError"), (1_000_000_000, "isError"), ("1", "isError"), (1.5, "isError"), (50, 50)]


@pytest.mark.parametrize(("limit", "count"), LIMITS)
async def test_limits_are_checked(chromium: Browser, served: Site, limit: Any, count: Any) -> None:
    """A limit is a whole number between 1 and the author's maximum."""
    index = [{"title": "t"}] * 100
    result = await searched(chromium, served, replace(FOUND, result_fields=["title"]), {"limit": limit}, index)
    assert (result.get("isError") is True) if count == "isError" else result["structuredContent"]["count"] == count


@pytest.mark.parametrize("limit", [-5, 1_000_000_000, "many", None, 0.2])
async def test_limits_are_kept_whatever_a_schema_lets_through(chromium: Browser, served: Site, limit: Any) -> None:
    """A schema of the author's own that checks nothing does not open the flood gates."""
    index = [{"title": "t"}] * 100
    result = await searched(chromium, served, FOUND, {"limit": limit}, index, input_schema={"type": "object"})
    assert 1 <= result["structuredContent"]["count"] <= 50


@pytest.mark.parametrize("query", [{"a": 1}, ["a"], 1, True, None])
async def test_queries_of_other_types_are_refused(chromium: Browser, served: Site, query: Any) -> None:
    """A query is text."""
    result = await searched(chromium, served, FOUND, {"query": query})
    await told(served)
    assert refused(result, "invalid", served) == "The arguments are wrong: query must be of type string."
    assert "/index.json" not in served.asked


async def test_a_query_that_has_to_be_given(chromium: Browser, served: Site) -> None:
    """`queryRequired`: without words nothing is searched."""
    for arguments in ({}, {"query": " "}):
        result = await searched(chromium, served, replace(FOUND, query_required=True), arguments)
        assert (result["isError"], text_of(result)) == (True, "The arguments are wrong: query is missing.")


async def test_ten_thousand_items(chromium: Browser, served: Site) -> None:
    """An index of 10,000 articles is searched, within the budget of an answer."""
    index = [{"title": f"Article {n}", "teaser": "about things " * 5, "url": f"/{n}"} for n in range(10_000)]
    result = await searched(chromium, served, FOUND, {"query": "article 9999"}, index)
    assert result["structuredContent"]["results"] == [{"title": "Article 9999", "url": "/9999"}]


FAILURES = [
    pytest.param({"body": "[]", "status": 404}, "/index.json answered with HTTP 404.", id="it is not there"),
    pytest.param({"body": "[]", "status": 500}, "/index.json answered with HTTP 500.", id="the server fails"),
    pytest.param({"body": "{}"}, "/index.json is not a list.", id="it is no array"),
    pytest.param({"body": "null"}, "/index.json is not a list.", id="it is null"),
    pytest.param({"body": "[1,"}, "/index.json did not answer with JSON.", id="it is broken"),
    pytest.param({"body": "[]", "kind": "text/html"}, "/index.json did not answer with JSON.", id="it is a page"),
    pytest.param({"body": json.dumps(["x" * 2_000_001])}, "/index.json answered with too much.", id="it is too large"),
]


@pytest.mark.parametrize(("file", "text"), FAILURES)
async def test_an_index_that_cannot_be_read(chromium: Browser, served: Site, file: Json, text: str) -> None:
    """The reason is told, "nothing found" is not claimed, and the next call tries again."""
    served.file("/index.json", **file)
    tab = await ToolTab.open(chromium, served.page(tool(FOUND)))
    result = await tab.call("do", {"query": "eggs"})
    await told(served)
    assert refused(result, "error", served) == text
    served.file("/index.json", json.dumps(ARTICLES))
    assert (await tab.call("do", {"query": "eggs"}))["structuredContent"]["count"] == 2


async def test_an_index_is_fetched_once(chromium: Browser, served: Site) -> None:
    """Searches of one page share its index."""
    served.file("/index.json", json.dumps(ARTICLES))
    tab = await ToolTab.open(chromium, served.page(tool(FOUND), tool(FOUND, "again")))
    for name in ("do", "do", "again"):
        await tab.call(name, {"query": "eggs"})
    assert served.asked.count("/index.json") == 1


async def test_an_index_that_never_answers(chromium: Browser, served: Site) -> None:
    """The runtime gives up after its time, and says so."""
    waiting = asyncio.Event()

    async def answer(_: web.Request) -> web.Response:
        await waiting.wait()
        return web.Response()

    served.answer("/index.json", answer)
    clock = "<script>AbortSignal.timeout = (real => () => real.call(AbortSignal, 50))(AbortSignal.timeout)</script>"
    tab = await ToolTab.open(
        chromium, served.page(tool(FOUND), head=clock + '<script src="/webmcp.js" defer></script>')
    )
    assert text_of(await tab.call("do", {"query": "eggs"})) == "/index.json did not answer in time."
    waiting.set()


async def test_a_call_that_is_given_up_stops_its_request(chromium: Browser, served: Site) -> None:
    """The agent's signal ends the fetch; the site's owner is told that the call was given up."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        began.set()
        try:
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.02)
        except (ConnectionError, asyncio.CancelledError):
            ended.set()
            raise

    served.answer("/index.json", answer)
    tab = await ToolTab.open(chromium, served.page(tool(FOUND)))
    call = await tab.begin("do", {"query": "eggs"})
    await asyncio.wait_for(began.wait(), 30)
    await tab.cancel(call)
    assert (await tab.answer(call))["status"] == "Canceled"
    await asyncio.wait_for(ended.wait(), 30)
    assert (await told(served))[0]["outcome"] == "aborted"


async def test_an_index_of_another_origin(chromium: Browser, served: Site) -> None:
    """Only where the site lists the origin; it is asked without cookies, and may not redirect."""
    other = served.url.replace("127.0.0.1", "shop.test")
    headers = {"Access-Control-Allow-Origin": "*"}
    served.answer(
        "/index.json",
        lambda request: (
            web.json_response(ARTICLES, headers=headers)
            if "Cookie" not in request.headers
            else web.Response(status=400)
        ),
    )
    served.answer("/moved.json", lambda _: web.Response(status=302, headers={**headers, "Location": "/index.json"}))
    away, moved = replace(FOUND, index_url=other + "/index.json"), replace(FOUND, index_url=other + "/moved.json")
    tab = await ToolTab.open(chromium, served.page(tool(away), origins=[]))
    assert "is not allowed here" in text_of(await tab.call("do"))
    tab = await ToolTab.open(chromium, served.page(tool(away), tool(moved, "moved"), origins=[other]))
    assert (await tab.call("do", {"query": "eggs"}))["structuredContent"]["count"] == 2
    assert text_of(await tab.call("moved")) == "/moved.json could not be reached."


# -- mailto

MAIL = Mailto(
    "shop+info@example.org",
    "Question from {name}\r\nBcc: {name}",
    (BodyLine("Name", "name"), BodyLine("Phone", "phone", optional=True)),
    "message",
    "For {to}, {name}.",
)


async def written(
    chromium: Browser, served: Site, arguments: Json, mail: Mailto = MAIL, **said: Any
) -> tuple[ToolTab, Json]:
    tab = await ToolTab.open(chromium, served.page(tool(mail, **said)))
    return tab, await tab.call("do", arguments)


async def test_a_mail_is_prepared(chromium: Browser, served: Site) -> None:
    """Lines, the message after a blank one; the link is in the text, in the data, and on the page to be clicked."""
    tab, result = await written(chromium, served, {"name": "Оля & Co", "phone": "", "message": "Hello\r\n\nthere"})
    made = result["structuredContent"]
    body = "Name: Оля & Co\n\nHello\n\nthere"
    assert (made["to"], made["subject"], made["body"]) == (
        "shop+info@example.org",
        "Question from Оля & Co Bcc: Оля & Co",
        body,
    )
    parts = urllib.parse.urlsplit(made["mailto"])
    assert urllib.parse.unquote(parts.path) == "shop+info@example.org"
    assert urllib.parse.parse_qs(parts.query) == {"subject": [made["subject"]], "body": [body.replace("\n", "\r\n")]}
    assert text_of(result) == f"For shop+info@example.org, Оля & Co.\n{made['mailto']}"
    await tab.page.until(f"{NOTE} !== null")
    assert await tab.page.value(f"{NOTE}.shadowRoot.querySelector('a').href") == made["mailto"]
    assert await tab.page.value("document.activeElement === document.body")
    await tab.page.value(f"{NOTE}.shadowRoot.querySelector('button').click()")
    await tab.page.until(f"{NOTE} === null")


async def test_a_second_mail_without_a_gesture_is_as_usable(chromium: Browser, served: Site) -> None:
    """A browser opens a program only once by itself; the answer has the link each time, and there is one note."""
    tab, first = await written(chromium, served, {"name": "A", "message": "m"})
    second = await tab.call("do", {"name": "B", "phone": "+380", "message": "m"})
    assert not second.get("isError")
    assert "Phone: +380" in second["structuredContent"]["body"]
    assert first["structuredContent"]["mailto"] != second["structuredContent"]["mailto"]
    assert await tab.page.value("document.querySelectorAll('rpcgw-note').length") == 1


HOSTILE = [
    pytest.param({"name": "a\r\nBcc: x@y.z"}, id="a line break in a line"),
    pytest.param({"name": "a?bcc=x@y.z&cc=q"}, id="parameters"),
    pytest.param({"name": "a,b;c%0D%0ABcc: x"}, id="separators and percent signs"),
    pytest.param({"name": "\ud800"}, id="half a character"),
]


@pytest.mark.parametrize("arguments", HOSTILE)
async def test_a_mail_has_no_other_header(chromium: Browser, served: Site, arguments: Json) -> None:
    """Whatever an agent writes, the link has one address, one subject and one body."""
    _, result = await written(chromium, served, {**arguments, "message": "\r\nm"})
    parts = urllib.parse.urlsplit(result["structuredContent"]["mailto"])
    assert urllib.parse.unquote(parts.path) == MAIL.to
    assert sorted(urllib.parse.parse_qs(parts.query, strict_parsing=True)) == ["body", "subject"]
    assert "\n" not in result["structuredContent"]["subject"]
    assert result["structuredContent"]["body"].split("\n")[0].startswith("Name: ")


@pytest.mark.parametrize(
    "to",
    ["me@example.org?bcc=evil@x.y", "a@b.c,d@e.f", "a b@c.d", "no-address", "a@b\r\n", "", "\u2028@x.y", "not base64!"],
)
async def test_a_bad_address_gets_no_mail(chromium: Browser, served: Site, to: str) -> None:
    """An address that would be more than one address is refused."""
    made = tool(MAIL)
    made["data"] = {**made["data"], "to": to if "!" in to else base64.b64encode(to.encode()).decode()}
    tab = await ToolTab.open(chromium, served.page(made))
    result = await tab.call("do", {"name": "A", "message": "m"})
    assert result["isError"] is True
    assert await tab.page.value(f"{NOTE} === null")


async def test_a_mail_that_is_too_long(chromium: Browser, served: Site) -> None:
    """What a browser would cut is refused with how much is too much, and nothing opens."""
    tab, result = await written(chromium, served, {"name": "A", "message": "ї" * 1000})
    await told(served)
    assert "characters too long" in refused(result, "invalid", served)
    assert await tab.page.value(f"{NOTE} === null")


# -- static, module


async def test_a_list_is_verbatim(chromium: Browser, served: Site) -> None:
    """Items come as they were written, in data and in lines."""
    items: list[Json] = [{"title": "Mo", "at": "9–17", "deep": {"a": [1]}}, {"title": "Su", "at": None}]
    primitive = StaticList(items, "hours", ListText("{count} days{x}:", "{n}. {title} {at}"))
    tab = await ToolTab.open(chromium, served.page(tool(primitive)))
    result = await tab.call("do")
    assert text_of(result) == "2 days:\n1. Mo 9–17\n2. Su "
    assert result["structuredContent"] == {"hours": items}


MODULES = [
    pytest.param(
        "export const execute = async () => ({content: [{type: 'text', text: 'a result'}]})",
        {"content": [{"type": "text", "text": "a result"}]},
        id="a result",
    ),
    pytest.param("export const execute = () => 'words'", {"content": [{"type": "text", "text": "words"}]}, id="a text"),
    pytest.param(
        "export const execute = () => ({a: 1n})",
        {"content": [{"type": "text", "text": '{"a":"1"}'}], "structuredContent": {"a": "1"}},
        id="a value with a big number",
    ),
    pytest.param("export const execute = () => {}", {"content": [{"type": "text", "text": ""}]}, id="nothing"),
    pytest.param(
        "export const execute = () => document.body",
        {"content": [{"type": "text", "text": "{}"}], "structuredContent": {}},
        id="an element",
    ),
    pytest.param(
        "export const execute = () => ({content: [], isError: true})",
        {"content": [], "isError": True},
        id="an error of its own",
    ),
]
BROKEN = [
    pytest.param("export const execute = () => { throw new Error('It is shut.'); }", "It is shut.", id="an error"),
    pytest.param("export const execute = () => { throw 'shut'; }", "shut", id="no error but thrown"),
    pytest.param("export const execute = () => { throw null; }", "The tool failed.", id="null"),
    pytest.param("export const execute = async () => { const a = {}; a.a = a; return a; }", "circular", id="a circle"),
    pytest.param("export default 1", "The tool's module has no function execute.", id="no export"),
    pytest.param("export const execute = 1", "The tool's module has no function execute.", id="no function"),
    pytest.param("this is no script", "The tool's module could not be loaded.", id="no script"),
]


@pytest.mark.parametrize(("source", "wanted"), MODULES)
async def test_what_a_module_may_return(chromium: Browser, served: Site, source: str, wanted: Json) -> None:
    """A result, a text or any value that JSON can hold."""
    served.file("/do.mjs", source, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/do.mjs"))))
    assert await tab.call("do") == wanted


@pytest.mark.parametrize(("source", "text"), BROKEN)
async def test_a_module_that_fails(chromium: Browser, served: Site, source: str, text: str) -> None:
    """Its own words come back as an error of this call; the page and the other tools do not notice."""
    served.file("/do.mjs", source, "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/do.mjs")), tool(StaticList([]), "other")))
    result = await tab.call("do")
    await told(served)
    assert text in refused(result, "error", served)
    assert not (await tab.call("other")).get("isError")
    assert tab.errors == []


async def test_a_module_is_loaded_with_the_first_call(chromium: Browser, served: Site) -> None:
    """Not before, after the beacon, and once; it gets arguments, its own entry and the page's configuration."""
    order: list[str] = []
    source = "export const execute = (args, ctx) => ({content: [], structuredContent: {args, tool: ctx.tool, site: ctx.config.site, more: Object.keys(ctx), frozen: Object.isFrozen(ctx.tool.data)}})"

    async def answer(_: web.Request) -> web.Response:
        # Both are on their way at the same time: the module stays away until the beacon has come.
        await until(lambda: served.beacons, lambda: "no beacon before the module")
        order.append("module")
        return web.Response(text=source, content_type="text/javascript")

    served.answer("/do.mjs", answer)
    mine = tool(Module("/do.mjs", extra={"mine": {"a": [1]}}))
    tab = await ToolTab.open(chromium, served.page(mine))
    assert order == []
    result = await tab.call("do", {"x": 1, "client": "Agent/7"})
    await tab.call("do")
    assert order == ["module"]
    seen = result["structuredContent"]
    assert seen["args"] == {"client": "Agent/7", "x": 1}
    assert seen["tool"] == mine
    assert (seen["site"], seen["frozen"]) == ("main", True)
    assert {"tool", "config"} <= set(seen["more"])


@pytest.mark.parametrize(
    "url", ["https://other.example/x.mjs", "data:text/javascript,export const execute=()=>1", "/nothing.mjs"]
)
async def test_a_module_from_elsewhere(chromium: Browser, served: Site, url: str) -> None:
    """A foreign or missing module fails this call alone."""
    tab = await ToolTab.open(chromium, served.page(tool(Module(url))))
    result = await tab.call("do")
    await told(served)
    refused(result, "error", served)
    assert tab.errors == []


async def test_a_module_that_the_policy_blocks(chromium: Browser, served: Site) -> None:
    """CSP goes before: the call fails with a text, the page does not."""
    other = served.url.replace("127.0.0.1", "shop.test")
    served.file("/do.mjs", "export const execute = () => 1", "text/javascript")
    url = served.page(
        tool(Module(other + "/do.mjs")), origins=[other], headers={"Content-Security-Policy": "script-src 'self'"}
    )
    tab = await ToolTab.open(chromium, url)
    assert text_of(await tab.call("do")) == "The tool's module could not be loaded."
    assert tab.errors == []


# -- form

CONTACT = """<form id="contact" action="/sent" method="get">
<input name="mail" type="email" required><textarea name="text"></textarea>
<input name="news" type="checkbox" value="yes"><input name="size" type="radio" value="s"><input name="size" type="radio" value="l">
<select name="topic"><option value=""></option><option value="a">A</option><option value="b">B</option></select>
<input name="key" type="hidden" value="k"><input name="file" type="file"><input name="word" type="password"></form>"""
FILLED = Form(
    "#contact",
    tuple(
        Field(name, param)
        for name, param in {
            "mail": "address",
            "text": "",
            "news": "",
            "size": "",
            "topic": "",
            "key": "",
            "file": "",
            "word": "",
            "none": "",
        }.items()
    ),
)


async def entered(
    chromium: Browser, served: Site, arguments: Json, *, submit: bool = False, body: str = CONTACT
) -> tuple[ToolTab, Json]:
    made = tool(replace(FILLED, submit=submit), input_schema={"type": "object"})
    tab = await ToolTab.open(chromium, served.page(made, body=body))
    await tab.page.value("window.heard = []; document.addEventListener('input', (e) => heard.push(e.target.name))")
    return tab, await tab.call("do", arguments)


async def test_a_form_is_filled_in(chromium: Browser, served: Site) -> None:
    """Each kind of control takes its value, the page's scripts hear of it, and nothing is sent."""
    given = {"address": "a@b.c", "text": "Hi\nthere", "news": True, "size": "l", "topic": "b"}
    tab, result = await entered(chromium, served, given)
    assert text_of(result) == "The form is filled in. Please look through it and send it."
    fields = ["mail", "text", "news", "size", "topic", "key"]
    values = [await tab.page.value(f"new FormData(document.forms[0]).get('{name}')") for name in fields]
    assert values == ["a@b.c", "Hi\nthere", "yes", "l", "b", "k"]
    assert await tab.page.value("heard.includes('mail') && heard.includes('topic')")
    assert "/sent" not in served.asked


async def test_a_form_is_sent(chromium: Browser, served: Site) -> None:
    """`submit` sends it as the visitor's button would, once the answer is out."""
    served.page(path="/sent")
    tab, result = await entered(chromium, served, {"address": "a@b.c", "text": "x"}, submit=True)
    assert (text_of(result), result["structuredContent"]) == ("The form was sent.", {"submitted": True})
    await tab.page.until("location.pathname === '/sent' && location.search.includes('mail=a%40b.c')")


UNFIT = [
    pytest.param({"address": "no address"}, "mail (", id="a value that the browser refuses"),
    pytest.param({}, "mail (", id="a required control that stays empty"),
    pytest.param({"address": "a@b.c", "key": "x"}, "key", id="a hidden control"),
    pytest.param({"address": "a@b.c", "file": "x"}, "file", id="a file"),
    pytest.param({"address": "a@b.c", "word": "x"}, "word", id="a password"),
    pytest.param({"address": "a@b.c", "none": "x"}, "none", id="no such control"),
]


@pytest.mark.parametrize(("arguments", "name"), UNFIT)
async def test_what_a_form_does_not_take(chromium: Browser, served: Site, arguments: Json, name: str) -> None:
    """It is named, and the form is not sent."""
    tab, result = await entered(chromium, served, arguments, submit=True)
    await told(served)
    assert refused(result, "invalid", served).startswith(f"The form does not take: {name}")
    assert await tab.page.value("document.querySelector('[name=key]').value") == "k"
    assert await tab.page.value("new Promise((done) => setTimeout(() => done(location.pathname), 300))") != "/sent"


async def test_a_form_that_is_not_there(chromium: Browser, served: Site) -> None:
    """A page without the form says so."""
    _, result = await entered(chromium, served, {}, body="<p id=contact>no form</p>")
    assert (result["isError"], text_of(result)) == (True, "The form is not on this page.")


# -- call

CALL: Json = {
    "name": "do",
    "description": "Calls.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "additionalProperties": False},
    "primitive": "call",
    "data": {"endpoint": "/call", "token": "v1.old", "expires": 1},
    "annotations": {"readOnlyHint": True, "untrustedContentHint": True, "consequentialHint": False},
}


async def test_a_method_of_the_gateway_is_called(chromium: Browser, served: Site) -> None:
    """Tool, token and arguments go to the daemon, without the hint; its result is handed on as it is."""
    asked: list[Json] = []
    result = {"content": [{"type": "text", "text": "42"}], "structuredContent": {"result": 42}, "isError": False}

    async def answer(request: web.Request) -> web.Response:
        asked.append({**await request.json(), "type": request.content_type})
        return web.json_response(result)

    served.answer("/call", answer)
    tab = await ToolTab.open(chromium, served.page(CALL))
    assert await tab.call("do", {"query": "lamp", "client": "me"}) == result
    assert asked == [
        {
            "tool": "do",
            "token": "v1.old",
            "arguments": {"query": "lamp"},
            "confirmed": False,
            "type": "application/json",
        }
    ]


async def test_an_old_token_is_renewed_once(chromium: Browser, served: Site) -> None:
    """A page that was open for long fetches its configuration anew, and tries once more."""
    tokens: list[str] = []
    expired = {"error": {"code": "token-expired", "message": "This page is too old. Load it again."}}

    async def answer(request: web.Request) -> web.Response:
        tokens.append((await request.json())["token"])
        if tokens[-1] == "v1.new":
            return web.json_response({"content": [{"type": "text", "text": "fresh"}]})
        return web.json_response(expired, status=403)

    served.answer("/call", answer)
    tab = await ToolTab.open(chromium, served.page(CALL))
    assert text_of(await tab.call("do", {})) == "/config.json answered with HTTP 404."
    served.file("/config.json", json.dumps(configuration(CALL)))
    assert text_of(await tab.call("do", {})) == "This page is too old. Load it again."
    served.file("/config.json", json.dumps(configuration({**CALL, "data": {**CALL["data"], "token": "v1.new"}})))
    assert text_of(await tab.call("do", {})) == "fresh"
    assert tokens == ["v1.old", "v1.old", "v1.old", "v1.old", "v1.new"]


async def test_a_call_that_is_refused(chromium: Browser, served: Site) -> None:
    """The daemon's text is shown, or the status where it has none."""
    tab = await ToolTab.open(chromium, served.page(CALL))
    for status, body, text in [
        (429, {"error": {"code": "too-many", "message": "Too many calls."}}, "Too many calls."),
        (403, {"odd": 1}, "The tool failed."),
        (502, None, "/call answered with HTTP 502."),
    ]:
        served.file("/call", json.dumps(body), "application/json" if body else "text/html", status)
        result = await tab.call("do", {})
        assert (result["isError"], text_of(result)) == (True, text)


# -- the dialog

ASKED = Confirm("Open {title}? {x}", "Yes", "No", 60)


async def asking(chromium: Browser, served: Site, **window: Any) -> tuple[ToolTab, str]:
    """Begin a call that asks the visitor, whose focus is on a link, and wait for the question."""
    made = tool(PLACES, confirm=ASKED, title="Places", input_schema={"type": "object"})
    tab = await ToolTab.open(chromium, **window)
    await tab.page.visit(served.page(made, body="<main><h1>A page</h1><a href='#a' id='a'>A link</a></main>"))
    await tab.page.value("document.getElementById('a').focus()")
    call = await tab.begin("do", {"value": "part", "title": "<b>it</b>"})
    await tab.page.until(f"{DIALOG} !== null")
    return tab, call


async def test_the_visitor_is_asked_and_agrees(chromium: Browser, served: Site) -> None:
    """The question with its values, the arguments, both buttons; the keyboard is enough, and the focus comes back."""
    tab, call = await asking(chromium, served)
    text = await tab.page.value(f"{INSIDE}.querySelector('dialog').innerText")
    assert [word for word in ("Places", "Open <b>it</b>?", "value", "part", "No", "Yes") if word not in text] == []
    assert await tab.page.value(f"{INSIDE}.activeElement.textContent") == "No"
    assert await tab.page.value("location.hash") == ""
    await tab.page.press("Tab", 9)
    assert await tab.page.value(f"{INSIDE}.activeElement.textContent") == "Yes"
    await tab.page.press("Enter", 13, "\r")
    assert text_of((await tab.answer(call))["output"]) == "Off to Part, part!"
    await tab.page.until(f"{DIALOG} === null && document.activeElement.id === 'a' && location.hash === '#part'")
    assert (await told(served))[0]["outcome"] == "ok"


async def decline_by_button(tab: ToolTab) -> None:
    await tab.page.press("Enter", 13, "\r")


async def decline_by_escape(tab: ToolTab) -> None:
    await tab.page.press("Escape", 27)


DECLINED = [
    pytest.param(decline_by_button, id="by the button that has the focus"),
    pytest.param(decline_by_escape, id="by Escape"),
]


@pytest.mark.parametrize("how", DECLINED)
async def test_the_visitor_declines(chromium: Browser, served: Site, how: Any) -> None:
    """Nothing happens, the agent is told, and the focus comes back."""
    tab, call = await asking(chromium, served)
    await how(tab)
    result = (await tab.answer(call))["output"]
    await told(served)
    assert refused(result, "declined", served) == "The visitor declined."
    await tab.page.until(f"{DIALOG} === null && document.activeElement.id === 'a'")
    assert await tab.page.value("location.hash") == ""


async def test_the_visitor_does_not_answer(chromium: Browser, served: Site) -> None:
    """The question goes away after its time, and counts as declined."""
    tab = await ToolTab.open(chromium, served.page(tool(PLACES, confirm=replace(ASKED, seconds=1))))
    result = await tab.call("do", {"value": "part"})
    await told(served)
    assert refused(result, "declined", served) == "The visitor did not answer."
    await tab.page.until(f"{DIALOG} === null")
    assert await tab.page.value("location.hash") == ""


async def test_the_agent_gives_up_while_the_visitor_is_asked(chromium: Browser, served: Site) -> None:
    """The question goes away, and nothing happens."""
    tab, call = await asking(chromium, served)
    await tab.cancel(call)
    assert (await tab.answer(call))["status"] == "Canceled"
    await tab.page.until(f"{DIALOG} === null && document.activeElement.id === 'a'")
    assert (await told(served))[0]["outcome"] == "aborted"
    assert await tab.page.value("location.hash") == ""


async def test_a_script_cannot_agree_for_the_visitor(chromium: Browser, served: Site) -> None:
    """A click that no person made does not count."""
    tab, call = await asking(chromium, served)
    await tab.page.value(f"{INSIDE}.querySelector('.go').click()")
    await tab.page.value(f"{INSIDE}.querySelector('.go').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert await tab.page.value(f"{INSIDE}.querySelector('dialog').open") is True
    await tab.page.press("Escape", 27)
    assert (await tab.answer(call))["output"]["isError"] is True


async def test_questions_come_one_after_another(chromium: Browser, served: Site) -> None:
    """Two calls at once are two questions, one at a time."""
    tab, first = await asking(chromium, served)
    second = await tab.begin("do", {"value": "part", "title": "second"})
    assert await tab.page.value("document.querySelectorAll('rpcgw-dialog').length") == 1
    await tab.page.press("Escape", 27)
    await tab.answer(first)
    await tab.page.until(f"{DIALOG} !== null && {INSIDE}.querySelector('p').textContent.includes('second')")
    await tab.page.press("Escape", 27)
    await tab.answer(second)
    assert [each["outcome"] for each in await told(served, 2)] == ["declined", "declined"]


async def test_words_of_the_question(chromium: Browser, served: Site) -> None:
    """Without words of the author it has the script's own, in the page's language where the site gives them."""
    made = tool(StaticList([]), title="Години", confirm=Confirm())
    messages = {"ask": "Дозволити «{tool}»?", "accept": "Так", "decline": "Ні", "declined": "Ні так ні."}
    tab = await ToolTab.open(chromium, served.page(made, messages=messages))
    call = await tab.begin("do")
    await tab.page.until(f"{DIALOG} !== null")
    text = await tab.page.value(f"{INSIDE}.querySelector('dialog').innerText")
    assert [word for word in ("Години", "Дозволити «Години»?", "Так", "Ні") if word not in text] == []
    await tab.page.press("Escape", 27)
    assert text_of((await tab.answer(call))["output"]) == "Ні так ні."


async def test_words_when_a_place_is_declined(chromium: Browser, served: Site) -> None:
    """`messages.cancelled` of a tool goes before the script's own words."""
    places = replace(PLACES, messages=NavigateText(cancelled="Staying, not {value}."))
    tab = await ToolTab.open(chromium, served.page(tool(places, confirm=ASKED)))
    call = await tab.begin("do", {"value": "part"})
    await tab.page.until(f"{DIALOG} !== null")
    await tab.page.press("Escape", 27)
    assert text_of((await tab.answer(call))["output"]) == "Staying, not part."


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_answer(chromium: Browser, served: Site, scheme: str) -> None:
    """axe-core finds no violation in the question and in the note, in light and dark, and 360 pixels are enough."""
    tab, call = await asking(chromium, served, scheme=scheme, width=360, height=740)
    assert await tab.page.violations() == []
    assert await tab.page.overflow() <= 0
    await tab.page.press("Escape", 27)
    await tab.answer(call)
    tab = await ToolTab.open(chromium, scheme=scheme, width=360, height=740)
    await tab.page.visit(served.page(tool(MAIL), body="<main><h1>A page</h1></main>"))
    await tab.call("do", {"name": "A", "message": "m"})
    await tab.page.until(f"{NOTE} !== null")
    assert await tab.page.violations() == []
    assert await tab.page.overflow() <= 0


# -- the budget of an answer


async def answered(chromium: Browser, served: Site, source: str, **config: Any) -> Json:
    served.file("/do.mjs", f"export const execute = () => ({source})", "text/javascript")
    tab = await ToolTab.open(chromium, served.page(tool(Module("/do.mjs")), **config))
    return await tab.call("do")


async def test_text_has_a_budget(chromium: Browser, served: Site) -> None:
    """All parts share it; what is cut says so, within the budget; emojis are not halved."""
    source = "{content: [{type: 'text', text: 'a'.repeat(40)}, {type: 'text', text: '😀'.repeat(100)}, {type: 'text', text: 'b'}, {type: 'image', data: '', mimeType: 'image/png'}]}"
    parts = (await answered(chromium, served, source, outputLimit=100))["content"]
    assert sum(len(part.get("text", "").encode("utf-16-le")) // 2 for part in parts) <= 100
    assert parts[0]["text"] == "a" * 40
    assert parts[1]["text"].endswith(" … [cut]")
    assert set(parts[1]["text"].removesuffix(" … [cut]")) == {"😀"}
    assert parts[3]["type"] == "image"


async def test_data_has_a_budget(chromium: Browser, served: Site) -> None:
    """Ten times as much: the longest list loses items, and it is said; data that is one lump is left out."""
    source = "{content: [], structuredContent: {count: 500, rows: Array.from({length: 500}, (_, n) => ({n, text: 'x'.repeat(20)})), few: [1, 2]}}"
    data = (await answered(chromium, served, source, outputLimit=200))["structuredContent"]
    assert len(json.dumps(data, separators=(",", ":"))) <= 2000
    assert (data["count"], data["few"], data["truncated"], len(data["rows"]) > 10) == (500, [1, 2], True, True)
    lump = await answered(
        chromium, served, "{content: [], structuredContent: {lump: 'x'.repeat(5000)}}", outputLimit=200
    )
    assert lump["structuredContent"] == {"truncated": True}


async def test_no_budget(chromium: Browser, served: Site) -> None:
    """0 is no limit."""
    source = "{content: [{type: 'text', text: 'a'.repeat(40000)}], structuredContent: {lump: 'x'.repeat(40000)}}"
    result = await answered(chromium, served, source, outputLimit=0)
    assert (len(text_of(result)), len(result["structuredContent"]["lump"])) == (40000, 40000)


# -- beacons and who calls


async def test_a_call_tells_that_it_began_and_how_it_ended(chromium: Browser, served: Site) -> None:
    """Tool, client and a new identifier first; the outcome with its duration in milliseconds after."""
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([]))))
    await tab.call("do", {"client": "Test Agent"})
    await tab.call("do", {"client": "Test Agent", "odd": 1})
    await told(served, 2)
    [first, second] = [each for each in served.beacons if "tool" in each]
    assert first == {"tool": "do", "client": "Test Agent", "call": first["call"]}
    assert first["call"] != second["call"]
    assert 16 <= len(first["call"]) <= 64
    ends = {each["call"]: each for each in served.ended()}
    assert (ends[first["call"]]["outcome"], ends[second["call"]]["outcome"]) == ("ok", "invalid")
    assert 0 <= ends[first["call"]]["ms"] < 60_000
    assert isinstance(ends[first["call"]]["ms"], int)
    assert set(served.kinds) == {"application/json"}


async def test_beacons_as_text(chromium: Browser, served: Site) -> None:
    """`beacon: text` needs no preflight on another origin."""
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([])), beacon="text"))
    await tab.call("do")
    await told(served)
    assert set(served.kinds) == {"text/plain"}


async def test_no_beacons(chromium: Browser, served: Site) -> None:
    """Where the configuration has no endpoint nothing is sent."""
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([])), endpoint=None))
    await tab.page.value("navigator.sendBeacon = () => { window.sent = true; return true; }")
    await tab.call("do")
    assert await tab.page.value("window.sent === undefined")


async def test_a_beacon_that_the_browser_does_not_queue(chromium: Browser, served: Site) -> None:
    """`sendBeacon` says no, or is broken: the beacon is sent another way, and the call does not care."""
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([]))))
    await tab.page.value("navigator.sendBeacon = () => false")
    assert not (await tab.call("do")).get("isError")
    assert (await told(served))[0]["outcome"] == "ok"
    await tab.page.value("navigator.sendBeacon = () => { throw new Error('broken'); }")
    assert not (await tab.call("do")).get("isError")
    assert tab.errors == []


CLIENTS = [
    pytest.param("ChatGPT", "ChatGPT", id="a name"),
    pytest.param("  Агент_7 (v1.2/x)  ", "Агент_7 (v1.2/x)", id="letters of any language, and a few signs"),
    pytest.param("<b>x</b>\u0000\u202e\n'\"&", "b x /b", id="markup and hidden characters"),
    pytest.param("😀" * 10, "unknown", id="nothing that counts"),
    pytest.param("", "unknown", id="nothing"),
    pytest.param("𝐀" * 100, "𝐀" * 64, id="at most 64 characters"),
    pytest.param("a" * 63 + " b", "a" * 63, id="no space at the end"),
]


@pytest.mark.parametrize(("given", "client"), CLIENTS)
async def test_who_calls(chromium: Browser, served: Site, given: str, client: str) -> None:
    """The agent's own word, cleaned; the browser's where it has none."""
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([]))))
    await tab.call("do", {"client": given})
    await told(served)
    assert served.beacons[0]["client"] == client


async def test_the_page_and_the_daemon_clean_alike(chromium: Browser, served: Site) -> None:
    """For hints of any signs that both know, the script sends what the daemon would have made of the hint itself."""
    dice = random.Random(20261130)
    signs = [chr(code) for code in range(0x20000) if unicodedata.category(chr(code)) not in {"Cn", "Cs"}]
    usual = [*"abcXYZ019 ._-/()<>&'\"\t\n", *"їґ\u0301ß", "😀"]
    hints = ["".join(dice.choices([*usual, dice.choice(signs)], k=dice.randint(1, 90))) for _ in range(60)]
    hints += ["".join(dice.choices(signs, k=40)) for _ in range(60)]
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([]))))
    calls = "for (const client of hints) await document.modelContext.executeTool(one, {client})"
    await tab.page.value(
        f"document.modelContext.getTools().then(async ([one]) => {{ const hints = {json.dumps(hints)}; {calls} }})"
    )
    await told(served, len(hints))
    sent = [each["client"] for each in served.beacons if "tool" in each]
    assert sorted(sent) == sorted(cleaned(hint) for hint in hints)


async def test_who_calls_by_the_browsers_word(chromium: Browser, served: Site) -> None:
    """A known assistant in the user agent's name counts where no argument says more."""
    tab = await ToolTab.open(chromium)
    await tab.page.command("Emulation.setUserAgentOverride", {"userAgent": "Mozilla/5.0 (like Gecko) Claude-User/1.0"})
    await tab.page.visit(served.page(tool(StaticList([]))))
    await tab.call("do")
    await told(served)
    assert served.beacons[0]["client"] == "Claude-User"


async def test_the_hint_may_be_switched_off(chromium: Browser, served: Site) -> None:
    """`clientHint: false` adds nothing to a schema; an author's own `client` stays as it is."""
    own = {"type": "object", "properties": {"client": {"type": "integer"}}}
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([])), clientHint=False))
    await tab.has("do")
    assert tab.tools["do"]["inputSchema"]["properties"] == {}
    tab = await ToolTab.open(chromium, served.page(tool(StaticList([]), input_schema=own)))
    await tab.has("do")
    assert tab.tools["do"]["inputSchema"]["properties"] == {"client": {"type": "integer"}}
    assert not (await tab.call("do", {"client": 7})).get("isError")
