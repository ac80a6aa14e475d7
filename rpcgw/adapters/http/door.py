"""aiohttp's door: from the listening sockets of a worker to the entrances of its gateway, and the drain at the end."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import cast

from aiohttp import web

from rpcgw.adapters.http.acceptor import Acceptor
from rpcgw.adapters.http.answers import JSON
from rpcgw.adapters.http.connections import Connection, Connections, Report, Share
from rpcgw.adapters.http.cors import Cors
from rpcgw.adapters.http.handling import handler, head_of, options
from rpcgw.adapters.http.health import Parts, Scrape, add_health
from rpcgw.adapters.http.serving import Afterwards, Serving
from rpcgw.adapters.http.state import State
from rpcgw.exchange import Entrance, Reply, Traffic, untold

PLACEHOLDERS = {"{ver}": "{ver:v[0-9]+}", "{aiName}": "{aiName:[^/]+}"}
"""What stands for a segment in an entrance's pattern, as aiohttp writes it."""
NOWHERE = "none"
"""What requests count under for a path that nothing is at."""
_NOT_FOUND = b'{"error":"not found"}'
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
        keep_alive: float = 75.0,
    ) -> None:
        self._report = report
        self._keep_alive = keep_alive
        self._state = State()
        self._afterwards = Afterwards(report)
        self._wake = asyncio.Event()
        self._ends = self._idle_ends = math.inf
        self._connections = Connections(share or Share.alone(), self._wake.set)
        self._acceptors: list[Acceptor] = []
        app = build(
            entrances,
            parts=parts,
            report=report,
            traffic=traffic,
            scrape=scrape,
            state=self._state,
            after=self._afterwards,
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def open(self, sockets: Sequence[socket.socket]) -> None:
        """Take connections from listening sockets, which the door owns from here on."""
        await self._runner.setup()
        factory = self._factory()
        self._acceptors = [Acceptor(each, factory, self._connections, self._report) for each in sockets]
        self._connections.welcome()

    def _factory(self) -> Callable[[], Connection]:
        server = self._runner.server
        assert server is not None, "setup() has made it"
        return partial(
            Connection,
            server,
            self._connections,
            self._report,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=self._keep_alive,
            access_log=None,
        )

    def lame(self) -> None:
        """Tell load balancers to look elsewhere; everything is still answered."""
        self._state.lame = True

    async def drain(self, grace: float, idle: float | None = None) -> None:
        """Take no new connections, answer what comes on the open ones, end them within `grace` seconds.

        Every answer says `Connection: close`. Idle connections end by their keep-alive timer, or after `idle` seconds;
        calls that still run when the grace is over are cancelled and answered 503.
        """
        self._state.draining = True
        self.hurry(grace, idle)
        self._connections.leave()
        for acceptor in self._acceptors:
            acceptor.close()
        await self._wait()
        if len(self._connections):
            await self._cut()
        left = max(self._ends - asyncio.get_running_loop().time(), 0.0)
        await self._afterwards.finish(left, LAST_WORDS)
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


def build(
    entrances: Sequence[Entrance],
    *,
    parts: Parts,
    report: Report,
    state: State,
    after: Afterwards,
    traffic: Traffic = untold,
    scrape: Scrape | None = None,
) -> web.Application:
    """The application: health first, exact paths before patterns, 404 for the rest; no middleware."""
    app = web.Application()
    add_health(app, parts, state, scrape)
    cors = Cors(app) if any(entrance.origins for entrance in entrances) else None
    for entrance in sorted(entrances, key=lambda entrance: entrance.pattern.count("{")):
        serving = Serving(entrance, report, traffic(entrance.name), state, after)
        for path in spellings(entrance.pattern):
            resource = app.router.add_resource(path)
            resource.add_route("OPTIONS", options(serving, state, cors if entrance.origins else None))
            resource.add_route("*", handler(serving, state))
            if cors and entrance.origins:
                cors.add(resource, entrance)

    lost = traffic(NOWHERE)

    async def not_found(request: web.Request) -> web.Response:
        lost(head_of(request, cast(Connection, request.protocol)), 404, 0, len(_NOT_FOUND), 0.0)
        return state.respond(Reply(404, _NOT_FOUND, JSON))

    app.router.add_route("*", "/{tail:.*}", not_found)
    return app


def spellings(pattern: str) -> tuple[str, ...]:
    """A pattern's aiohttp paths, without and with the trailing slash."""
    path = "/".join(PLACEHOLDERS.get(segment, segment) for segment in pattern.rstrip("/").split("/"))
    return (path, f"{path}/") if path else ("/",)
