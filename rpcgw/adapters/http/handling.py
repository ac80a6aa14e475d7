"""aiohttp's side of a request: its exchange, and the handlers that an entrance's routes are given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, cast

from aiohttp import web
from multidict import CIMultiDictProxy
from yarl import URL

from rpcgw.adapters.http import bodies
from rpcgw.adapters.http.connections import Connection
from rpcgw.adapters.http.cors import Cors, is_preflight
from rpcgw.adapters.http.serving import Exchange, Serving
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.whole import Opening, Whole, is_ordinary
from rpcgw.exchange import Head, Reply, settled

_NOT_OURS: Final = frozenset({400, 421})
"""What the Host guard says: a page that reached us under another name hears nothing of what is allowed here."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Asked(Exchange[web.StreamResponse]):
    """A request that aiohttp has read the head of."""

    __slots__ = ("_connection", "_request", "_state")

    def __init__(self, request: web.Request, connection: Connection, state: State) -> None:
        super().__init__(head_of(request, connection))
        self._request = request
        self._connection = connection
        self._state = state

    @property
    def there(self) -> bool:
        """Whether the peer is still connected."""
        return self._connection.transport is not None

    @property
    def written(self) -> bool:
        """Whether part of an answer is out."""
        return self._request.writer.output_size > 0

    async def read(self, limit: int) -> bytes:
        """The body; see `bodies.read`."""
        return await bodies.read(self._request, limit, self._connection.body)

    async def gone(self) -> None:
        """Return when the peer has left."""
        await self._connection.gone()

    async def write(self, opening: Opening, body: bytes, *, now: bool) -> web.StreamResponse:
        """Hand the answer to aiohttp, or write it here where something is to happen once the bytes are out."""
        response: web.StreamResponse
        if is_ordinary(self._request):
            response = Whole(opening, body, last=self._state.draining)
        else:
            response = self._state.closing(
                web.Response(status=opening.status, body=body or None, headers=opening.fields)
            )
        if now:
            await _write_whole(self._request, response)
        return response

    async def stream(self, opening: Opening, pieces: AsyncIterator[bytes]) -> web.StreamResponse:
        """Write a stream, chunked on HTTP/1.1."""
        response = self._state.closing(web.StreamResponse(status=opening.status, headers=opening.fields))
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
        return self._state.closing(response)

    def break_off(self) -> None:
        """End the connection."""
        self._connection.end()


def handler(serving: Serving, state: State) -> Handler:
    """The aiohttp handler of an entrance for every method but OPTIONS."""
    serve = serving.serve

    async def handle(request: web.Request) -> web.StreamResponse:
        connection = cast(Connection, request.protocol)
        connection.begin()
        try:
            return await serve(Asked(request, connection, state))
        finally:
            connection.rest()

    return handle


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


def options(serving: Serving, state: State, cors: Cors | None) -> Handler:
    """The aiohttp handler for OPTIONS: preflights go to `cors`, anything else asks what methods there are."""
    entrance = serving.entrance
    allowed = Reply(204, b"", (("Allow", ", ".join(dict.fromkeys([*entrance.methods, "OPTIONS"]))),))

    async def handle(request: web.Request) -> web.StreamResponse:
        asked = Asked(request, cast(Connection, request.protocol), state)
        if entrance.seen is not None:
            asked.head = entrance.seen(asked.head)
        verdict = await settled(entrance.admit(asked.head))
        foreign = isinstance(verdict, Reply) and verdict.status in _NOT_OURS
        if cors is not None and is_preflight(request) and not foreign:
            return state.closing(await cors.preflight(request))
        # The guards hold; which methods there are is told without a token.
        if isinstance(verdict, Reply) and verdict.status not in {401, 405}:
            return await serving.write(asked, verdict)
        return await serving.write(asked, allowed)

    return attended(handle)


def head_of(request: web.Request, connection: Connection) -> Head:
    """What is known before the body."""
    url, fields = request.rel_url, request.headers
    if request.raw_path[:1] != "/":
        fields = _fields_of(request)
    return Head(request.method, url.path, url.raw_query_string, fields, connection.peer, connection.unix)


def _fields_of(request: web.Request) -> CIMultiDictProxy[str]:
    """The fields of a request whose target is a whole URL: its host goes before what Host says (RFC 9112, 3.2.2)."""
    authority = URL(request.raw_path, encoded=True).raw_authority.rpartition("@")[2]
    if not authority:
        return request.headers
    fields = request.headers.copy()
    fields["Host"] = authority
    return CIMultiDictProxy(fields)


async def _write_whole(request: web.Request, response: web.StreamResponse) -> None:
    try:
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        pass  # the peer has left; what comes after the answer happens all the same
