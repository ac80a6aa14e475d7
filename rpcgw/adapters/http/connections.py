"""Open connections of one worker: how many, which are busy, and how they end."""

from __future__ import annotations

import asyncio
import heapq
import socket
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Protocol, cast

from aiohttp import web
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError, LineTooLong

from rpcgw.adapters.http.answers import failure, respond
from rpcgw.adapters.http.bodies import ACCEPTED
from rpcgw.adapters.http.bounds import LONGEST_FIELD, LONGEST_TARGET, MOST_FIELDS, Bounds
from rpcgw.adapters.http.turns import LARGE, Gate, Turns
from rpcgw.exchange import Reply

LINGERING = 5.0
"""Seconds for which the rest of a refused body is read and thrown away, so that the client hears why."""
AWAY = 1 << 62
"""What a worker that takes no connections (dead, starting, draining) shows to its siblings."""


class Report(Protocol):
    """Takes what happened to the log and to counters; `Observer.event` has this shape."""

    def __call__(self, name: str, /, **fields: Any) -> None:
        """Never raises, never blocks."""


class Share:
    """How many connections each worker of a generation holds, in memory that all of them see.

    A worker writes its own cell only; the others read it to let the least loaded go first. `single` says that there
    are no others, but for a moment while one replaces another.
    """

    def __init__(self, cells: memoryview | list[int], slot: int, *, single: bool = False) -> None:
        self._cells = cells
        self._slot = slot
        self.single = single

    @classmethod
    def alone(cls) -> Share:
        """For a worker without siblings."""
        return cls([AWAY], 0, single=True)

    def publish(self, count: int) -> None:
        """Say how many connections this worker holds, or `AWAY`."""
        self._cells[self._slot] = count

    def ahead(self) -> bool:
        """Whether a sibling holds fewer connections, by more than one."""
        return self._cells[self._slot] > min(self._cells) + 1


class Held(Protocol):
    """One open connection: `task` serves the request in progress, and is None where there is none.

    `rested` is since when it is idle, by the loop's clock.
    """

    task: asyncio.Task[Any] | None
    rested: float

    def overdue(self, now: float) -> bool:
        """Whether the head of a request has been waited for too long."""

    def end(self) -> None:
        """Close once what is written is out."""


class Connections:
    """The open connections, counted from `accept` on, so that no copy is made to count them; `most` is a bound."""

    def __init__(self, share: Share, on_empty: Callable[[], None], most: int = AWAY) -> None:
        self.share = share
        self._most = most
        self._ending = 0
        self._on_empty = on_empty
        self._open: set[Held] = set()
        self._count = 0
        self._away = True

    def __iter__(self) -> Iterator[Held]:
        return iter(list(self._open))

    def __len__(self) -> int:
        return self._count

    @property
    def full(self) -> bool:
        """Whether one more would be too many. Those that are about to end do not count."""
        return self._count - self._ending >= self._most

    def make_room(self) -> int:
        """End those that have been idle longest, one in a hundred; how many."""
        idle = [connection for connection in self._open if connection.task is None]
        ended = heapq.nsmallest(max(len(idle) // 100, 1), idle, key=attrgetter("rested"))
        for connection in ended:
            connection.end()
        self._ending += len(ended)
        return len(ended)

    def end_overdue(self, now: float) -> int:
        """End those whose request does not come; how many."""
        late = [connection for connection in self._open if connection.overdue(now)]
        for connection in late:
            connection.end()
        return len(late)

    def welcome(self) -> None:
        """From now on this worker takes connections."""
        self._away = False
        self.share.publish(self._count)

    def leave(self) -> None:
        """From now on siblings need not wait for this worker."""
        self._away = True
        self.share.publish(AWAY)

    def accepted(self) -> None:
        """A connection was taken from the listening socket."""
        self._changed(+1)

    def lost(self, connection: Held | None) -> None:
        """A connection ended, or (None) never came to be."""
        if connection is not None:
            self._open.discard(connection)
        self._ending = max(self._ending - 1, 0)
        self._changed(-1)

    def made(self, connection: Held) -> None:
        """A connection that was taken now has its protocol."""
        self._open.add(connection)

    def passed_on(self, connection: Held) -> None:
        """A connection has another protocol now, which is `made` in its place."""
        self._open.discard(connection)

    def _changed(self, by: int) -> None:
        self._count += by
        if not self._away:
            self.share.publish(self._count)
        if not self._count:
            self._on_empty()


class Departure:
    """That the peer has left, for whoever waits for it. A future is made only where somebody does."""

    __slots__ = ("_future", "_left")

    def __init__(self) -> None:
        self._left = False
        self._future: asyncio.Future[None] | None = None

    def happened(self) -> None:
        """The peer has left."""
        self._left = True
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        """Return when the peer has left."""
        if self._left:
            return
        if self._future is None:
            self._future = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._future)


def peer_of(transport: asyncio.BaseTransport) -> tuple[str, bool]:
    """The peer's address ("" on a unix socket), and whether that is one."""
    listener = transport.get_extra_info("socket")
    name = transport.get_extra_info("peername")
    return str(name[0]) if isinstance(name, tuple) else "", listener is not None and listener.family == socket.AF_UNIX


class Connection(web.RequestHandler):
    """aiohttp's connection, which also knows its peer, whether it is busy, and who waits for its end.

    `task` is the task of the request in progress; None on an idle connection. `head` and `body` are how many seconds
    those of a request may take to come.
    """

    __slots__ = (
        "_awaited",
        "_connections",
        "_departure",
        "_gate",
        "_head",
        "_kept",
        "_now",
        "_report",
        "_turns",
        "body",
        "peer",
        "rested",
        "task",
        "unix",
    )

    def __init__(
        self,
        server: web.Server,
        connections: Connections,
        report: Report,
        *,
        loop: asyncio.AbstractEventLoop,
        bounds: Bounds,
        turns: Turns,
    ) -> None:
        super().__init__(
            server,
            loop=loop,
            keepalive_timeout=bounds.keep_alive,
            max_line_size=LONGEST_TARGET,
            max_field_size=LONGEST_FIELD,
            max_headers=MOST_FIELDS,
            lingering_time=LINGERING,
            access_log=None,  # type: ignore[arg-type]  # aiohttp takes None, and says so where it is called
        )
        self._now = loop.time
        self._head = bounds.head
        self.body = bounds.body
        self.rested = self._now()
        self._awaited: float | None = self.rested
        self._connections = connections
        self._report = report
        self._departure = Departure()
        self._turns = turns
        self._gate: Gate | None = None
        self._kept = b""
        self.task: asyncio.Task[Any] | None = None
        self.peer = ""
        self.unix = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember who it is."""
        self.peer, self.unix = peer_of(transport)
        self._connections.made(self)
        self._gate = Gate(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._gate))

    def data_received(self, data: bytes) -> None:
        """Note when a head begins to come; a large piece waits for its turn, and until then no more is read."""
        if not data:  # aiohttp calls itself to go on where it has paused; mostly it has not
            if self._gate is not None and not self._gate.wanted:
                super().data_received(data)
            return
        if self._awaited is None and self.task is None:
            self._awaited = self._now()
        if self._kept or (len(data) >= LARGE and not self._turns.take()):
            self._keep(data)
            return
        super().data_received(data)

    def _keep(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) == len(data) and self._gate is not None:
            self._gate.hold()
            self._turns.wait(self._take_turn)

    def _take_turn(self) -> None:
        """Go on with what was kept."""
        kept, self._kept = self._kept, b""
        if self.transport is not None and self._gate is not None:
            self._gate.release()
            super().data_received(kept)

    def begin(self) -> None:
        """A request's head is here, and the current task serves it."""
        self.task = asyncio.current_task()
        self._awaited = None

    def rest(self) -> None:
        """The request in progress is over."""
        self.task = None
        self._awaited = None
        self.rested = self._now()

    def overdue(self, now: float) -> bool:
        """Whether the head of a request has been waited for too long."""
        return self._awaited is not None and self.task is None and now - self._awaited > self._head

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell who waits for it."""
        self._connections.lost(self)
        self._departure.happened()
        super().connection_lost(exc)

    async def gone(self) -> None:
        """Return when the peer has left."""
        await self._departure.wait()

    def end(self) -> None:
        """Close once what is written is out."""
        if self.transport is not None:
            self.transport.close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer, in a line, what is no HTTP (400) or what no handler foresaw (500), and close.

        A body in a coding that aiohttp knows but has no library for comes here as well (415).
        """
        if request.writer.output_size > 0:
            raise ConnectionError("part of an answer is out already")
        reply = failure(status, "malformed request") if status < 500 else failure(status, "internal error")
        if isinstance(exc, ContentEncodingError):
            reply = failure(415, "unknown content coding", ACCEPTED)
        elif status < 500:
            reply = _too_long(exc) or reply
            self._report("http.malformed", peer=self.peer, text=str(message or exc).partition("\n")[0][:200])
        else:
            self._report("http.failed", peer=self.peer, path=request.path, exception=exc)
        response = respond(reply)
        response.force_close()
        return response


def _too_long(exc: BaseException | None) -> Reply | None:
    """414 and 431 (RFC 6585, section 5) for what is well-formed and too long; None for anything else."""
    if isinstance(exc, LineTooLong):
        target = exc.args[1:2] == (LONGEST_TARGET,)
        return failure(414, "the target is too long") if target else failure(431, "a field is too long")
    if isinstance(exc, HttpProcessingError) and exc.message.startswith("Too many headers"):
        return failure(431, f"more than {MOST_FIELDS} fields")
    return None
