"""pjrpc on aiohttp: JSON-RPC at /rpc. argv: port. Its methods check nothing of their arguments."""

import sys

import pjrpc.server
import uvloop
from aiohttp import web
from pjrpc.server.integration import aiohttp as integration
from work import reduced

methods = pjrpc.server.MethodRegistry()
methods.add_method(reduced, name="Offers.discounted")

application = integration.Application("/rpc")
application.add_methods(methods)
web.run_app(
    application.http_app,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    access_log=None,
    print=None,
    loop=uvloop.new_event_loop(),
)
