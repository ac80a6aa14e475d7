"""Keep-alive connections in a closed loop: each sends the same request again as soon as its answer is complete.

Every answer is judged. What the latencies tell is how long a client of this many connections waits; a client that sends
at a rate of its own would wait longer where the server is busy.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from array import array
from collections.abc import Callable
from dataclasses import field

from rpcgw.api.records import record
from rpcgw.cli.load.wire import Answered, Asked, NotFramedError, first

Judge = Callable[[Answered], bool]
"""Whether an answer is right."""

_WRONG_KEPT = 3
_SHOWN = 400


@record(frozen=True, slots=True)
class Place:
    """Where a server is; `tls` where it speaks TLS."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None

    @property
    def name(self) -> str:
        """What `Host` says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


@record(slots=True)
class Result:
    """What came of a load: how many answers in how many seconds, latencies in seconds, and the first wrong answers."""

    answers: int = 0
    wrong: int = 0
    seconds: float = 0.0
    latencies: array[float] = field(default_factory=lambda: array("d"))
    told: list[str] = field(default_factory=list)

    @property
    def rps(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds if self.seconds else 0.0

    def fail(self, what: str) -> None:
        """Count something that went wrong; the first few are kept."""
        self.wrong += 1
        if len(self.told) < _WRONG_KEPT:
            self.told.append(what[:_SHOWN])


def percentile(latencies: array[float], share: float) -> float:
    """The latency that this share of all is not above; 0 where there is none."""
    ordered = sorted(latencies)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


@record(frozen=True, slots=True)
class Load:
    """How much: connections, seconds, and how many answers at most; `silence` is how long one answer may take."""

    connections: int = 16
    seconds: float = 10.0
    answers: int = 20_000_000
    silence: float = 10.0


async def load(place: Place, asked: Asked, judge: Judge, how: Load) -> Result:
    """Load a server, and tell what came of it.

    Raises:
        OSError: Nobody listens there.
    """
    loop = asyncio.get_running_loop()
    result = Result()
    raw = asked.raw(place.name)
    begin = time.perf_counter()
    until = begin + how.seconds
    made: list[_Connection] = []
    try:
        for _ in range(how.connections):
            connection = _Connection(raw, judge, result, until, how)
            made.append(connection)
            await loop.create_connection(lambda: connection, place.host, place.port, ssl=place.tls)  # noqa: B023 -- awaited
        await asyncio.wait([connection.done for connection in made], timeout=how.seconds + how.silence)
    finally:
        for connection in made:
            connection.give_up(how.silence)
    result.seconds = time.perf_counter() - begin
    return result


class _Connection(asyncio.Protocol):
    """One connection. An answer as long as one that was right before, with the same body, is right as well."""

    def __init__(self, raw: bytes, judge: Judge, result: Result, until: float, how: Load) -> None:
        self._raw, self._judge, self._result, self._until = raw, judge, result, until
        self._most = how.answers
        self._buffer = b""
        self._sent = 0.0
        self._known = b""
        self._line = b""
        self._size = -1
        self._transport: asyncio.Transport | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is an asyncio.Transport, and does not derive from it
        self._send()

    def _send(self) -> None:
        assert self._transport is not None
        self._sent = time.perf_counter()
        self._transport.write(self._raw)

    def data_received(self, data: bytes) -> None:
        """Wait for the whole answer, judge it, send the next request."""
        if self._buffer:
            data = self._buffer + data
            self._buffer = b""
        if len(data) != self._size or not (data.startswith(self._line) and data.endswith(self._known)):
            try:
                answer = first(data)
            except NotFramedError as error:
                self._fail(str(error))
                return
            if answer is None:
                self._buffer = data
                return
            if len(data) > answer.size:
                self._fail("more came than one answer")
                return
            self._weigh(answer)
        self._count()

    def _weigh(self, answer: Answered) -> None:
        if not self._judge(answer):
            self._result.fail((answer.head + b"\r\n\r\n" + answer.body).decode("utf-8", "replace"))
        elif answer.body and answer.size == len(answer.head) + 4 + len(answer.body):
            self._known, self._size = b"\r\n\r\n" + answer.body, answer.size
            self._line = answer.head.partition(b"\r\n")[0]

    def _count(self) -> None:
        now = time.perf_counter()
        result = self._result
        result.answers += 1
        result.latencies.append(now - self._sent)
        if now < self._until and result.answers < self._most:
            self._send()
        else:
            self._end()

    def _fail(self, what: str) -> None:
        self._result.fail(what)
        self._end()

    def _end(self) -> None:
        if not self.done.done():
            self.done.set_result(None)
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The load is over, or the server hung up."""
        if not self.done.done():
            self._fail(f"the connection was lost: {exc or 'the server closed it'}")

    def give_up(self, silence: float) -> None:
        """End where an answer did not come."""
        if not self.done.done():
            self._fail(f"no answer within {silence:g} s")
