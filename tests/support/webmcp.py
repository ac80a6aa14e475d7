"""A page's tools as a browser's own agent has them: listed and called over the DevTools protocol, natively.

async with browser(NATIVE) as chromium:
    tab = await ToolTab.open(chromium, "http://127.0.0.1:8080/site/")
    assert (await tab.call("site_goto", {"value": "blog"}))["content"][0]["text"] == "Going to Blog."
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.support.browser import ANSWER, POLL, Browser, Page

NATIVE = "--enable-features=WebMCP"
"""The flag with which Chromium has `document.modelContext`."""

NAMES = "--host-resolver-rules=MAP *.test 127.0.0.1"
"""The flag with which http://shop.test is this machine, and not a secure context."""

Json = dict[str, Any]


class ToolTab:
    """A tab and what it says: its tools, its answers, its warnings, and what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.tools: dict[str, Json] = {}
        self.warnings: list[str] = []
        self.errors: list[str] = []
        self._answers: dict[str, asyncio.Future[Json]] = {}
        self._urls: dict[str, str] = {}
        self._contexts: dict[str, int] = {}

    @classmethod
    async def open(cls, chromium: Browser, url: str | None = None, *, native: bool = True, **window: Any) -> ToolTab:
        """Open a tab, and a page in it; `native` where the browser was started with the flag."""
        tab = cls(await chromium.tab(**window))
        tab.page.listen(tab._placed)
        tab.page.listen(tab._heard)
        for domain in ("Page", "Runtime", *(("WebMCP",) if native else ())):
            await tab.page.command(f"{domain}.enable", {})
        if url is not None:
            await tab.page.visit(url)
        return tab

    def _placed(self, event: str, said: Json) -> None:
        """Where each frame is, and in which context its scripts run."""
        if event == "Page.frameNavigated":
            self._urls[said["frame"]["id"]] = said["frame"]["url"]
        elif event == "Runtime.executionContextCreated" and said["context"]["auxData"].get("isDefault"):
            self._contexts[said["context"]["auxData"]["frameId"]] = said["context"]["id"]

    def _heard(self, event: str, said: Json) -> None:
        match event:
            case "Page.frameNavigated" if "parentId" not in said["frame"]:
                self.tools.clear()
            case "WebMCP.toolsAdded":
                self.tools |= {tool["name"]: tool for tool in said["tools"]}
            case "WebMCP.toolsRemoved":
                for tool in said["tools"]:
                    self.tools.pop(tool["name"], None)
            case "WebMCP.toolResponded":
                answer = self._answer(said["invocationId"])
                if not answer.done():  # a page that is left gives up what it has answered
                    answer.set_result(said)
            case "Runtime.consoleAPICalled" if said["type"] == "warning":
                self.warnings.append(" ".join(str(each.get("value")) for each in said["args"]))
            case "Runtime.exceptionThrown":
                details = said["exceptionDetails"]
                self.errors.append(f"{details['text']} {details.get('exception', {}).get('description')}")

    def _answer(self, invocation: str) -> asyncio.Future[Json]:
        return self._answers.setdefault(invocation, asyncio.get_running_loop().create_future())

    async def has(self, *names: str) -> None:
        """Wait until the page has exactly these tools."""
        await until(lambda: sorted(self.tools) == sorted(names), lambda: f"{sorted(self.tools)}, {self.warnings}")

    async def frame(self, url: str) -> Callable[[str], Awaitable[Any]]:
        """Return what asks a frame of this address, once it is there, for what an expression comes to.

        The frame's origin may be another one than the page's, of the same host: two ports are two origins.
        """

        def known() -> int | None:
            frame = next((frame for frame, address in self._urls.items() if address == url), None)
            return None if frame is None else self._contexts.get(frame)

        await until(lambda: known() is not None, lambda: f"no frame {url} among {sorted(self._urls.values())}")

        async def value(expression: str) -> Any:
            asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
            found = await self.page.command("Runtime.evaluate", {**asked, "contextId": known()})
            assert "exceptionDetails" not in found, f"{expression}: {found['exceptionDetails']}"
            return found["result"].get("value")

        deadline = asyncio.get_running_loop().time() + ANSWER
        while not await value("document.readyState === 'complete'"):
            assert asyncio.get_running_loop().time() < deadline, f"never complete: {url}"
            await asyncio.sleep(POLL)
        return value

    async def begin(self, tool: str, arguments: Mapping[str, Any] | None = None) -> str:
        """Begin a call as the browser's agent would, and return what it is known by."""
        await until(lambda: tool in self.tools, lambda: f"no {tool} among {sorted(self.tools)}, {self.warnings}")
        asked = {"toolName": tool, "frameId": self.tools[tool]["frameId"], "input": arguments or {}}
        return str((await self.page.command("WebMCP.invokeTool", asked))["invocationId"])

    async def answer(self, invocation: str) -> Json:
        """Wait for what the browser says of a call: `{status, output, errorText}`."""
        return await asyncio.wait_for(self._answer(invocation), ANSWER)

    async def cancel(self, invocation: str) -> None:
        """Give a call up."""
        await self.page.command("WebMCP.cancelInvocation", {"invocationId": invocation})

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Json:
        """Call a tool, and return its result as it came."""
        said = await self.answer(await self.begin(tool, arguments))
        assert said["status"] == "Completed", said
        output: Json = said["output"]
        return output

    async def call_in_page(self, tool: str, arguments: Mapping[str, Any] | None = None, *, text: bool = False) -> Json:
        """Call a tool as a script of the page would; `text` where arguments are given as JSON (the polyfill)."""
        given = json.dumps(dict(arguments or {}))
        script = f"""(async () => {{
          const tools = await document.modelContext.getTools();
          const tool = tools.find((each) => each.name === {json.dumps(tool)});
          return document.modelContext.executeTool(tool, {json.dumps(given) if text else given});
        }})()"""
        found: Json = json.loads(await self.page.value(script))
        return found


def text_of(result: Mapping[str, Any]) -> str:
    """Return a result's text."""
    return "\n".join(part["text"] for part in result["content"])


async def until(done: Callable[[], object], otherwise: Callable[[], str]) -> None:
    """Wait until something is so."""
    deadline = asyncio.get_running_loop().time() + ANSWER
    while not done():
        assert asyncio.get_running_loop().time() < deadline, otherwise()
        await asyncio.sleep(POLL)
