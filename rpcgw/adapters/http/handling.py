"""One request through the door: head, body, answer, bytes out, afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import lru_cache
from typing import cast

from aiohttp import web

from rpcgw.adapters.http import bodies
from rpcgw.adapters.http.answers import failure, signed, signed_and_varying
from rpcgw.adapters.http.connections import Connection, Report
from rpcgw.adapters.http.cors import Cors, is_preflight
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.whole import Whole, head, is_ordinary
from rpcgw.exchange import Entrance, Head, Inbound, Pending, Reply, settled

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
STOPPING = failure(503, "the server is stopping")


class SelfCancelled(Exception):
    """A call ended the task that it runs in, which is its connection's."""


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


class Begun:
    """The stream that goes out while its answer is still worked on, if there is one: `Inbound.begin`."""

    __slots__ = ("_request", "_write", "task")

    def __init__(
        self, request: web.Request, write: Callable[[web.Request, Reply], Coroutine[None, None, web.StreamResponse]]
    ) -> None:
        self._request = request
        self._write = write
        self.task: asyncio.Task[web.StreamResponse] | None = None

    def begin(self, reply: Reply) -> None:
        """Write it, beside the work on it."""
        assert self.task is None, "a request has one answer"
        self.task = asyncio.get_running_loop().create_task(self._write(self._request, reply))

    async def drop(self) -> None:
        """Stop writing."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])


class Handling:
    """How one entrance's requests are handled; all that can be known before a request is known here."""

    def __init__(self, entrance: Entrance, report: Report, state: State, after: Afterwards) -> None:
        self._entrance = entrance
        self._report = report
        self._state = state
        self._after = after
        # Endpoints send the same few sets of fields over and over.
        self._fields = lru_cache(64)(signed_and_varying if entrance.origins else signed)
        self._allowed = Reply(204, b"", (("Allow", ", ".join(dict.fromkeys([*entrance.methods, "OPTIONS"]))),))

    def handler(self) -> Handler:
        """The aiohttp handler for every method but OPTIONS."""
        entrance = self._entrance
        admit, answer, limit, write = entrance.admit, entrance.answer, entrance.max_body_bytes, self._write
        current_task, read = asyncio.current_task, bodies.read

        async def handle(request: web.Request) -> web.StreamResponse:
            connection = cast(Connection, request.protocol)
            connection.task = current_task()
            begun = Begun(request, write)
            try:
                asked = head_of(request, connection)
                verdict = admit(asked)
                if isinstance(verdict, Pending):
                    verdict = await verdict.settle()
                if isinstance(verdict, Reply):
                    return await write(request, verdict)
                body = await read(request, limit)
                reply = await answer(verdict, Inbound(asked, body, connection.gone, begun.begin))
                return await write(request, reply) if begun.task is None else await self._finish(begun.task, reply)
            except asyncio.CancelledError:
                return await self._cut(request, connection, begun)
            except Exception as error:  # noqa: BLE001 -- the door is where anything unforeseen becomes an answer
                await begun.drop()
                return await self._refuse(request, connection, error)
            finally:
                connection.task = None

        return handle

    async def _finish(self, stream: asyncio.Task[web.StreamResponse], reply: Reply) -> web.StreamResponse:
        """Wait until a stream is out that was begun before its answer was ready."""
        response = await stream
        if reply.after is not None:
            self._after.start(reply.after)
        return response

    async def _cut(self, request: web.Request, connection: Connection, begun: Begun) -> web.StreamResponse:
        """A call was cut off: what its stream says last still goes out, or a short answer where there is none."""
        if self._state.cutting and begun.task is not None and not begun.task.done():
            return await begun.task
        await begun.drop()
        if not self._state.cutting and connection.transport is not None:
            # Only a drain cuts calls off while somebody listens: this one has cancelled its own task.
            _uncancelled()
            return await self._refuse(request, connection, SelfCancelled("a procedure cancelled the task it runs in"))
        if not self._state.cutting or request.writer.output_size:
            raise asyncio.CancelledError
        return self._state.respond(STOPPING)

    def options(self, cors: Cors | None) -> Handler:
        """The aiohttp handler for OPTIONS: preflights go to `cors`, anything else asks what methods there are."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if cors is not None and is_preflight(request):
                return self._state.closing(await cors.preflight(request))
            verdict = await settled(self._entrance.admit(head_of(request, cast(Connection, request.protocol))))
            # The guards hold; which methods there are is told without a token.
            if isinstance(verdict, Reply) and verdict.status not in {401, 405}:
                return await self._write(request, verdict)
            return await self._write(request, self._allowed)

        return handle

    async def _write(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        """Hand the answer to aiohttp, or write it here where something is to happen once the bytes are out."""
        self._report("request", endpoint=self._entrance.name, status=str(reply.status))
        headers, body = self._fields(reply.headers), reply.body
        response: web.StreamResponse
        if isinstance(body, bytes):
            if body and reply.after is None and not self._state.draining and is_ordinary(request):
                return Whole(reply.status, head(reply.status, headers), body)
            response = self._state.closing(web.Response(status=reply.status, body=body or None, headers=headers))
            if reply.after is None:
                return response
            await _write_whole(request, response)
        else:
            response = self._state.closing(web.StreamResponse(status=reply.status, headers=headers))
            await self._write_pieces(request, response, body)
        if reply.after is not None:
            self._after.start(reply.after)
        return response

    async def _write_pieces(
        self, request: web.Request, response: web.StreamResponse, pieces: AsyncIterator[bytes]
    ) -> None:
        """Write a stream, chunked on HTTP/1.1. It ends early, without an error, when the peer leaves."""
        try:
            await response.prepare(request)
            async for piece in pieces:
                if piece:
                    await response.write(piece)
            await response.write_eof()
        except ConnectionError:
            if request.transport is not None:  # not the peer: whatever makes the pieces has failed
                raise
        finally:
            if (close := getattr(pieces, "aclose", None)) is not None:
                await close()
        self._state.closing(response)

    async def _refuse(self, request: web.Request, connection: Connection, error: Exception) -> web.StreamResponse:
        """What an error in handling becomes on the wire."""
        if connection.transport is None:  # the peer has left: nobody reads what is returned here
            return self._state.respond(STOPPING)
        if isinstance(error, bodies.TooLarge):
            return await self._write(request, self._entrance.too_large(head_of(request, connection)))
        if isinstance(error, bodies.Unreadable):
            return await self._write(request, failure(400, "the body cannot be read as its head declares it"))
        if isinstance(error, bodies.UnknownCoding):
            return await self._write(request, failure(415, "unknown content coding", bodies.ACCEPTED))
        self._report("http.failed", endpoint=self._entrance.name, exception=error)
        if request.writer.output_size:  # a broken stream ends without its last chunk, so that the client can tell
            connection.end()
            raise ConnectionResetError("the stream broke")
        return await self._write(request, failure(500, "internal error"))


def _uncancelled() -> None:
    """Let the current task, which serves the connection's next requests too, count as cancelled no more."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def head_of(request: web.Request, connection: Connection) -> Head:
    """What is known before the body."""
    url = request.rel_url
    return Head(request.method, url.path, url.raw_query_string, request.headers, connection.peer, connection.unix)


async def _write_whole(request: web.Request, response: web.StreamResponse) -> None:
    try:
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        pass  # the peer has left; what comes after the answer happens all the same
