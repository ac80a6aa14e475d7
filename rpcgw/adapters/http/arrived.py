"""A request that the fast front has in hand as a whole, and how its answer goes out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from rpcgw.adapters.http.bodies import TooLarge
from rpcgw.adapters.http.serving import Exchange
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.whole import Opening
from rpcgw.exchange import Head


class Line(Protocol):
    """The connection: `last` is set where an answer was its last one."""

    last: bool

    @property
    def there(self) -> bool:
        """Whether the peer is still connected."""

    async def gone(self) -> None:
        """Return when the peer has left."""

    def put(self, data: bytes) -> bool:
        """Write, if anybody is there to read; whether to wait for `taken` before more is written."""

    async def taken(self) -> None:
        """Return when the reader has taken enough of what was written, or has left."""

    def end(self) -> None:
        """Close once what is written is out."""


class Arrived(Exchange):
    """One request on a line, the `last` one where its client says so."""

    __slots__ = ("_body", "_last", "_line", "_state", "_written")

    def __init__(self, asked: Head, body: bytes, line: Line, state: State, *, last: bool = False) -> None:
        super().__init__(asked)
        self._last = last
        self._written = False
        self._body = body
        self._line = line
        self._state = state

    @property
    def there(self) -> bool:
        """Whether the peer is still connected."""
        return self._line.there

    @property
    def written(self) -> bool:
        """Whether part of an answer is out."""
        return self._written

    async def read(self, limit: int) -> bytes:
        """The body, which is in hand."""
        return self.at_hand(limit)

    def at_hand(self, limit: int) -> bytes:
        """The body. Raises `TooLarge`."""
        if len(self._body) > limit:
            raise TooLarge
        return self._body

    async def gone(self) -> None:
        """Return when the peer has left."""
        await self._line.gone()

    def put(self, opening: Opening, body: bytes) -> bool:
        """Write the answer; whether to wait for its reader."""
        line = self._line
        line.last = last = self._last or self._state.draining
        self._written = True
        return line.put(opening.whole(body, last=last))

    async def taken(self) -> None:
        """Return when the reader has taken enough of what was written, or has left."""
        await self._line.taken()

    async def stream(self, opening: Opening, pieces: AsyncIterator[bytes]) -> None:
        """Write a stream, chunked."""
        try:
            self._written = True
            await self._send(opening.chunked(last=self._last or self._state.draining))
            async for piece in pieces:
                if piece:
                    await self._send(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self._send(b"0\r\n\r\n")
        except ConnectionError:
            if self.there:  # not the peer: whatever makes the pieces has failed
                raise
        finally:
            if (close := getattr(pieces, "aclose", None)) is not None:
                await close()
        self._line.last = self._last or self._state.draining

    async def _send(self, data: bytes) -> None:
        if self._line.put(data):
            await self._line.taken()
        if not self.there:
            raise ConnectionResetError("the peer has left")

    def break_off(self) -> None:
        """End the connection."""
        self._line.end()
