"""Health, which no guard and no token stands before, and metrics, which a token may."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec
from aiohttp import web

from rpcgw.access.tokens import Denied, Tokens
from rpcgw.adapters.http.answers import JSON, failure
from rpcgw.adapters.http.handling import attended
from rpcgw.adapters.http.state import State
from rpcgw.exchange import Headers, Reply


@dataclass(frozen=True, slots=True)
class Part:
    """One part of readiness, as `/readyz?verbose` lists it. Only a `required` part that is not ready makes it 503."""

    name: str
    ready: bool
    detail: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Scrape:
    """Where and how metrics are read, and by whom: whoever holds one of the tokens, or anybody where there are none."""

    read: Callable[[], Awaitable[bytes]]
    path: str = "/metrics"
    tokens: Tokens | None = None
    content_type: str = "text/plain; version=0.0.4; charset=utf-8"


Parts = Callable[[], Awaitable[Sequence[Part]]]


def readiness(parts: Sequence[Part], *, leaving: bool, verbose: bool) -> Reply:
    """What `/readyz` answers: 503 while the worker leaves or a required part is away."""
    ready = not leaving and all(part.ready or not part.required for part in parts)
    state = "leaving" if leaving else "ready" if ready else "not ready"
    body: dict[str, object] = {"status": state}
    if verbose:
        body["parts"] = [{"name": part.name, "ready": part.ready, "detail": part.detail} for part in parts]
    return Reply(200 if ready else 503, msgspec.json.encode(body), JSON)


def add_health(app: web.Application, parts: Parts, state: State, scrape: Scrape | None) -> None:
    """Serve `/livez`, `/healthz` (the same under its older name), `/readyz` and, where it is wanted, metrics."""

    async def livez(_: web.Request) -> web.StreamResponse:
        return state.respond(Reply(200, b'{"status":"alive"}', JSON))

    async def readyz(request: web.Request) -> web.StreamResponse:
        return state.respond(readiness(await parts(), leaving=state.lame, verbose="verbose" in request.query))

    for path in ("/livez", "/healthz"):
        app.router.add_get(path, attended(livez))
    app.router.add_get("/readyz", attended(readyz))
    if scrape is not None:
        _add_metrics(app, state, scrape)


def _add_metrics(app: web.Application, state: State, scrape: Scrape) -> None:
    async def metrics(request: web.Request) -> web.StreamResponse:
        refused = _refused(scrape.tokens, request.headers)
        return state.respond(refused or Reply(200, await scrape.read(), (("Content-Type", scrape.content_type),)))

    app.router.add_get(scrape.path, attended(metrics))


def _refused(tokens: Tokens | None, headers: Headers) -> Reply | None:
    """The answer to a scraper that does not show what it must (RFC 6750, section 3)."""
    who = None if tokens is None else tokens.identify(headers, time.time())
    if who is Denied.ABSENT:
        return failure(401, "a token is needed", (("WWW-Authenticate", "Bearer"),))
    return failure(403, "not a token of the metrics") if isinstance(who, Denied) else None
