"""aiohttp's door: from the listening sockets of a worker to the entrances of its gateway, and the drain at the end."""

from __future__ import annotations

import asyncio
import math
import re
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from aiohttp import web

from rpcgw.adapters.http.acceptor import Acceptor, Tls
from rpcgw.adapters.http.answers import JSON
from rpcgw.adapters.http.bounds import Bounds
from rpcgw.adapters.http.connections import Connection, Connections, Report, Share
from rpcgw.adapters.http.cors import Cors
from rpcgw.adapters.http.familiar import Heads
from rpcgw.adapters.http.front import Front, Tally, Ways
from rpcgw.adapters.http.handling import Handlers, attended, head_of
from rpcgw.adapters.http.health import Parts, Scrape, add_health
from rpcgw.adapters.http.selftest import hand_over_trouble
from rpcgw.adapters.http.serving import Afterwards, Serving
from rpcgw.adapters.http.state import State
from rpcgw.adapters.http.turns import Turns
from rpcgw.exchange import Answered, Entrance, Reply, Traffic, untold

PLACEHOLDERS = {"{ver}": "{ver:v[0-9]+}", "{aiName}": "{aiName:[^/]+}"}
"""What stands for a segment in an entrance's pattern, as aiohttp writes it."""
NOWHERE = "none"
"""What requests count under for a path that nothing is at."""
_NOT_FOUND = b'{"error":"not found"}'
PLAIN = re.compile(r"[A-Za-z0-9/._~-]+")
LOOK_EVERY = 1.0
"""Seconds between two looks at connections whose first words are awaited."""
_BOUNDS = Bounds()
SHUTDOWN = 0.1
"""Seconds that aiohttp waits for connections which a drain has left."""
LAST_WORDS = 1.0
"""Seconds that cut calls have for their closing answer, and cut afterwards for their end."""


class Door:
    """One worker's door. `open` it with sockets, and `drain` it at the end."""

    def __init__(
        self,
        entrances: Sequence[Entrance],
        *,
        parts: Parts,
        report: Report,
        traffic: Traffic = untold,
        scrape: Scrape | None = None,
        share: Share | None = None,
        bounds: Bounds = _BOUNDS,
        tls: ssl.SSLContext | None = None,
        fast_front: bool = False,
    ) -> None:
        self._report = report
        self._bounds = bounds
        self._tls = None if tls is None else Tls(tls, bounds.head)
        self._looking: asyncio.TimerHandle | None = None
        self._state = State()
        self._afterwards = Afterwards(report)
        self._wake = asyncio.Event()
        self._ends = self._idle_ends = math.inf
        self._connections = Connections(share or Share.alone(), self._wake.set, bounds.connections)
        self._acceptors: list[Acceptor] = []
        servings = [
            Serving(each, report, traffic(each.name), self._state, self._afterwards) for each in in_order(entrances)
        ]
        exact = exact_routes(servings)
        self._handlers = Handlers(Heads(exact), self._state)
        app = build(servings, self._handlers, parts=parts, lost=traffic(NOWHERE), scrape=scrape, state=self._state)
        self._routes = exact if fast_front else {}
        self.tally = Tally()
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN)
        self._server: web.Server | None = None

    async def open(self, sockets: Sequence[socket.socket]) -> None:
        """Take connections from listening sockets, which the door owns from here on."""
        await self._runner.setup()
        routed = self._runner.server
        assert routed is not None, "setup() has made it"
        self._server = web.Server(self._handlers.direct(routed.request_handler), request_factory=routed.request_factory)
        if self._routes and (trouble := await hand_over_trouble(self._front)):
            self._routes = {}
            self._report("front.off", level="error", reason=trouble)
        self.tally = Tally()
        factory = self.protocol()
        self._acceptors = [
            Acceptor(
                each, factory, self._connections, self._report, None if each.family == socket.AF_UNIX else self._tls
            )
            for each in sockets
        ]
        self._connections.welcome()
        self._look()

    def _look(self) -> None:
        """End connections whose first words do not come, now and then: one look at all is cheaper than timers."""
        loop = asyncio.get_running_loop()
        for _ in range(self._connections.end_overdue(loop.time())):
            self._report("connection.late")
        self._looking = loop.call_later(LOOK_EVERY, self._look)

    def protocol(self) -> Callable[[], asyncio.Protocol]:
        """What makes the protocol of a connection that was taken; `open` comes first."""
        return self._front(self._connections) if self._routes else self._connection(self._connections)

    def _connection(self, connections: Connections) -> Callable[[], Connection]:
        """What makes aiohttp's connections."""
        server, loop = self._server, asyncio.get_running_loop()
        assert server is not None, "open() has made it"
        return partial(Connection, server, connections, self._report, loop=loop, bounds=self._bounds, turns=Turns(loop))

    def _front(self, connections: Connections) -> Callable[[], Front]:
        """What makes connections that the fast front has first."""
        ways = Ways(
            self._routes,
            self._connection(connections),
            connections,
            self._state,
            self._report,
            self._bounds,
            self.tally,
        )
        return partial(Front, ways, asyncio.get_running_loop())

    def lame(self) -> None:
        """Tell load balancers to look elsewhere; everything is still answered."""
        self._state.lame = True

    async def drain(self, grace: float, idle: float | None = None, *, last: bool = False) -> None:
        """Take no new connections, answer what comes on the open ones, end them within `grace` seconds.

        The `last` door at its sockets takes who has connected before, and lets nobody connect any more.

        Every answer says `Connection: close`. Idle connections end by their keep-alive timer, or after `idle` seconds;
        calls that still run when the grace is over are cancelled and answered 503.
        """
        self._state.draining = True
        self.hurry(grace, idle)
        self._connections.leave()
        for acceptor in self._acceptors:
            acceptor.close(last=last)
        await self._wait()
        if len(self._connections):
            await self._cut()
        left = max(self._ends - asyncio.get_running_loop().time(), 0.0)
        await self._afterwards.finish(left, LAST_WORDS)
        if self._looking is not None:
            self._looking.cancel()
        if self._server is not None:
            self._server.pre_shutdown()
            await self._server.shutdown(SHUTDOWN)
        await self._runner.cleanup()

    def hurry(self, grace: float, idle: float | None) -> None:
        """Shorten a drain that has begun; times count from now, and longer ones change nothing."""
        now = asyncio.get_running_loop().time()
        self._ends = min(self._ends, now + grace)
        self._idle_ends = min(self._idle_ends, math.inf if idle is None else now + idle)
        self._wake.set()

    async def _wait(self) -> None:
        """Until no connection is open or the grace is over; idle ones are closed when their time has come."""
        loop = asyncio.get_running_loop()
        while len(self._connections) and (now := loop.time()) < self._ends:
            if now >= self._idle_ends:
                self._end(idle_only=True)
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(
                    self._ends if now >= self._idle_ends else min(self._ends, self._idle_ends)
                ):
                    await self._wake.wait()

    async def _cut(self) -> None:
        self._state.cutting = True
        busy = [connection.task for connection in self._connections if connection.task is not None]
        self._report("drain.cut", open=len(self._connections), busy=len(busy))
        for task in busy:
            task.cancel()
        if busy:
            self._ends = asyncio.get_running_loop().time() + LAST_WORDS
            await self._wait()
        self._end(idle_only=False)

    def _end(self, *, idle_only: bool) -> None:
        for connection in self._connections:
            if not idle_only or connection.task is None:
                connection.end()


def in_order(entrances: Sequence[Entrance]) -> Sequence[Entrance]:
    """Exact paths before patterns: the first that fits has the request."""
    return sorted(entrances, key=lambda entrance: entrance.pattern.count("{"))


def build(
    servings: Sequence[Serving],
    handlers: Handlers,
    *,
    parts: Parts,
    state: State,
    lost: Answered,
    scrape: Scrape | None = None,
) -> web.Application:
    """The application: health first, then what is served in its order, 404 for the rest; no middleware.

    `lost` is told of requests for paths that nothing is at.
    """
    app = web.Application()
    add_health(app, parts, state, scrape)
    cors = Cors(app) if any(serving.entrance.origins for serving in servings) else None
    for serving in servings:
        entrance = serving.entrance
        for path in spellings(entrance.pattern):
            resource = app.router.add_resource(path)
            resource.add_route("OPTIONS", handlers.options(serving, cors if entrance.origins else None))
            resource.add_route("*", handlers.of(serving))
            if cors and entrance.origins:
                cors.add(resource, entrance)

    async def not_found(request: web.Request) -> web.StreamResponse:
        lost(head_of(request), 404, 0, len(_NOT_FOUND), 0.0)
        return state.respond(Reply(404, _NOT_FOUND, JSON))

    app.router.add_route("*", "/{tail:.*}", attended(not_found))
    return app


def spellings(pattern: str) -> tuple[str, ...]:
    """A pattern's aiohttp paths, without and with the trailing slash."""
    path = "/".join(PLACEHOLDERS.get(segment, segment) for segment in pattern.rstrip("/").split("/"))
    return (path, f"{path}/") if path else ("/",)


def exact_routes(servings: Sequence[Serving]) -> Mapping[str, Serving]:
    """Who serves which exact target: paths without a pattern that no client needs to escape."""
    routes: dict[str, Serving] = {}
    for serving in servings:
        if PLAIN.fullmatch(serving.entrance.pattern):
            for path in spellings(serving.entrance.pattern):
                routes.setdefault(path, serving)
    return routes
