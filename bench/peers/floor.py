"""The floor: a bare aiohttp handler that reads the body and sends a constant answer. argv: port."""

import sys

import uvloop
from aiohttp import web

BODY = (
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1699"}],'
    b'"structuredContent":{"result":1699},"isError":false}}'
)
HEADERS = {"Content-Type": "application/json"}


async def answer(request: web.Request) -> web.Response:
    """Read and answer."""
    await request.read()
    return web.Response(body=BODY, headers=HEADERS)


def main() -> None:
    """Serve `POST /mcp` until the process ends."""
    app = web.Application()
    app.router.add_post("/mcp", answer)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None, loop=uvloop.new_event_loop())


main()
