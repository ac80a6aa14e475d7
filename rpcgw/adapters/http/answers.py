"""From `Reply` to aiohttp's responses, and the door's own short answers."""

from __future__ import annotations

import msgspec
from aiohttp import web

from rpcgw.exchange import HeaderFields, Reply

SERVER: HeaderFields = (("Server", "rpcgw"),)
JSON: HeaderFields = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))


def failure(status: int, text: str, headers: HeaderFields = ()) -> Reply:
    """What the door itself refuses, as short JSON; a protocol's own errors come from its endpoint."""
    return Reply(status, msgspec.json.encode({"error": text}), JSON + headers)


def with_vary(reply: Reply) -> Reply:
    """The same reply with `Origin` in `Vary` (Fetch, section 3.2.5: answers that depend on the origin)."""
    varied = [value for name, value in reply.headers if name.lower() == "vary"]
    kept = tuple(field for field in reply.headers if field[0].lower() != "vary")
    return Reply(reply.status, reply.body, (*kept, ("Vary", ", ".join([*varied, "Origin"]))), reply.after)


def respond(reply: Reply) -> web.Response:
    """A response with the whole body in one piece."""
    assert isinstance(reply.body, bytes), "streams are written piece by piece"
    return web.Response(status=reply.status, body=reply.body or None, headers=reply.headers + SERVER)


def respond_piecewise(reply: Reply) -> web.StreamResponse:
    """A response whose body follows in pieces."""
    return web.StreamResponse(status=reply.status, headers=reply.headers + SERVER)
