"""A real Chromium, driven over the DevTools protocol: no driver, no library but aiohttp.

async with browser() as chromium:
    page = await chromium.open("http://127.0.0.1:8080/")
    assert await page.value("document.title") == "My Project"
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from asyncio.subprocess import DEVNULL
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.clients import NODE_FOLDER

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
START = 60.0
ANSWER = 60.0
POLL = 0.05

Listener = Callable[[str, dict[str, Any]], None]
"""Is told of each event of a page: its name and what it says."""


class Browser:
    """A running Chromium; commands go over its one connection."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)
        self._tabs: list[dict[str, Any]] = []

    def listen(self, session: str, listener: Listener) -> None:
        """Tell somebody of a page's events, of those domains that the page was told to enable."""
        self._listeners[session].append(listener)

    async def read(self) -> None:
        """Hand each answer to who waits for it and each event to who listens, until the browser ends."""
        async for message in self._socket:
            said = json.loads(message.data)
            for listener in self._listeners[said.get("sessionId", "")] if "method" in said else ():
                listener(said["method"], said["params"])
            waiting = self._waiting.pop(said.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(said)

    async def command(self, method: str, params: Mapping[str, Any], session: str | None = None) -> dict[str, Any]:
        """Send a command and return its result; an error of the protocol fails the test."""
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params}
        await self._socket.send_json(message if session is None else {**message, "sessionId": session})
        said = await asyncio.wait_for(self._waiting[number], ANSWER)
        assert "error" not in said, f"{method}: {said['error']}"
        result: dict[str, Any] = said["result"]
        return result

    async def open(
        self, url: str, *, width: int = 1200, height: int = 900, scheme: str = "light", language: str = "en"
    ) -> Page:
        """Open a page as a visitor with such a window, colours and language would."""
        page = await self.tab(width=width, height=height, scheme=scheme, language=language)
        await page.visit(url)
        return page

    async def tab(self, *, width: int = 1200, height: int = 900, scheme: str = "light", language: str = "en") -> Page:
        """Open an empty page with such a window, colours and language."""
        target = await self.command("Target.createTarget", {"url": "about:blank"})
        self._tabs.append(target)
        attached = await self.command("Target.attachToTarget", {**target, "flatten": True})
        page = Page(self, attached["sessionId"])
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await page.command("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await page.command("Emulation.setEmulatedMedia", {"features": features})
        agent = await page.value("navigator.userAgent")
        await page.command("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": language})
        return page

    async def close_tabs(self) -> None:
        """Close what was opened, so that many tests can share one browser."""
        while self._tabs:
            await self.command("Target.closeTarget", self._tabs.pop())


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def listen(self, listener: Listener) -> None:
        """Tell somebody of the page's events."""
        self._browser.listen(self._session, listener)

    async def visit(self, url: str) -> None:
        """Go to an address, and wait until all of the page is there."""
        await self.command("Page.navigate", {"url": url})
        await self.until(f"location.href !== 'about:blank' && document.readyState === 'complete' && {json.dumps(url)}")

    async def command(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a command to the page."""
        return await self._browser.command(method, params, self._session)

    async def value(self, expression: str) -> Any:
        """Return what an expression of JavaScript, or the promise that it makes, comes to."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        found = await self.command("Runtime.evaluate", asked)
        assert "exceptionDetails" not in found, f"{expression}: {found['exceptionDetails']}"
        return found["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Wait until an expression is true, and return what it is."""
        deadline = asyncio.get_running_loop().time() + ANSWER
        while not (found := await self.value(expression)):
            assert asyncio.get_running_loop().time() < deadline, f"never true: {expression}"
            await asyncio.sleep(POLL)
        return found

    async def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press and release a key of the keyboard."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        await self.command("Input.dispatchKeyEvent", {"type": "keyDown" if text else "rawKeyDown", **common})
        await self.command("Input.dispatchKeyEvent", {"type": "keyUp", **common})

    async def type(self, text: str) -> None:
        """Type text where the focus is."""
        await self.command("Input.insertText", {"text": text})

    async def violations(self) -> list[str]:
        """Return what axe-core finds wrong, a line each."""
        axe = (NODE_FOLDER / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")
        await self.value(f"{axe};0")
        found = await self.value("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
        return [
            f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]
        ]

    async def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        return int(await self.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    async def picture(self) -> bytes:
        """Return the whole page as a PNG."""
        shot = await self.command("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        return base64.b64decode(shot["data"])


@contextlib.asynccontextmanager
async def browser(*flags: str) -> AsyncIterator[Browser]:
    """Run Chromium with an empty profile, and further flags, until the block ends."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program is not None, "no chromium on the PATH: make setup"
    with tempfile.TemporaryDirectory(prefix="rpcgw-chromium-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            *flags,
            f"--user-data-dir={profile}",
            "about:blank",
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            env={"HOME": profile, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        try:
            address = await _address(Path(profile, "DevToolsActivePort"), process)
            async with aiohttp.ClientSession() as http, http.ws_connect(address, max_msg_size=0) as socket:
                running = Browser(socket)
                reading = asyncio.create_task(running.read())
                try:
                    yield running
                finally:
                    with contextlib.suppress(AssertionError, TimeoutError, ConnectionError):
                        await running.command("Browser.close", {})
                    reading.cancel()
        finally:
            await _end(process)


async def _address(file: Path, process: asyncio.subprocess.Process) -> str:
    deadline = asyncio.get_running_loop().time() + START
    while not (file.exists() and file.read_text().count("\n")):
        assert process.returncode is None, f"chromium ended with {process.returncode}"
        assert asyncio.get_running_loop().time() < deadline, "chromium does not start"
        await asyncio.sleep(POLL)
    port, path = file.read_text().split("\n")[:2]
    return f"ws://127.0.0.1:{port}{path}"


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), 10)
    if process.returncode is None:
        process.kill()
        await process.wait()
