"""Health and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.adapters.http.health import Part, Scrape, readiness
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Head, Pending, Reply, Verdict

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


def by_token(head: Head) -> Verdict:
    """Lets in who shows `right`, and says 403 to others, after a while."""

    async def settle() -> Principal | Reply:
        return ANONYMOUS if head.headers.get("authorization") == "right" else Reply(403, b"no")

    return Pending(settle)


@pytest.mark.parametrize(("token", "status"), [("right", 200), ("wrong", 403)])
async def test_metrics_are_for_those_who_are_admitted(serve: Callable[..., Any], token: str, status: int) -> None:
    """What is said of the head decides, however long it takes; health is told to anybody."""
    served = await serve(scrape=Scrape(read_one, admit=by_token))
    answer = await served.ask("GET", "/metrics", Authorization=token)
    assert (answer.status, answer.body == b"up 1\n") == (status, status == 200)
    assert (await served.ask("GET", "/livez")).status == 200
