"""A connection without a network: what a door's protocol is fed, what requests it sees, and what it writes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rpcgw.adapters.http.front import Front
from rpcgw.exchange import Inbound

MOST_WAITS = 20
TURNS = 12
"""Turns of the loop after which nothing moves any more."""
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]+")

Seen = tuple[str, str, str | None, str, bytes]
"""A request as an entrance saw it: method, path, query, Content-Type, body."""


def seen(inbound: Inbound) -> Seen:
    """What two doors must agree on."""
    head = inbound.head
    return head.method, head.path, head.query, head.headers.get("content-type") or "", inbound.body


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.closed = False
        self.protocol: asyncio.Protocol | None = None

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self.protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self.protocol is not None
        return self.protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed, "nothing is written to a connection that is closed"
        self.written += data

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        for data in list_of_data:
            self.write(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


@dataclass
class Outcome:
    """What came of some bytes."""

    seen: list[Seen] = field(default_factory=list)
    written: bytes = b""
    closed: bool = False


async def feed(make: Callable[[list[Seen]], asyncio.Protocol], pieces: Sequence[bytes]) -> Outcome:
    """Feed a connection piece by piece; what is incomplete at the end is handed over, as if time had passed.

    A few pieces are fed each once all before them had their effect; of many, several at once.
    """
    outcome = Outcome()
    wire = Wire()
    wire.set_protocol(make(outcome.seen))
    assert wire.protocol is not None
    wire.protocol.connection_made(wire)
    for number, piece in enumerate(pieces):
        if wire.closed:
            break
        wire.protocol.data_received(piece)
        if number % (1 + len(pieces) // MOST_WAITS) == 0:
            await settle()
    await settle()
    if isinstance(wire.protocol, Front):
        wire.protocol.hand_over()
        await settle()
    outcome.written, outcome.closed = _DATE.sub(b"then", bytes(wire.written)), wire.closed
    wire.closed = True
    wire.protocol.connection_lost(None)
    await settle()
    return outcome


async def settle() -> None:
    """Let everything happen that is due."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
