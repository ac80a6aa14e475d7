"""Health and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from rpcgw.access.tokens import AUTHORIZATION, compile_tokens
from rpcgw.adapters.http.health import Part, Scrape, readiness

WELL = Part("pool:default", ready=True)
QUARANTINED = Part("plugin:broken", ready=False, detail="ImportError")
AWAY = Part("pool:shared", ready=False, required=True)

READINESS = [
    pytest.param([], False, 200, "ready", id="nothing to depend on"),
    pytest.param([WELL, QUARANTINED], False, 200, "ready", id="a quarantined plugin"),
    pytest.param([WELL, AWAY], False, 503, "not ready", id="a required part is away"),
    pytest.param([WELL], True, 503, "leaving", id="the worker leaves"),
]


@pytest.mark.parametrize(("parts", "leaving", "status", "text"), READINESS)
def test_readiness(parts: list[Part], leaving: bool, status: int, text: str) -> None:
    """Only a required part, or the end, makes a worker not ready."""
    reply = readiness(parts, leaving=leaving, verbose=False)
    assert isinstance(reply.body, bytes)
    assert (reply.status, json.loads(reply.body)) == (status, {"status": text})


async def test_verbose_lists_the_parts(serve: Callable[..., Any]) -> None:
    """Each with its name, state and reason."""
    answer = await (await serve(parts=[WELL, QUARANTINED])).ask("GET", "/readyz?verbose")
    assert json.loads(answer.body) == {
        "status": "ready",
        "parts": [
            {"name": "pool:default", "ready": True, "detail": ""},
            {"name": "plugin:broken", "ready": False, "detail": "ImportError"},
        ],
    }


async def test_lame_is_not_ready_and_alive(serve: Callable[..., Any]) -> None:
    """Load balancers go, restarts do not come."""
    served = await serve()
    served.door.lame()
    assert (await served.ask("GET", "/readyz")).status == 503
    assert (await served.ask("GET", "/livez")).status == 200


async def test_metrics_are_read_where_they_are_wanted(serve: Callable[..., Any]) -> None:
    """At the configured path, as Prometheus text; nowhere where they are off."""

    async def read() -> bytes:
        return b"up 1\n"

    answer = await (await serve(scrape=Scrape(read, path="/internal/metrics"))).ask("GET", "/internal/metrics")
    assert (answer.status, answer.body, answer.header("Content-Type")) == (
        200,
        b"up 1\n",
        "text/plain; version=0.0.4; charset=utf-8",
    )
    assert (await (await serve()).ask("GET", "/metrics")).status == 404


async def read_one() -> bytes:
    return b"up 1\n"


SCRAPERS = [
    pytest.param({}, 401, id="no token"),
    pytest.param({"Authorization": "Bearer wrong"}, 403, id="a wrong token"),
    pytest.param({"Authorization": "bearer right"}, 200, id="the token, the scheme in lower case"),
]


@pytest.mark.parametrize(("headers", "status"), SCRAPERS)
async def test_a_token_may_stand_before_metrics(
    serve: Callable[..., Any], headers: dict[str, str], status: int
) -> None:
    """Whoever scrapes shows it as `Authorization: Bearer`; health is told to anybody."""
    tokens = compile_tokens(AUTHORIZATION, [("metrics", sha256(b"right").hexdigest(), None)])
    served = await serve(scrape=Scrape(read_one, tokens=tokens))
    answer = await served.ask("GET", "/metrics", **headers)
    assert (answer.status, answer.body == b"up 1\n") == (status, status == 200)
    assert (await served.ask("GET", "/livez")).status == 200
