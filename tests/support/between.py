"""What stands between a browser and a daemon: a server that passes everything on, and sets header fields of each answer.

async with between(running.url, {"Permissions-Policy": "tools=()"}) as url:
    tab = await ToolTab.open(chromium, url + "/site/")
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

OWN = frozenset(
    {"connection", "content-encoding", "content-length", "date", "keep-alive", "server", "transfer-encoding"}
)
"""Fields that each hop writes anew."""


@contextlib.asynccontextmanager
async def between(
    url: str, fields: Mapping[str, str] | None = None, pages: Mapping[str, str] | None = None
) -> AsyncIterator[str]:
    """Pass requests on to a daemon until the block ends.

    Args:
        url: The daemon's.
        fields: What each answer has, instead of the daemon's own fields of these names.
        pages: HTML by path, served here beside what the daemon serves.
    """
    said, own = dict(fields or {}), dict(pages or {})
    anew = OWN | {name.lower() for name in said}

    async def handle(request: web.Request) -> web.Response:
        if request.path in own:
            return web.Response(text=own[request.path], content_type="text/html")
        async with session.request(
            request.method,
            url + request.raw_path,
            headers=request.headers,
            data=await request.read(),
            allow_redirects=False,
        ) as answer:
            passed = [(name, value) for name, value in answer.headers.items() if name.lower() not in anew]
            return web.Response(status=answer.status, body=await answer.read(), headers=[*passed, *said.items()])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with aiohttp.ClientSession() as session, TestServer(app, host="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}"
