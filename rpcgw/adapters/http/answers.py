"""From `Reply` to aiohttp's responses, and the door's own short answers."""

from __future__ import annotations

from typing import Final

import msgspec
from aiohttp import web

from rpcgw.exchange import HeaderFields, Reply

SERVER: HeaderFields = (("Server", "rpcgw"),)
JSON: HeaderFields = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))


def failure(status: int, text: str, headers: HeaderFields = ()) -> Reply:
    """What the door itself refuses, as short JSON; a protocol's own errors come from its endpoint."""
    return Reply(status, msgspec.json.encode({"error": text}), JSON + headers)


def signed(headers: HeaderFields) -> HeaderFields:
    """The fields of an answer that goes out: a reply's, and who serves."""
    return headers + SERVER


def signed_and_varying(headers: HeaderFields) -> HeaderFields:
    """The same with `Origin` in `Vary` (Fetch, section 3.2.5: what the answer depends on)."""
    varied = [value for name, value in headers if name.lower() == "vary"]
    kept = tuple(field for field in headers if field[0].lower() != "vary")
    return (*kept, ("Vary", ", ".join([*varied, "Origin"])), *SERVER)


_METHODS: Final = (("Allow", "GET, HEAD, POST, DELETE, OPTIONS"),)
_WITHOUT_A_PATH: Final = {
    "CONNECT": failure(405, "this is no proxy", _METHODS),
    "OPTIONS": Reply(204, headers=_METHODS),
}


def refusal(method: str, status: int) -> Reply:
    """The answer to what no route was found for; paths have routes, all of them."""
    if (told := _WITHOUT_A_PATH.get(method)) is not None:
        return told
    return failure(status, "not found" if status == 404 else "unknown expectation" if status == 417 else "refused")


def respond(reply: Reply) -> web.Response:
    """The response for one of the door's own answers."""
    assert isinstance(reply.body, bytes), "the door's own answers are no streams"
    return web.Response(status=reply.status, body=reply.body or None, headers=signed(reply.headers))
