"""A web site for a test: pages with a configuration for the script, and whatever else they need, on 127.0.0.1.

async with site() as served:
    tab = await ToolTab.open(chromium, served.page(tools=[...]))
    assert served.beacons[0]["tool"] == "find"
"""

from __future__ import annotations

import contextlib
import html
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.support.clients import NODE_FOLDER, ROOT

RUNTIME = ROOT / "rpcgw" / "pages" / "static" / "webmcp.js"
POLYFILL = NODE_FOLDER / "node_modules" / "@mcp-b" / "webmcp-polyfill" / "dist" / "index.iife.js"
STRICT = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; require-trusted-types-for 'script'"
)
SCRIPT = '<script src="/webmcp.js" defer></script>'

Json = dict[str, Any]
Answer = Callable[[web.Request], Any]


class Site:
    """A site that is made page by page."""

    def __init__(self) -> None:
        self.url = ""
        self.beacons: list[Json] = []
        self.kinds: list[str] = []
        self.asked: list[str] = []
        self._files: dict[str, web.Response | Answer] = {}
        self.file("/webmcp.js", RUNTIME.read_text("utf-8"), "text/javascript")
        self.file("/polyfill.js", POLYFILL.read_text("utf-8"), "text/javascript")

    def file(self, path: str, body: str, kind: str = "application/json", status: int = 200) -> str:
        """Serve a file at a path, and return its address."""
        self._files[path] = lambda _: web.Response(text=body, content_type=kind, status=status)
        return self.url + path

    def answer(self, path: str, made: Answer) -> str:
        """Let a function answer a path, and return its address."""
        self._files[path] = made
        return self.url + path

    def page(
        self,
        *tools: Mapping[str, Any],
        path: str | None = None,
        head: str = SCRIPT,
        body: str = "<h1>A page</h1>",
        headers: Mapping[str, str] | None = None,
        block: str | None = None,
        lang: str = "en",
        **config: Any,
    ) -> str:
        """Serve a page with these tools, and return its address; `config` is what the page's configuration says beside."""
        where = path or f"/page-{len(self._files)}"
        written = json.dumps(configuration(*tools, **config)).replace("<", "\\u003c") if block is None else block
        text = (
            f'<!doctype html><html lang="{html.escape(lang)}"><head><title>{where}</title>{head}</head><body>{body}'
            f'<script type="application/json" id="webmcp-config">{written}</script></body></html>'
        )
        self.answer(where, lambda _: web.Response(text=text, content_type="text/html", headers=headers))
        return self.url + where

    def ended(self) -> list[Json]:
        """Return the beacons that told how a call ended."""
        return [each for each in self.beacons if "outcome" in each]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer as it was agreed; everything else is 404."""
        self.asked.append(request.path)
        if request.path == "/event":
            self.kinds.append(request.content_type)
            self.beacons.append(json.loads(await request.text()))
            return web.Response(status=204)
        made = self._files.get(request.path)
        if made is None:
            return web.Response(status=404, text="there is no such page")
        found = made(request) if callable(made) else made
        answer: web.StreamResponse = await found if hasattr(found, "__await__") else found
        return answer


def configuration(*tools: Mapping[str, Any], **members: Any) -> Json:
    """Return a page's configuration, of the form that docs/reference/webmcp-payload.md describes."""
    return {
        "site": "main",
        "locale": "en",
        "endpoint": "/event",
        "beacon": "json",
        "config": "/config.json",
        "origins": [],
        "outputLimit": 1500,
        "clientHint": True,
        "frames": False,
        "legacyNavigator": False,
        "messages": {},
        "tools": list(tools),
        **members,
    }


def listed(name: str = "hours", items: Sequence[Mapping[str, Any]] = (), **members: Any) -> Json:
    """Return the simplest of tools, a list."""
    return {
        "name": name,
        "description": "Opening hours.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "primitive": "static",
        "data": {
            "items": list(items),
            "resultKey": "items",
            "text": {"heading": "{count} entries:", "line": "{n}. {title}"},
        },
        "annotations": {"readOnlyHint": True, "untrustedContentHint": False, "consequentialHint": False},
        **members,
    }


@contextlib.asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """Serve a site until the block ends."""
    made = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        made.url = f"http://127.0.0.1:{server.port}"
        yield made
