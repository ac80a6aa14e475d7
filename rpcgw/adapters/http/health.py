"""Health and metrics: answers that no guard and no token stands before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec
from aiohttp import web

from rpcgw.adapters.http.answers import JSON
from rpcgw.adapters.http.state import State
from rpcgw.exchange import Reply


@dataclass(frozen=True, slots=True)
class Part:
    """One part of readiness, as `/readyz?verbose` lists it. Only a `required` part that is not ready makes it 503."""

    name: str
    ready: bool
    detail: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Scrape:
    """Where and how metrics are read."""

    read: Callable[[], Awaitable[bytes]]
    path: str = "/metrics"
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

    async def livez(_: web.Request) -> web.Response:
        return state.respond(Reply(200, b'{"status":"alive"}', JSON))

    async def readyz(request: web.Request) -> web.Response:
        return state.respond(readiness(await parts(), leaving=state.lame, verbose="verbose" in request.query))

    for path in ("/livez", "/healthz"):
        app.router.add_get(path, livez)
    app.router.add_get("/readyz", readyz)
    if scrape is not None:
        _add_metrics(app, state, scrape)


def _add_metrics(app: web.Application, state: State, scrape: Scrape) -> None:
    async def metrics(_: web.Request) -> web.Response:
        return state.respond(Reply(200, await scrape.read(), (("Content-Type", scrape.content_type),)))

    app.router.add_get(scrape.path, metrics)
