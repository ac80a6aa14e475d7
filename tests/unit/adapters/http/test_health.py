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

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"


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
    answer = await (await serve(scrape=Scrape(read_one, path="/internal/metrics"))).ask("GET", "/internal/metrics")
    assert (answer.status, answer.body, answer.header("Content-Type")) == (
        200,
        b"up 1\n",
        "text/plain; version=0.0.4; charset=utf-8",
    )
    assert (await (await serve()).ask("GET", "/metrics")).status == 404


@pytest.mark.parametrize(
    ("accept", "openmetrics"),
    [
        pytest.param("", False, id="nothing is asked for"),
        pytest.param("*/*", False, id="anything: curl"),
        pytest.param("text/html,text/plain;q=0.9,*/*;q=0.8", False, id="a browser"),
        pytest.param("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", False, id="Prometheus, when told to"),
        pytest.param(
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
            "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,*/*;q=0.2",
            True,
            id="Prometheus",
        ),
        pytest.param("Application/OpenMetrics-Text", True, id="in any case"),
        pytest.param("text/plain, application/openmetrics-text", False, id="the older one first"),
        pytest.param("application/openmetrics-text;q=0, */*", False, id="anything else"),
        pytest.param("application/openmetrics-text; version=x", True, id="a version that is none"),
    ],
)
async def test_metrics_in_the_format_that_is_asked_for(
    serve: Callable[..., Any], accept: str, openmetrics: bool
) -> None:
    """OpenMetrics for who names it first, with its end; what is kept of the answer depends on that."""
    answer = await (await serve(scrape=Scrape(read_one))).ask("GET", "/metrics", Accept=accept)
    text, kind = (b"open 1\n# EOF\n", OPEN) if openmetrics else (b"up 1\n", PLAIN)
    assert (answer.body, answer.header("Content-Type"), answer.header("Vary")) == (text, kind, "Accept")


async def read_one(*, openmetrics: bool) -> bytes:
    return b"open 1\n" if openmetrics else b"up 1\n"


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
