"""Where a worker is in its life, as far as its answers show it."""

from __future__ import annotations

from typing import TypeVar

from aiohttp import web

from rpcgw.adapters.http.answers import respond
from rpcgw.exchange import Reply

_Response = TypeVar("_Response", bound=web.StreamResponse)


class State:
    """`lame`: no longer ready; `draining`: each answer is its connection's last; `cutting`: calls are being cut off."""

    __slots__ = ("cutting", "draining", "lame")

    def __init__(self) -> None:
        self.lame = False
        self.draining = False
        self.cutting = False

    def closing(self, response: _Response) -> _Response:
        """Say `Connection: close` on it and mean it, while draining.

        Both are needed: the header tells a client not to use the connection again, `force_close` makes aiohttp end it.
        """
        if self.draining:
            response.force_close()
            if not response.prepared:
                response.headers["Connection"] = "close"
        return response

    def respond(self, reply: Reply) -> web.Response:
        """The response for a reply in one piece."""
        return self.closing(respond(reply))
