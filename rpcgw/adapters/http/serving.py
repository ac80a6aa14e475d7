"""One request from its head to its answer, whichever door it came through: admit, read, answer, write, afterwards.

Doors differ in how bytes come and go. What they do with a request is decided here, once.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, Final

from rpcgw.adapters.http import bodies
from rpcgw.adapters.http.answers import failure, signed, signed_and_varying
from rpcgw.adapters.http.connections import Report
from rpcgw.adapters.http.cors import reading
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.whole import Opening
from rpcgw.exchange import Answered, Entrance, Head, HeaderFields, Inbound, Pending, Reply, Settling, Verdict
from rpcgw.kernel.driving import first_step, resumed

STOPPING = failure(503, "the server is stopping")
_BODIES: Final = {
    bodies.Unreadable: failure(400, "the body cannot be read as its head declares it"),
    bodies.TooSlow: failure(408, "the body did not come in time", (("Connection", "close"),)),
    bodies.UnknownCoding: failure(415, "unknown content coding", bodies.ACCEPTED),
    bodies.UnknownTransfer: failure(501, "unknown transfer coding", (("Connection", "close"),)),
}
"""The answers to bodies that cannot be had."""


class SelfCancelled(Exception):
    """A call ended the task that it runs in."""


class Exchange(ABC):
    """One request on its connection, as a door holds it: how its body is read and its answer written.

    `begun` writes the stream that goes out while its answer is still worked on, if there is one (`Inbound.begin`).
    `since` is when the head was known (`perf_counter`), `received` how many bytes of a body were read.
    """

    __slots__ = ("begun", "head", "received", "since")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.since = perf_counter()
        self.received = 0
        self.begun: asyncio.Task[None] | None = None

    @property
    @abstractmethod
    def there(self) -> bool:
        """Whether the peer is still connected."""

    @property
    @abstractmethod
    def written(self) -> bool:
        """Whether part of an answer is out."""

    @abstractmethod
    async def read(self, limit: int) -> bytes:
        """The body; see `bodies.read`."""

    @abstractmethod
    def at_hand(self, limit: int) -> bytes:
        """The body of a request that is here as a whole; raises what `bodies.read` does."""

    @abstractmethod
    async def gone(self) -> None:
        """Return when the peer has left."""

    async def write(self, opening: Opening, body: bytes) -> None:
        """Answer in one piece; that nobody is left to read it is no error."""
        if self.put(opening, body):
            await self.taken()

    @abstractmethod
    def put(self, opening: Opening, body: bytes) -> bool:
        """Answer in one piece; whether to await `taken` before anything else is written."""

    @abstractmethod
    async def taken(self) -> None:
        """Return when the reader has taken enough of what was written, or has left."""

    @abstractmethod
    async def stream(self, opening: Opening, pieces: AsyncIterator[bytes]) -> None:
        """Answer piece by piece. Ends early, without an error, when the peer leaves; `pieces` is closed either way."""

    @abstractmethod
    def break_off(self) -> None:
        """End the connection, so that the peer can tell that what it got is not all."""


class Afterwards:
    """What replies leave to be done once their bytes are out; a drain waits for it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it now, beside the connection's next request."""
        task = asyncio.get_running_loop().create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 -- the answer is out; nobody is left to be told but the log
            self._report("after.failed", exception=error)

    async def finish(self, within: float, cut: float) -> None:
        """Wait for all of it; what is left after `within` seconds is cancelled and has `cut` seconds to end."""
        if self._tasks and (late := (await asyncio.wait(self._tasks, timeout=within))[1]):
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=cut)


class Serving:
    """How one entrance's requests are served; all that can be known before a request is known here."""

    def __init__(self, entrance: Entrance, report: Report, answered: Answered, state: State, after: Afterwards) -> None:
        self.entrance = entrance
        self._report = report
        self._answered = answered
        self._state = state
        self._after = after
        # Endpoints send the same few sets of fields over and over.
        sign = signed_and_varying if entrance.origins else signed
        self._opening = lru_cache(64)(lambda status, headers, shown: Opening(status, sign(headers) + shown))
        self._shown = reading(entrance)

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request. Runs in a task that serves nothing else meanwhile, and that a drain may cancel.

        Raises:
            CancelledError, ConnectionError: Nothing more can be said on this connection.
        """
        return await self._kept(exchange, self._entered(exchange))

    def begin(self, exchange: Exchange) -> Coroutine[Any, Any, None] | None:
        """Answer a request that is here as a whole at once, where nothing has to be waited for.

        Else give the rest, which is as `serve`, to be awaited in the very task that this was called in.
        """
        entrance = self.entrance
        if entrance.quick is None:
            return self.serve(exchange)
        try:
            head = exchange.head if entrance.seen is None else self._seen(exchange)
            verdict = entrance.admit(head)
            if isinstance(verdict, Pending):
                settling = verdict.settle()
                over, given = first_step(settling)
                if not over:
                    return self._kept(exchange, self._settled(exchange, settling, given))
                verdict = given
            if isinstance(verdict, Reply):
                return self._put(exchange, verdict)
            inbound = self._inbound(exchange, exchange.at_hand(entrance.max_body_bytes))
            made = entrance.quick(verdict, inbound)
            if isinstance(made, Reply):
                return self._put(exchange, made)
            work = made or entrance.answer(verdict, inbound)
        except Exception as error:  # noqa: BLE001 -- the door is where anything unforeseen becomes an answer
            return self._refuse(exchange, error)
        return self._kept(exchange, self._answered_by(exchange, work))

    async def _kept(self, exchange: Exchange, work: Awaitable[None]) -> None:
        """What `work` writes, or what there is to say where it fails or is cut off."""
        try:
            return await work
        except asyncio.CancelledError:
            return await self._cut(exchange)
        except Exception as error:  # noqa: BLE001 -- the door is where anything unforeseen becomes an answer
            await _drop(exchange)
            return await self._refuse(exchange, error)

    async def _entered(self, exchange: Exchange) -> None:
        return await self._judged(exchange, self.entrance.admit(self._seen(exchange)))

    async def _settled(self, exchange: Exchange, settling: Settling, waiting: object) -> None:
        """The same for a verdict that has to be waited for, as its first step has shown."""
        return await self._judged(exchange, await resumed(settling, waiting))

    async def _judged(self, exchange: Exchange, verdict: Verdict) -> None:
        if isinstance(verdict, Pending):
            verdict = await verdict.settle()
        if isinstance(verdict, Reply):
            return await self.write(exchange, verdict)
        inbound = self._inbound(exchange, await exchange.read(self.entrance.max_body_bytes))
        made = None if self.entrance.quick is None else self.entrance.quick(verdict, inbound)
        if isinstance(made, Reply):
            return await self.write(exchange, made)
        return await self._answered_by(exchange, made or self.entrance.answer(verdict, inbound))

    async def _answered_by(self, exchange: Exchange, work: Awaitable[Reply]) -> None:
        reply = await work
        if exchange.begun is None:
            return await self.write(exchange, reply)
        return await self._finish(exchange.begun, reply)

    def _seen(self, exchange: Exchange) -> Head:
        """The head, as it is to everybody here."""
        if self.entrance.seen is not None:
            exchange.head = self.entrance.seen(exchange.head)
        return exchange.head

    def _inbound(self, exchange: Exchange, body: bytes) -> Inbound:
        exchange.received = len(body)
        return Inbound(exchange.head, body, exchange.gone, partial(self._begin, exchange))

    def _put(self, exchange: Exchange, reply: Reply) -> Coroutine[Any, Any, None] | None:
        """Write an answer that is ready; what is left to be awaited where its reader is slow."""
        body = reply.body
        assert isinstance(body, bytes), "a stream is never ready"
        seconds = perf_counter() - exchange.since
        self._answered(exchange.head, reply.status, exchange.received, len(body), seconds)
        waits = exchange.put(self._open_again(exchange, reply), body)
        if reply.after is not None:
            self._after.start(reply.after)
        return exchange.taken() if waits else None

    async def write(self, exchange: Exchange, reply: Reply) -> None:
        """Write an answer, count it, and begin what is to happen once its bytes are out."""
        opening, body = self._open(exchange, reply), reply.body
        if isinstance(body, bytes):
            self._tell(exchange, reply.status, len(body))
            await exchange.write(opening, body)
        else:
            pieces = _Weighed(body)
            try:
                await exchange.stream(opening, pieces)
            finally:
                self._tell(exchange, reply.status, pieces.size)
        if reply.after is not None:
            self._after.start(reply.after)

    def _open(self, exchange: Exchange, reply: Reply) -> Opening:
        return self._opening(reply.status, reply.headers, self._shown(exchange.head))

    def _open_again(self, exchange: Exchange, reply: Reply) -> Opening:
        """As `_open`; requests with the same head mostly have answers with the same one."""
        memo = exchange.head.memo
        if memo is None:
            return self._open(exchange, reply)
        known: tuple[HeaderFields, Opening] | None = memo.get(self)
        if known is not None and known[0] is reply.headers and known[1].status == reply.status:
            return known[1]
        opening = self._open(exchange, reply)
        memo[self] = reply.headers, opening
        return opening

    def _tell(self, exchange: Exchange, status: int, sent: int) -> None:
        self._answered(exchange.head, status, exchange.received, sent, perf_counter() - exchange.since)

    def _begin(self, exchange: Exchange, reply: Reply) -> None:
        """Write a stream beside the work on it."""
        assert exchange.begun is None, "a request has one answer"
        exchange.begun = asyncio.get_running_loop().create_task(self.write(exchange, reply))

    async def _finish(self, stream: asyncio.Task[None], reply: Reply) -> None:
        """Wait until a stream is out that was begun before its answer was ready."""
        await stream
        if reply.after is not None:
            self._after.start(reply.after)

    async def _cut(self, exchange: Exchange) -> None:
        """A call was cut off: what its stream says last still goes out, or a short answer where there is none."""
        if self._state.cutting and exchange.begun is not None and not exchange.begun.done():
            return await exchange.begun
        await _drop(exchange)
        if not self._state.cutting and exchange.there:
            # Only a drain cuts calls off while somebody listens: this one has cancelled its own task.
            _uncancelled()
            return await self._refuse(exchange, SelfCancelled("a procedure cancelled the task it runs in"))
        if not self._state.cutting or exchange.written:
            raise asyncio.CancelledError
        return await self._say(exchange, STOPPING)

    async def _refuse(self, exchange: Exchange, error: Exception) -> None:
        """What an error in handling becomes on the wire."""
        if not exchange.there:  # nobody reads what is said here
            return await self._say(exchange, STOPPING)
        if isinstance(error, bodies.TooLarge):
            return await self.write(exchange, self.entrance.too_large(exchange.head))
        if (refusal := _BODIES.get(type(error))) is not None:
            return await self.write(exchange, refusal)
        self._report("http.failed", endpoint=self.entrance.name, exception=error)
        if exchange.written:  # a broken stream ends without its last chunk, so that the client can tell
            exchange.break_off()
            raise ConnectionResetError("the stream broke")
        return await self.write(exchange, failure(500, "internal error"))

    async def _say(self, exchange: Exchange, reply: Reply) -> None:
        """One of the door's own answers, which no endpoint gave and no metric counts."""
        assert isinstance(reply.body, bytes), "the door's own answers are no streams"
        return await exchange.write(self._open(exchange, reply), reply.body)


class _Weighed:
    """A stream's pieces, and how many bytes of them were taken."""

    __slots__ = ("_pieces", "size")

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self.size = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        piece = await self._pieces.__anext__()
        self.size += len(piece)
        return piece

    async def aclose(self) -> None:
        """Close what makes the pieces."""
        if (close := getattr(self._pieces, "aclose", None)) is not None:
            await close()


async def _drop(exchange: Exchange) -> None:
    """Stop writing a stream that was begun."""
    if exchange.begun is not None:
        exchange.begun.cancel()
        await asyncio.wait([exchange.begun])


def _uncancelled() -> None:
    """Let the current task, which may serve the connection's next requests too, count as cancelled no more."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
