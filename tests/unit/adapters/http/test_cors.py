"""Answers that pages of other origins may read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rpcgw.exchange import Reply

ORIGIN = "https://app.example"
JSON = (("Content-Type", "application/json"), ("Vary", "Accept-Language"))

Serve = Callable[..., Any]
Make = Callable[..., Any]


@pytest.fixture
def open_entrance(make_entrance: Make) -> Any:
    return make_entrance(
        lambda _: Reply(200, b"{}", JSON),
        methods=("POST", "DELETE", "OPTIONS"),
        origins=(ORIGIN, "http://localhost:*"),
        expose=("Mcp-Session-Id",),
    )


@pytest.mark.parametrize(
    "origin", [ORIGIN, "http://localhost:6274", "http://localhost"], ids=["a named origin", "any port", "no port"]
)
async def test_a_preflight_of_an_allowed_origin(serve: Serve, open_entrance: Any, origin: str) -> None:
    """200; the asked method and headers are named, whatever they are, and the answer may be kept."""
    served = await serve(open_entrance)
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "mcp-session-id,ufo-rpc-token",
    }
    answer = await served.ask("OPTIONS", **headers)
    assert answer.status == 200
    assert answer.header("Access-Control-Allow-Origin") == origin
    assert answer.header("Access-Control-Allow-Methods") == "POST"
    assert {name.lower() for name in (answer.header("Access-Control-Allow-Headers") or "").split(",")} == {
        "mcp-session-id",
        "ufo-rpc-token",
    }
    assert answer.header("Access-Control-Max-Age") == "600"
    assert (answer.header("Vary") or "").startswith("Origin")
    assert answer.header("Access-Control-Allow-Credentials") is None


REFUSED = [
    pytest.param({"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, id="another origin"),
    pytest.param({"Origin": "null", "Access-Control-Request-Method": "POST"}, id="the origin null"),
    pytest.param({"Origin": "http://localhost:80x", "Access-Control-Request-Method": "POST"}, id="no port"),
    pytest.param({"Origin": ORIGIN, "Access-Control-Request-Method": "PUT"}, id="a method that is not served"),
    pytest.param({"Access-Control-Request-Method": "POST"}, id="no origin"),
]


@pytest.mark.parametrize("headers", REFUSED)
async def test_a_preflight_that_is_refused(serve: Serve, open_entrance: Any, headers: dict[str, str]) -> None:
    """403 without any permission, and caches learn what it depends on."""
    answer = await (await serve(open_entrance)).ask("OPTIONS", **headers)
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (403, None)
    assert (answer.header("Vary") or "").startswith("Origin")


async def test_an_answer_to_an_allowed_origin(serve: Serve, open_entrance: Any) -> None:
    """The page may read it, and the exposed headers."""
    answer = await (await serve(open_entrance)).ask(body=b"{}", Origin=ORIGIN)
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (200, ORIGIN)
    assert answer.header("Access-Control-Expose-Headers") == "Mcp-Session-Id"
    assert answer.header("Vary") == "Accept-Language, Origin"


async def test_an_answer_to_no_page_varies_too(serve: Serve, open_entrance: Any) -> None:
    """A cache must not hand it to a page."""
    answer = await (await serve(open_entrance)).ask(body=b"{}")
    assert (answer.header("Access-Control-Allow-Origin"), answer.header("Vary")) == (None, "Accept-Language, Origin")


async def test_an_entrance_without_origins_knows_no_cors(serve: Serve, open_entrance: Any, make_entrance: Make) -> None:
    """No permission, no `Vary`, and a preflight is an OPTIONS like any other."""
    served = await serve(open_entrance, make_entrance(pattern="/closed"))
    answer = await served.ask(path="/closed", body=b"{}", Origin=ORIGIN)
    assert (answer.header("Access-Control-Allow-Origin"), answer.header("Vary")) == (None, None)
    headers = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    assert (await served.ask("OPTIONS", "/closed", **headers)).status == 204
