"""What is remembered of the heads that aiohttp reads, and which requests have no need of its router."""

from __future__ import annotations

from typing import cast

import pytest
from aiohttp.test_utils import make_mocked_request

from rpcgw.adapters.http.familiar import LONGEST, MOST, Heads
from rpcgw.adapters.http.serving import Serving

MCP = cast("Serving", object())
HOST = {"Host": "localhost"}


@pytest.fixture
def heads() -> Heads:
    return Heads({"/mcp": MCP})


def test_the_same_head_is_known_again(heads: Heads) -> None:
    """Whatever was found out about it is found there."""
    first = heads.of(make_mocked_request("POST", "/mcp", HOST))
    assert heads.of(make_mocked_request("POST", "/mcp", HOST)) is first
    assert first.head("1.2.3.4", unix=False).memo is first.head("5.6.7.8", unix=False).memo is not None


OTHERS = [
    pytest.param("GET", "/mcp", HOST, id="another method"),
    pytest.param("POST", "/mcp/", HOST, id="another path"),
    pytest.param("POST", "/mcp?x", HOST, id="a query"),
    pytest.param("POST", "/mcp", {"Host": "elsewhere"}, id="another value"),
    pytest.param("POST", "/mcp", {**HOST, "Accept": "*/*"}, id="one more field"),
]


@pytest.mark.parametrize(("method", "target", "fields"), OTHERS)
def test_another_head_is_another(heads: Heads, method: str, target: str, fields: dict[str, str]) -> None:
    """Any difference counts."""
    known = heads.of(make_mocked_request("POST", "/mcp", HOST))
    assert heads.of(make_mocked_request(method, target, fields)) is not known


def test_a_long_head_is_not_kept(heads: Heads) -> None:
    """What strangers can make us remember is bounded in bytes; there is nothing to keep further findings in, either."""
    fields = {**HOST, "X-Long": "x" * LONGEST}
    first = heads.of(make_mocked_request("POST", "/mcp", fields))
    assert first.memo is None
    assert first.serving is MCP
    assert heads.of(make_mocked_request("POST", "/mcp", fields)) is not first


def test_the_oldest_is_forgotten(heads: Heads) -> None:
    """What strangers can make us remember is bounded in number."""
    known = [heads.of(make_mocked_request("POST", f"/mcp?{number}", HOST)) for number in range(MOST + 1)]
    assert heads.of(make_mocked_request("POST", f"/mcp?{MOST}", HOST)) is known[MOST]
    assert heads.of(make_mocked_request("POST", "/mcp?1", HOST)) is known[1]
    assert heads.of(make_mocked_request("POST", "/mcp?0", HOST)) is not known[0]


WHOSE = [
    pytest.param("POST", "/mcp", {}, True, id="an exact path"),
    pytest.param("GET", "/mcp?x=1", {}, True, id="with a query"),
    pytest.param("POST", "/mcp/v1", {}, False, id="a path that is none of the exact ones"),
    pytest.param("OPTIONS", "/mcp", {}, False, id="a preflight"),
    pytest.param("POST", "/mcp", {"Expect": "100-continue"}, False, id="an expectation"),
    pytest.param("POST", "http://localhost/mcp", {}, False, id="a whole URL"),
]


@pytest.mark.parametrize(("method", "target", "fields", "ours"), WHOSE)
def test_who_serves_it(heads: Heads, method: str, target: str, fields: dict[str, str], *, ours: bool) -> None:
    """What aiohttp has no part in goes past its router."""
    assert heads.of(make_mocked_request(method, target, {**HOST, **fields})).serving is (MCP if ours else None)


CODINGS = [
    pytest.param({}, False, id="none"),
    pytest.param({"content-encoding": "gzip"}, True, id="of the content"),
    pytest.param({"TRANSFER-ENCODING": "chunked"}, True, id="of the transfer"),
]


@pytest.mark.parametrize(("fields", "coded"), CODINGS)
def test_codings_are_seen(heads: Heads, fields: dict[str, str], *, coded: bool) -> None:
    """Whether a body's coding is to be looked at."""
    assert heads.of(make_mocked_request("POST", "/mcp", {**HOST, **fields})).coded is coded
