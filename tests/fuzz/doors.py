"""A gateway in this process whose endpoints are asked with anything, from the head to the reply, without HTTP."""

from __future__ import annotations

import atexit
import re
import tempfile
from contextlib import ExitStack
from functools import cache
from typing import Annotated

from annotated_types import Interval, MinLen

import rpcgw as rpc
from rpcgw.exchange import Head, Inbound
from rpcgw.gateway.model import Gateway
from rpcgw.protocol.mcp.listing import Listing
from rpcgw.testing.compiling import compile_plugin
from rpcgw.testing.running import Running, running

_CURSOR = re.compile(rb'"nextCursor":"([^"]+)"')


@rpc.procedure("Fuzzed", groups=["general", "mcp"])
class Fuzzed:
    """What is called with whatever came through."""

    async def add(self, left: int, right: int = 0) -> int:
        """Add two numbers."""
        return left + right

    @rpc.cache(ttl=60)
    async def find(
        self, words: Annotated[str, MinLen(1)], limit: Annotated[int, Interval(ge=1, le=9)] = 3
    ) -> list[str]:
        """Find words."""
        return [words] * limit

    @rpc.lock(by="name", ttl=1)
    async def keep(self, name: str, anything: object = None) -> object:
        """Give back what came."""
        return anything


PLUGIN = rpc.Plugin(procedures=[Fuzzed])


@cache
def _opened() -> tuple[Gateway, Running]:
    """The gateway, until the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    place = stack.enter_context(tempfile.TemporaryDirectory(prefix="rpcgw-fuzz-"))
    settings = {"defaults": {"tools": {"page_size": 2}}, "logging": {"level": "error"}}
    gateway = compile_plugin(PLUGIN, name="fuzzed", config=None, settings=settings, environment="prod", state_dir=place)
    return gateway, stack.enter_context(running(gateway))


def ask(pattern: str, head: Head, body: bytes) -> tuple[int, bytes, str]:
    """The status, the content and its type of a reply."""
    received = _opened()[1].ask(pattern, Inbound(head, body))
    return received.status, received.body, received.headers.get("content-type", "")


@cache
def listing() -> Listing:
    """The list of tools, of several pages."""
    gateway, _ = _opened()
    return gateway.mcp[0].endpoint.listing(frozenset())


@cache
def first_cursor() -> str:
    """What the first page names as the next."""
    page = listing().page(None, "en")
    assert isinstance(page, bytes)
    found = _CURSOR.search(page)
    assert found is not None
    return found[1].decode()
