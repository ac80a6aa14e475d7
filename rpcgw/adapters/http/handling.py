"""aiohttp's side of a request: its exchange, and the handlers that an entrance's routes are given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final, cast

from aiohttp import hdrs, web

from rpcgw.adapters.http import bodies
from rpcgw.adapters.http.answers import refusal, respond
from rpcgw.adapters.http.connections import Connection
from rpcgw.adapters.http.cors import Cors, is_preflight
from rpcgw.adapters.http.familiar import Familiar, Heads
from rpcgw.adapters.http.serving import Exchange, Serving
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.whole import Opening, Written, is_ordinary
from rpcgw.exchange import Head, Reply, settled

_NOT_OURS: Final = frozenset({400, 421})
"""What the Host guard says: a page that reached us under another name hears nothing of what is allowed here."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
AnyHandler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
_KEPT: Final = Written(last=False)
_LAST: Final = Written(last=True)


class Asked(Exchange):
    """A request that aiohttp has read the head of; `response` is what aiohttp is given in the end."""

    __slots__ = ("_coded", "_connection", "_request", "_state", "_written", "response")

    def __init__(self, request: web.BaseRequest, connection: Connection, familiar: Familiar, state: State) -> None:
        super().__init__(familiar.head(connection.peer, unix=connection.unix))
        self._request = request
        self._connection = connection
        self._coded = familiar.coded
        self._state = state
        self._written = False
        self.response: web.StreamResponse = _LAST

    @property
    def there(self) -> bool:
        """Whether the peer is still connected."""
        return self._connection.transport is not None

    @property
    def written(self) -> bool:
        """Whether part of an answer is out."""
        return self._written or self._request.writer.output_size > 0

    async def read(self, limit: int) -> bytes:
        """The body; see `bodies.read`."""
        return await bodies.read(self._request, limit, self._connection.body)

    def at_hand(self, limit: int) -> bytes:
        """The body of a request that is here as a whole; see `bodies.at_hand`."""
        return bodies.at_hand(self._request, limit, coded=self._coded)

    async def gone(self) -> None:
        """Return when the peer has left."""
        await self._connection.gone()

    def put(self, opening: Opening, body: bytes) -> bool:
        """Write the answer; whether to wait for its reader. What is unusual is aiohttp's to write, while waiting."""
        request, draining = self._request, self._state.draining
        if not is_ordinary(request):
            response = web.Response(status=opening.status, body=body or None, headers=opening.fields)
            self.response = self._state.closing(response)
            return True
        last = draining or not request.keep_alive
        self.response = _LAST if last else _KEPT
        connection = self._connection
        transport = connection.transport
        if transport is None or transport.is_closing():
            return False
        self._written = True
        transport.write(opening.whole(body, last=last))
        return connection.writing_paused

    async def taken(self) -> None:
        """Return when the reader has taken enough of what was written, or has left."""
        with suppress(ConnectionError):
            if isinstance(self.response, Written):
                await self._request.writer.drain()
            else:
                await self.response.prepare(self._request)
                await self.response.write_eof()

    async def stream(self, opening: Opening, pieces: AsyncIterator[bytes]) -> None:
        """Write a stream, chunked on HTTP/1.1."""
        response = self._state.closing(web.StreamResponse(status=opening.status, headers=opening.fields))
        if not self._request.keep_alive:
            response.headers["Connection"] = "close"
        self.response = response
        try:
            await response.prepare(self._request)
            async for piece in pieces:
                if piece:
                    await response.write(piece)
            await response.write_eof()
        except ConnectionError:
            if self._request.transport is not None:  # not the peer: whatever makes the pieces has failed
                raise
        finally:
            if (close := getattr(pieces, "aclose", None)) is not None:
                await close()
        self._state.closing(response)

    def break_off(self) -> None:
        """End the connection."""
        self._connection.end()


class Handlers:
    """The handlers of aiohttp's door; `direct` has a server's requests first, the others are routes'."""

    def __init__(self, heads: Heads, state: State) -> None:
        self._heads = heads
        self._state = state

    def direct(self, otherwise: AnyHandler) -> AnyHandler:
        """The handler of a server: exact paths without aiohttp's router, the rest by `otherwise`."""
        known, answer = self._heads.of, self._answer

        async def routed(request: web.BaseRequest) -> web.StreamResponse:
            try:
                return await otherwise(request)
            except web.HTTPException as error:
                return _refused(request, error.status)

        def handle(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
            familiar = known(request)
            serving = familiar.serving
            return routed(request) if serving is None else answer(serving, familiar, request)

        return handle

    def of(self, serving: Serving) -> Handler:
        """The handler of an entrance for every method but OPTIONS."""

        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._answer(serving, self._heads.of(request), request)

        return handle

    async def _answer(self, serving: Serving, familiar: Familiar, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(Connection, request.protocol)
        asked = Asked(request, connection, familiar, self._state)
        try:
            rest = serving.begin(asked) if bodies.is_here(request.content) else serving.serve(asked)
            if rest is not None:
                connection.begin()
                await rest
        finally:
            connection.rest()
        return asked.response

    def options(self, serving: Serving, cors: Cors | None) -> Handler:
        """The handler for OPTIONS: preflights go to `cors`, anything else asks what methods there are."""
        entrance, state = serving.entrance, self._state
        allowed = Reply(204, b"", (("Allow", ", ".join(dict.fromkeys([*entrance.methods, "OPTIONS"]))),))

        async def handle(request: web.Request) -> web.StreamResponse:
            asked = Asked(request, cast(Connection, request.protocol), self._heads.of(request), state)
            if entrance.seen is not None:
                asked.head = entrance.seen(asked.head)
            verdict = await settled(entrance.admit(asked.head))
            foreign = isinstance(verdict, Reply) and verdict.status in _NOT_OURS
            if cors is not None and is_preflight(request) and not foreign:
                return state.closing(await cors.preflight(request))
            # The guards hold; which methods there are is told without a token.
            told = verdict if isinstance(verdict, Reply) and verdict.status not in {401, 405} else allowed
            await serving.write(asked, told)
            return asked.response

        return attended(handle)


def attended(answer: Handler) -> Handler:
    """A handler that lets its connection know that a request is served, as those of entrances do by themselves."""

    async def handle(request: web.Request) -> web.StreamResponse:
        connection = cast(Connection, request.protocol)
        connection.begin()
        try:
            return await answer(request)
        finally:
            connection.rest()

    return handle


def _refused(request: web.BaseRequest, status: int) -> web.Response:
    """What aiohttp refuses by itself (CONNECT, `OPTIONS *`, an unknown Expect), in our words."""
    response = respond(refusal(request.method, status))
    if request.method == hdrs.METH_CONNECT:
        response.force_close()
    return response


def head_of(request: web.BaseRequest) -> Head:
    """What is known before the body, of a request that no entrance has."""
    connection = cast(Connection, request.protocol)
    return Familiar(request, None, kept=False).head(connection.peer, unix=connection.unix)
