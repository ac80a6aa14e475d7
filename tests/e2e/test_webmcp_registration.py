"""The script `webmcp.js` in a real Chromium: which tools a page registers, where, and how quietly it fails."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web

from tests.support.browser import Browser, browser
from tests.support.pages import SCRIPT, STRICT, Site, configuration, listed, site
from tests.support.webmcp import NAMES, NATIVE, ToolTab, text_of, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

BAD = [
    pytest.param(listed("not a name"), "InvalidStateError", id="a name with a space"),
    pytest.param(listed("silent", description=""), "InvalidStateError", id="no description"),
    pytest.param(listed("odd", primitive="constructor"), "TypeError", id="no primitive, but a name of every object"),
    pytest.param(listed("torn", inputSchema=None), "TypeError", id="no schema"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with browser(NATIVE, NAMES) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain_chromium() -> AsyncIterator[Browser]:
    async with browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def served(chromium: Browser) -> AsyncIterator[Site]:
    async with site() as made:
        yield made
        await chromium.close_tabs()


async def refreshed(tab: ToolTab) -> dict[str, str]:
    """Let the page read its tools anew, and return what became of each."""
    found: dict[str, str] = await tab.page.value("rpcgw.refresh()")
    return found


async def test_tools_are_registered_with_all_that_they_say(chromium: Browser, served: Site) -> None:
    """Name, title, description, schema with `client`, output schema and all four hints reach the browser."""
    told = {"readOnlyHint": False, "untrustedContentHint": True, "consequentialHint": True, "debugging": True}
    tool = listed("all", title="All", outputSchema={"type": "object"}, annotations=told)
    head = """<script src="/spy.js"></script>""" + SCRIPT
    served.file(
        "/spy.js",
        "const r = document.modelContext.registerTool; window.seen = []; document.modelContext.registerTool = function (tool, options) { seen.push(JSON.stringify(tool)); return r.call(this, tool, options); };",
        "text/javascript",
    )
    tab = await ToolTab.open(chromium, served.page(tool, listed("few"), head=head))
    await tab.has("all", "few")
    hints = {"readOnly": False, "untrustedContent": True, "consequential": True, "debugging": True}
    assert hints.items() <= tab.tools["all"]["annotations"].items()
    assert tab.tools["all"]["inputSchema"]["properties"]["client"]["type"] == "string"
    [first, _] = [json.loads(each) for each in await tab.page.value("seen")]
    assert (first["title"], first["outputSchema"], first["annotations"]) == ("All", {"type": "object"}, told)
    assert (tab.warnings, tab.errors) == ([], [])


@pytest.mark.parametrize(("bad", "reason"), BAD)
async def test_a_bad_tool_harms_no_other(chromium: Browser, served: Site, bad: dict[str, object], reason: str) -> None:
    """All the good ones are there; the bad one costs one warning, however often the page is read, and no error."""
    tab = await ToolTab.open(chromium, served.page(listed("before"), bad, listed("after")))
    await tab.has("before", "after")
    found = await refreshed(tab)
    assert found == {"before": "registered", str(bad["name"]): found[str(bad["name"])], "after": "registered"}
    assert found[str(bad["name"])].startswith(reason)
    await refreshed(tab)
    assert len(tab.warnings) == 1
    assert str(bad["name"]) in tab.warnings[0]
    assert tab.errors == []


async def test_of_two_tools_with_one_name_the_first_counts(chromium: Browser, served: Site) -> None:
    """A name that stands twice is one tool, and one warning."""
    tab = await ToolTab.open(chromium, served.page(listed(items=[{"title": "first"}]), listed(), listed("constructor")))
    await tab.has("hours", "constructor")
    assert text_of(await tab.call("hours")) == "1 entries:\n1. first"
    assert len(tab.warnings) == 1


async def test_a_name_that_another_script_took_is_reported(chromium: Browser, served: Site) -> None:
    """First come, first served in a page: what somebody else registered stays theirs."""
    served.file(
        "/other.js",
        "document.modelContext.registerTool({name: 'hours', description: 'Theirs.', execute: () => 'theirs'})",
        "text/javascript",
    )
    tab = await ToolTab.open(chromium, served.page(listed(), head='<script src="/other.js"></script>' + SCRIPT))
    assert (await refreshed(tab))["hours"].startswith("InvalidStateError")
    assert await tab.page.value("document.modelContext.getTools().then(([t]) => t.description)") == "Theirs."
    assert (len(tab.warnings), tab.errors) == (1, [])


async def test_a_second_script_and_a_refresh_change_nothing(chromium: Browser, served: Site) -> None:
    """The script may stand in a page twice and be asked again: each tool is there exactly once."""
    tab = await ToolTab.open(chromium, served.page(listed(), listed("more"), head=SCRIPT * 3))
    await tab.has("hours", "more")
    await refreshed(tab)
    assert await tab.page.value("document.modelContext.getTools().then((all) => all.map((each) => each.name))") == [
        "hours",
        "more",
    ]
    assert (tab.warnings, tab.errors) == ([], [])


async def test_a_page_may_change_its_tools(chromium: Browser, served: Site) -> None:
    """`rpcgw.refresh()` adds, replaces and removes what changed, and leaves alone what did not."""
    tab = await ToolTab.open(chromium, served.page(listed("stays"), listed("changes"), listed("goes")))
    await tab.has("stays", "changes", "goes")
    changed = configuration(listed("stays"), listed("changes", items=[{"title": "new"}]), listed("comes"))
    block = "document.getElementById('webmcp-config').textContent"
    await tab.page.value("window.changes = 0; document.modelContext.addEventListener('toolchange', () => changes++)")
    await tab.page.value(f"{block} = {json.dumps(json.dumps(changed))}")
    assert await refreshed(tab) == {"stays": "registered", "changes": "registered", "comes": "registered"}
    await tab.has("stays", "changes", "comes")
    assert text_of(await tab.call("changes")) == "1 entries:\n1. new"
    assert (tab.warnings, tab.errors) == ([], [])


async def test_a_late_refusal_does_not_hit_a_newer_registration(chromium: Browser, served: Site) -> None:
    """A registration that fails after it was replaced is nobody's business any more."""
    served.file(
        "/slow.js",
        """const real = document.modelContext.registerTool.bind(document.modelContext);
        window.refusals = [];
        document.modelContext.registerTool = (tool, options) =>
          window.refusals.length ? real(tool, options) : new Promise((_, reject) => window.refusals.push(reject));""",
        "text/javascript",
    )
    tab = await ToolTab.open(chromium, served.page(listed(), head='<script src="/slow.js"></script>' + SCRIPT))
    await tab.page.until("window.refusals.length")
    changed = configuration(listed(items=[{"title": "new"}]))
    await tab.page.value(f"document.getElementById('webmcp-config').textContent = {json.dumps(json.dumps(changed))}")
    await refreshed(tab)
    await tab.page.value("window.refusals[0](new Error('too late')), 0")
    assert await refreshed(tab) == {"hours": "registered"}
    assert text_of(await tab.call("hours")) == "1 entries:\n1. new"
    assert tab.warnings == []


async def test_nothing_happens_without_the_browsers_interface(plain_chromium: Browser, served: Site) -> None:
    """A browser that has no tools shows the page as it is: no error, no warning, no request."""
    tab = await ToolTab.open(plain_chromium, served.page(listed()), native=False)
    before = await tab.page.value("document.documentElement.outerHTML")
    assert await refreshed(tab) == {}
    assert await tab.page.value("document.documentElement.outerHTML") == before
    assert (tab.warnings, tab.errors) == ([], [])
    assert [
        path for path in served.asked if path not in {"/webmcp.js", "/favicon.ico"} and not path.startswith("/page-")
    ] == []


@pytest.mark.parametrize(
    ("members", "tools"),
    [
        pytest.param(
            {"headers": {"Permissions-Policy": "tools=()"}},
            {"hours": "NotAllowedError"},
            id="Permissions-Policy: tools=()",
        ),
        pytest.param(
            {"headers": {"Origin-Agent-Cluster": "?0"}}, {"hours": "SecurityError"}, id="document.domain is enabled"
        ),
        pytest.param({"block": "{"}, {}, id="a configuration that is no JSON"),
        pytest.param({"block": "[]"}, {}, id="a configuration that is none"),
        pytest.param({"block": "null"}, {}, id="a configuration that is null"),
        pytest.param({"block": '{"tools": []}'}, {}, id="no tools"),
    ],
)
async def test_where_nothing_may_be_registered(
    chromium: Browser, served: Site, members: dict[str, object], tools: dict[str, str]
) -> None:
    """Refused by the browser or misconfigured: at most one warning that says why, and never an error."""
    tab = await ToolTab.open(chromium, served.page(listed(), **members))  # type: ignore[arg-type]
    found = await refreshed(tab)
    assert {name: reason.partition(":")[0] for name, reason in found.items()} == tools
    assert tab.tools == {}
    assert len(tab.warnings) <= 1
    assert tab.errors == []


async def test_frames_have_no_tools_unless_they_are_wanted(chromium: Browser, served: Site) -> None:
    """Only the page that the visitor sees registers tools; `frames` says otherwise."""
    inner = served.page(listed("inner"))
    wanted = served.page(listed("wanted"), frames=True)
    outer = served.page(listed("outer"), body=f'<iframe src="{inner}"></iframe><iframe src="{wanted}"></iframe>')
    tab = await ToolTab.open(chromium, outer)
    await tab.has("outer", "wanted")
    assert (tab.warnings, tab.errors) == ([], [])


FOREIGN = [
    pytest.param("", {}, "NotAllowedError", id="the parent allows nothing: the browser refuses"),
    pytest.param("tools", {}, "registered", id="the parent allows it"),
    pytest.param("tools", {"frames": False}, None, id="the parent allows it, and the site does not want it"),
    pytest.param(
        "tools",
        {"headers": {"Permissions-Policy": "tools=()"}},
        "NotAllowedError",
        id="the parent allows it, and the site's own header does not",
    ),
]


@pytest.mark.parametrize(("allow", "members", "becomes"), FOREIGN)
async def test_a_frame_in_a_foreign_page(
    chromium: Browser, served: Site, allow: str, members: dict[str, object], becomes: str | None
) -> None:
    """`frames: true` is the site's word; a page of another origin has one too, and neither page is disturbed."""
    inner = served.page(listed("inner"), **{"frames": True, **members})  # type: ignore[arg-type]
    async with site() as foreign:
        body = f'<iframe src="{inner}" allow="{allow}"></iframe>'
        tab = await ToolTab.open(chromium, foreign.page(listed("outer"), body=body))
        frame = await tab.frame(inner)
        found = await frame("rpcgw.refresh()")
        assert [reason.partition(":")[0] for reason in found.values()] == ([] if becomes is None else [becomes])
        await tab.has("outer", *(["inner"] if becomes == "registered" else []))
        assert (len(tab.warnings), tab.errors) == (int(becomes == "NotAllowedError"), [])
        if becomes == "registered":
            assert "entries" in text_of(await tab.call("inner"))
            await until(lambda: len(served.ended()) == 1, lambda: str(served.beacons))
        assert foreign.beacons == []


async def test_a_foreign_frame_does_not_take_the_pages_tools(chromium: Browser, served: Site) -> None:
    """What a page's own script sees and calls are its own tools, and not those of a frame that names them alike."""
    async with site() as foreign:
        inner = foreign.page(listed("hours", [{"title": "theirs"}]), frames=True)
        body = f'<iframe src="{inner}" allow="tools"></iframe>'
        tab = await ToolTab.open(chromium, served.page(listed("hours", [{"title": "ours"}]), body=body))
        frame = await tab.frame(inner)
        assert await frame("rpcgw.refresh()") == await refreshed(tab) == {"hours": "registered"}
        assert await tab.page.value("document.modelContext.getTools().then((tools) => tools.map((t) => t.name))") == [
            "hours"
        ]
        assert "ours" in text_of(await tab.call_in_page("hours"))
        assert (tab.warnings, tab.errors, foreign.beacons) == ([], [], [])


async def test_an_insecure_page_has_no_tools(chromium: Browser, served: Site) -> None:
    """Browsers give the interface to secure contexts only; elsewhere the script keeps still."""
    tab = await ToolTab.open(chromium, served.page(listed()).replace("127.0.0.1", "shop.test"))
    assert await tab.page.value("isSecureContext") is False
    assert await refreshed(tab) == {}
    assert (tab.tools, tab.warnings, tab.errors) == ({}, [], [])


async def test_a_strict_csp_is_enough(chromium: Browser, served: Site) -> None:
    """`script-src 'self'`, `style-src 'self'`, `connect-src 'self'` and Trusted Types: all works, nothing is violated."""
    listening = "<script src='/listen.js'></script>"
    served.file(
        "/listen.js",
        "window.violations = []; addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' + e.blockedURI))",
        "text/javascript",
    )
    asked = listed(confirm={"text": "Really?", "accept": "", "decline": "", "seconds": 60})
    tab = await ToolTab.open(
        chromium, served.page(asked, head=listening + SCRIPT, headers={"Content-Security-Policy": STRICT})
    )
    call = await tab.begin("hours")
    dialog = "document.querySelector('rpcgw-dialog').shadowRoot.querySelector('dialog')"
    await tab.page.until("document.querySelector('rpcgw-dialog') !== null")
    assert await tab.page.value(f"getComputedStyle({dialog}).borderRadius") == "12px"
    await tab.page.press("Tab", 9)
    await tab.page.press("Enter", 13, "\r")
    assert (await tab.answer(call))["output"]["structuredContent"] == {"items": []}
    await until(lambda: len(served.ended()) == 1, lambda: str(served.beacons))
    assert [each for each in await tab.page.value("violations") if "favicon" not in each] == []
    assert tab.errors == []


async def test_back_and_forward_keep_each_tool_once(chromium: Browser, served: Site) -> None:
    """A page that comes back from the browser's memory has its tools, and they work."""
    first, second = served.page(listed("one", items=[{"title": "a"}])), served.page(listed("two"))
    tab = await ToolTab.open(chromium, first)
    await tab.has("one")
    await tab.page.value(
        "window.kept = 'in memory'; addEventListener('pageshow', (e) => { window.restored = e.persisted; })"
    )
    tab.tools.clear()
    await tab.page.visit(second)
    await tab.has("two")
    await tab.page.value("history.back()")
    await tab.page.until("window.kept === 'in memory' && window.restored")
    names = "document.modelContext.getTools().then((all) => all.map((each) => each.name).join())"
    assert await tab.page.value(names) == "one"
    assert text_of(await tab.call_in_page("one")) == "1 entries:\n1. a"
    await tab.page.value("history.forward()")
    await tab.page.until(
        "!window.kept && document.readyState === 'complete' && document.title === "
        + json.dumps(second.removeprefix(served.url))
    )
    await tab.page.until(names + ".then((all) => all === 'two')")
    assert (tab.warnings, tab.errors) == ([], [])


@pytest.mark.parametrize("place", ["before", "after"])
async def test_the_polyfill_is_enough(plain_chromium: Browser, served: Site, place: str) -> None:
    """With @mcp-b/webmcp-polyfill, before the script or late after it, tools are registered and answer."""
    polyfill = '<script src="/polyfill.js" defer></script>'
    head = polyfill + SCRIPT if place == "before" else SCRIPT + polyfill
    tab = await ToolTab.open(plain_chromium, served.page(listed(items=[{"title": "Mo"}]), head=head), native=False)
    await tab.page.until("document.modelContext?.getTools().then((all) => all.length === 1)")
    assert text_of(await tab.call_in_page("hours", {"client": "Polly"}, text=True)) == "1 entries:\n1. Mo"
    wrong = await tab.call_in_page("hours", {"extra": 1}, text=True)
    assert (wrong["isError"], text_of(wrong)) == (True, "The arguments are wrong: extra is not taken.")
    await until(lambda: len(served.ended()) == 2, lambda: str(served.beacons))
    assert served.beacons[0]["client"] == "Polly"
    assert tab.errors == []


async def test_an_old_polyfill_on_navigator_is_used_where_that_is_wanted(plain_chromium: Browser, served: Site) -> None:
    """`legacyNavigator` looks at `navigator.modelContext` where the document has none; otherwise nobody does."""
    served.file(
        "/old.js",
        "window.old = []; navigator.modelContext = {registerTool: (tool) => { old.push(tool.name); }}",
        "text/javascript",
    )
    for wanted in (False, True):
        url = served.page(listed(), head='<script src="/old.js"></script>' + SCRIPT, legacyNavigator=wanted)
        tab = await ToolTab.open(plain_chromium, url, native=False)
        assert await refreshed(tab) == ({"hours": "registered"} if wanted else {})
        assert await tab.page.value("old") == (["hours"] if wanted else [])


async def test_a_page_that_is_not_made_for_it_fetches_its_configuration(chromium: Browser, served: Site) -> None:
    """`data-config` on the script's tag: it is asked for with the page's path and language."""
    asked: list[str] = []

    def answer(request: web.Request) -> web.Response:
        asked.append(request.raw_path)
        return web.json_response(configuration(listed("fetched")))

    served.answer("/config.json", answer)
    head = '<script src="/webmcp.js" data-config="/config.json" defer></script>'
    served.file("/old page/", f'<!doctype html><html lang="uk">{head}', "text/html")
    tab = await ToolTab.open(chromium, served.url + "/old%20page/")
    await tab.has("fetched")
    assert asked == ["/config.json?path=%2Fold%2520page%2F&locale=uk"]


async def test_a_script_in_the_head_waits_for_the_page(chromium: Browser, served: Site) -> None:
    """Without `defer` the script runs before the page's configuration is there; it looks again."""
    tab = await ToolTab.open(chromium, served.page(listed(), head='<script src="/webmcp.js"></script>'))
    await tab.has("hours")
    assert (tab.warnings, tab.errors) == ([], [])


TOMORROW = """
// What Chromium is going to have: tools are objects of an interface, whose members are not their own.
class Tool {
  #it;
  constructor(it) { this.#it = it; }
  get name() { return this.#it.name; }
  get description() { return this.#it.description; }
  get inputSchema() { return this.#it.inputSchema ?? null; }
  static run(tool, input, signal) { return tool.#it.execute(input, { signal }); }
}
const tools = new Map();
document.modelContext = {
  registerTool(it, { signal } = {}) {
    tools.set(it.name, new Tool(it));
    signal.addEventListener("abort", () => tools.delete(it.name));
  },
  getTools: async () => [...tools.values()],
  executeTool: async (tool, input, { signal } = {}) => JSON.stringify(await Tool.run(tool, input, signal)),
};
"""
THROWS = "document.modelContext = {registerTool(it) { if (it.name === 'bad') throw new TypeError('no'); return it; }}"


async def test_the_interface_that_is_coming(plain_chromium: Browser, served: Site) -> None:
    """Tools as objects of an interface, and a `registerTool` that promises nothing: all the same to the script."""
    served.file("/new.js", TOMORROW, "text/javascript")
    head = '<script src="/new.js"></script>' + SCRIPT
    tab = await ToolTab.open(plain_chromium, served.page(listed(items=[{"title": "Mo"}]), head=head), native=False)
    assert await refreshed(tab) == {"hours": "registered"}
    assert text_of(await tab.call_in_page("hours", {"client": "New"})) == "1 entries:\n1. Mo"
    assert (tab.warnings, tab.errors) == ([], [])


async def test_an_interface_that_throws_at_once(plain_chromium: Browser, served: Site) -> None:
    """A `registerTool` that throws instead of rejecting costs its own tool and one warning."""
    served.file("/odd.js", THROWS, "text/javascript")
    head = '<script src="/odd.js"></script>' + SCRIPT
    tab = await ToolTab.open(
        plain_chromium, served.page(listed(), listed("bad"), listed("more"), head=head), native=False
    )
    assert await refreshed(tab) == {"hours": "registered", "bad": "TypeError: no", "more": "registered"}
    assert (len(tab.warnings), tab.errors) == (1, [])
