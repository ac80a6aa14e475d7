"""Health, which no guard and no token stands before, and metrics, which a token may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

import msgspec
from aiohttp import web

from rpcgw.adapters.http.answers import JSON
from rpcgw.adapters.http.handling import attended, head_of
from rpcgw.adapters.http.state import State
from rpcgw.api.records import record
from rpcgw.exchange import Head, Reply, Verdict, settled


@record(frozen=True, slots=True)
class Part:
    """One part of readiness, as `/readyz?verbose` lists it. Only a `required` part that is not ready makes it 503."""

    name: str
    ready: bool
    detail: str = ""
    required: bool = False


class Read(Protocol):
    """Makes a text of metrics."""

    async def __call__(self, *, openmetrics: bool) -> bytes:
        """The text in the format of OpenMetrics, without its end, or in Prometheus' older one."""


@record(frozen=True, slots=True)
class Scrape:
    """Where and how metrics are read, and by whom: whoever is admitted, or anybody where that is None."""

    read: Read
    path: str = "/metrics"
    admit: Callable[[Head], Verdict] | None = None


_OPEN_METRICS: Final = "application/openmetrics-text"
_FORMATS: Final = {
    True: ("application/openmetrics-text; version=1.0.0; charset=utf-8", b"# EOF\n"),
    False: ("text/plain; version=0.0.4; charset=utf-8", b""),
}
"""The media type of each format, and what its text ends with."""
_ANYTHING: Final = frozenset({"text/plain", "text/*", "*/*"})


def wants_openmetrics(accept: str) -> bool:
    """Whether `Accept` names OpenMetrics before anything that the older format is; scrapers name the best one first."""
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        if kind == _OPEN_METRICS and not {"q=0", "q=0.0"}.intersection(parameters):
            return True
        if kind in _ANYTHING:
            return False
    return False


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
        if (refused := await _refused(scrape, request)) is not None:
            return state.respond(refused)
        openmetrics = wants_openmetrics(",".join(request.headers.getall("Accept", [])))
        media_type, end = _FORMATS[openmetrics]
        text = await scrape.read(openmetrics=openmetrics)
        return state.respond(Reply(200, text + end, (("Content-Type", media_type), ("Vary", "Accept"))))

    app.router.add_get(scrape.path, attended(metrics))


async def _refused(scrape: Scrape, request: web.Request) -> Reply | None:
    """The answer to a scraper that is not admitted."""
    if scrape.admit is None:
        return None
    who = await settled(scrape.admit(head_of(request)))
    return who if isinstance(who, Reply) else None
