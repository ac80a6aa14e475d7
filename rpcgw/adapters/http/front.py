"""The fast front: a small door before aiohttp's, for the one shape that nearly all of the traffic has.

A complete, strictly well-formed POST to a known path is answered here, through the same `Serving` that aiohttp's
handlers call. Everything else is aiohttp's: before anything of it was consumed, the connection is handed over for good.
Only public interfaces of asyncio and aiohttp are used.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from rpcgw.adapters.http import heads
from rpcgw.adapters.http.arrived import Arrived
from rpcgw.adapters.http.bounds import Bounds
from rpcgw.adapters.http.connections import Connection, Connections, Departure, Report, peer_of
from rpcgw.adapters.http.host import Host, Work
from rpcgw.adapters.http.serving import Serving
from rpcgw.adapters.http.state import State
from rpcgw.exchange import Head

PATIENCE: Final = 0.5
"""Seconds that the rest of a request is waited for; what is slower is aiohttp's, with all of its time limits."""
LONGEST_KNOWN: Final = 2_048
"""Bytes of the longest head that a connection keeps between its requests; there may be many connections."""
MOST_WAITING: Final = 65_536
"""Bytes that may come while a request runs; no more are read then until it has its answer."""


class Tally:
    """What became of requests that a front saw: `answered` by it, and connections `handed` over."""

    __slots__ = ("answered", "handed")

    def __init__(self) -> None:
        self.answered = 0
        self.handed = 0


@dataclass(frozen=True, slots=True)
class Ways:
    """Where a front's requests go: `routes` by exact target, everything else to a `connection` of aiohttp's."""

    routes: Mapping[str, Serving]
    connection: Callable[[], Connection]
    connections: Connections
    state: State
    report: Report
    bounds: Bounds
    tally: Tally


class Known:
    """A head that came on a connection: how its requests are answered, and where in the bytes their bodies are."""

    __slots__ = ("answer", "begin", "end", "head", "last", "lead")

    def __init__(self, request: heads.Request, head: Head, answer: Callable[[Arrived], Work | None]) -> None:
        self.lead = request.lead
        self.begin = len(request.lead)
        self.end = self.begin + request.length
        self.last = request.last
        self.head = head
        self.answer = answer


class Front(asyncio.Protocol):
    """One connection, as long as all of its requests are of the usual shape.

    `task` serves the request in progress; further ones wait in the buffer for their turn. `last` says that the answer
    which is out is the last one here.
    """

    __slots__ = (
        "_buffer",
        "_departure",
        "_due",
        "_host",
        "_idle",
        "_known",
        "_loop",
        "_needed",
        "_patience",
        "_served",
        "_stuffed",
        "_unread",
        "last",
        "peer",
        "rested",
        "task",
        "transport",
        "unix",
        "ways",
    )

    def __init__(self, ways: Ways, loop: asyncio.AbstractEventLoop) -> None:
        self.ways = ways
        self._loop = loop
        self._departure = Departure()
        self._buffer: bytes | bytearray = b""
        self._needed = 0
        self._known: Known | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self.rested = 0.0
        self._served = False
        self._due = False
        self._host = Host(loop, self._rest)
        self._stuffed = False
        self._unread: asyncio.Future[None] | None = None
        self.last = False
        self.peer = ""
        self.unix = False
        self.task: asyncio.Task[Any] | None = None
        self.transport: asyncio.Transport | None = None

    # -- what the transport tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, for as long as an idle connection is kept."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one, and does not derive from it
        self.peer, self.unix = peer_of(transport)
        if not self.unix and (own := transport.get_extra_info("socket")) is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.ways.connections.made(self)
        self.rested = self._loop.time()
        self._idle = self._loop.call_later(self.ways.bounds.keep_alive, self._look_whether_idle)

    def data_received(self, data: bytes) -> None:
        """Begin with a request as soon as all of it is here."""
        if self.transport is None:
            return
        if not self._buffer:
            self._buffer = data
        else:
            if isinstance(self._buffer, bytes):
                self._buffer = bytearray(self._buffer)
            self._buffer += data
        if self.task is None and not self._due:
            if len(self._buffer) >= self._needed:
                self._advance()
        elif len(self._buffer) > MOST_WAITING and not self._stuffed:
            self._stuffed = True
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        """The peer reads more slowly than we write."""
        self._unread = self._loop.create_future()

    def resume_writing(self) -> None:
        """It has read enough."""
        unread, self._unread = self._unread, None
        if unread is not None and not unread.done():
            unread.set_result(None)

    def connection_lost(self, _: Exception | None) -> None:
        """Tell who waits for it."""
        if self.transport is None:
            return
        self._leave()
        self._host.close()
        self.transport = None
        self.ways.connections.lost(self)
        self._departure.happened()
        self.resume_writing()

    # -- for whoever answers

    async def gone(self) -> None:
        """Return when the peer has left."""
        await self._departure.wait()

    @property
    def there(self) -> bool:
        """Whether the peer is still connected."""
        return self.transport is not None

    def put(self, data: bytes) -> bool:
        """Write, if anybody is there to read; whether to wait for `taken` before more is written."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return False
        transport.write(data)
        return self._unread is not None

    async def taken(self) -> None:
        """Return when the reader has taken enough of what was written, or has left."""
        if self._unread is not None:
            await asyncio.shield(self._unread)

    def end(self) -> None:
        """Close once what is written is out."""
        if self.transport is not None:
            self.transport.close()

    def overdue(self, now: float) -> bool:
        """Whether the connection's first request has been waited for too long; a later one's is aiohttp's to await."""
        return not self._served and now - self.rested > self.ways.bounds.head

    # -- from one request to the next

    def _advance(self) -> None:
        """Serve the request that the buffer begins with, wait for the rest of it, or let aiohttp have it."""
        known = self._known
        if known is None or not self._buffer.startswith(known.lead):
            known = self._recognised()
            self._known = known if known is not None and known.begin <= LONGEST_KNOWN else None
            if known is None:
                return
        if len(self._buffer) < known.end:
            self._wait(known.end)
        else:
            self._begin(known)

    def _recognised(self) -> Known | None:
        """The head that the buffer begins with; None where more is waited for, or aiohttp has it now."""
        request = heads.first(self._buffer)
        if isinstance(request, int):
            self._wait(request)
            return None
        serving = None if request is None else self.ways.routes.get(request.target)
        if request is None or serving is None or request.length > serving.entrance.max_body_bytes:
            self.hand_over()
            return None
        head = Head("POST", request.target, "", request.fields, self.peer, self.unix, request.memo)
        return Known(request, head, partial(self._answer, serving))

    def _begin(self, known: Known) -> None:
        """Serve a request that is here as a whole."""
        self._needed = 0
        self._served = True
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        buffer, end = self._buffer, known.end
        body = bytes(buffer[known.begin : end])
        if end == len(buffer):
            self._buffer = b""
        elif isinstance(buffer, bytearray):
            del buffer[:end]  # costs nothing but for the end of it, however many requests are still to come
        else:
            self._buffer = bytearray(buffer[end:])
        self.ways.tally.answered += 1
        if self._host.kept:
            self._host.close()
            self._host = Host(self._loop, self._rest)
        if self._host.run(known.answer, Arrived(known.head, body, self, self.ways.state, last=known.last)):
            self._rest()
        else:
            self.task = self._host.task

    def _answer(self, serving: Serving, arrived: Arrived) -> Work | None:
        """Answer, and give what is left to be waited for, if anything is."""
        try:
            rest = serving.begin(arrived)
        except BaseException:  # what nobody may hold back; there will be no answer
            self.end()
            raise
        return None if rest is None else self._serve(serving, rest)

    async def _serve(self, serving: Serving, rest: Coroutine[Any, Any, None]) -> None:
        try:
            await rest
        except (asyncio.CancelledError, ConnectionError):
            self.end()
        except Exception as error:  # noqa: BLE001 -- not even a failure could be told to the client
            self.ways.report("http.failed", endpoint=serving.entrance.name, exception=error)
            self.end()
        except BaseException:
            self.end()
            raise

    def _rest(self) -> None:
        """An answer is out: go on with what came meanwhile."""
        self.task = None
        self.rested = self._loop.time()
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if self.last:
            transport.close()
            return
        if self._stuffed and len(self._buffer) <= MOST_WAITING:
            self._read_on(transport)
        if self._buffer:  # in a turn of its own: whoever sends many at once does not keep others waiting
            self._due = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._due = False
        if self.transport is not None and self.task is None and self._buffer:
            self._advance()

    def _read_on(self, transport: asyncio.Transport) -> None:
        """Let the transport read again, where it was told not to."""
        if self._stuffed:
            self._stuffed = False
            transport.resume_reading()

    def _wait(self, needed: int) -> None:
        """Until so many bytes are here, but not for long."""
        self._needed = needed
        if self.transport is not None:
            self._read_on(self.transport)
        if self._patience is None:
            self._patience = self._loop.call_later(PATIENCE, self.hand_over)

    def _look_whether_idle(self) -> None:
        """Close a connection on which nothing has been asked for long enough."""
        since = self._loop.time() - self.rested
        if self.task is None and since >= self.ways.bounds.keep_alive:
            self.end()
        else:
            left = self.ways.bounds.keep_alive - (0.0 if self.task is not None else since)
            self._idle = self._loop.call_later(left, self._look_whether_idle)

    def _leave(self) -> None:
        """This protocol has nothing more to wait for."""
        for timer in (self._idle, self._patience):
            if timer is not None:
                timer.cancel()
        self._idle = self._patience = None

    def hand_over(self) -> None:
        """Let aiohttp have the connection, and all that is in hand of it, for good."""
        transport, ways = self.transport, self.ways
        self._leave()
        if transport is None or transport.is_closing():
            return
        self._host.close()
        self._read_on(transport)
        data, self._buffer, self.transport = bytes(self._buffer), b"", None
        ways.tally.handed += 1
        ways.connections.passed_on(self)
        inner = ways.connection()
        inner.connection_made(transport)
        transport.set_protocol(inner)
        if self._unread is not None:
            inner.pause_writing()
        inner.data_received(data)
