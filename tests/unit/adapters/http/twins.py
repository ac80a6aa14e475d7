"""Two doors before the same house, one with the fast front and one without, and what each says to the same bytes."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from rpcgw.access.guards import compile_guards
from rpcgw.access.policies import rpc_policy
from rpcgw.access.tokens import compile_tokens
from rpcgw.adapters.http.door import Door
from rpcgw.adapters.http.health import Part
from rpcgw.endpoints import rpc
from rpcgw.exchange import Entrance
from rpcgw.protocol import jsonrpc
from tests.golden.mcp_demo import GROUP
from tests.golden.mcp_requests import MAX_BODY_BYTES, initialize
from tests.unit.endpoints.house import house

LAST = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
"""Sent after each request: its answer ends the connection, so that all that was said before is in hand."""
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]+")
_SESSION = re.compile(rb"\r\nMcp-Session-Id: ([^\r]+)")


@dataclass(frozen=True)
class Said:
    """All bytes that a door sent, the time left out, and how many requests its fast front answered."""

    data: bytes
    answered: int


def both(**change: object) -> tuple[Entrance, ...]:
    """`/mcp` and `/rpc` before one kernel whose clock stands still and whose ids count; `change` is `house`'s."""
    place = house(**change)  # type: ignore[arg-type]  # as it is given
    services = place.services
    endpoint = jsonrpc.Endpoint(
        name=f"{GROUP}_ufo_rpc_api_server",
        prefix="/rpc",
        group=GROUP,
        versions=(1, 2),
        document=lambda version, locale, head_only, granted=frozenset(), off=frozenset(): None,
        negotiate=lambda accepted: "uk" if accepted == "uk" else "en",
        limits=jsonrpc.Limits(max_body_bytes=MAX_BODY_BYTES, max_batch=4),
    )
    policy = rpc_policy(compile_guards(), compile_tokens("ufo-rpc-token", []), protected_api=False, protected_doc=False)
    calls = rpc.Services(services.executor, services.ids, services.clock, services.observer)
    return (*place.doors, *rpc.entrances(endpoint, policy, calls))


async def ask(
    make: Callable[[], Sequence[Entrance]], raw: bytes, *, fast_front: bool, revision: str | None, short: bool = True
) -> Said:
    """What a door of its own says to a request, in a session that was begun with `revision`.

    `short` ways to an answer are taken where an endpoint has one; otherwise the long one is taken to every answer.
    """
    entrances = [entrance if short else replace(entrance, quick=None) for entrance in make()]
    async with _door(entrances, fast_front=fast_front) as (door, port):
        session = b""
        if revision is not None:
            opened = _SESSION.search(await _talk(port, initialize(revision) + LAST))
            assert opened is not None
            session = opened[1]
        before = door.tally.answered
        data = await _talk(port, raw.replace(b"@SESSION@", session) + LAST)
        return Said(_DATE.sub(b"then", data), door.tally.answered - before)


@asynccontextmanager
async def _door(entrances: Sequence[Entrance], *, fast_front: bool) -> AsyncIterator[tuple[Door, int]]:
    door = Door(entrances, parts=_nothing, report=lambda name, /, **fields: None, fast_front=fast_front)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    await door.open([listener])
    try:
        yield door, port
    finally:
        await door.drain(1.0, 0.0)


async def _talk(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    async with asyncio.timeout(30):
        said = await reader.read()
    writer.close()
    return said


async def _nothing() -> Sequence[Part]:
    return ()
