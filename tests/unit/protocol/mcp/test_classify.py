"""Which era a body speaks, and that nothing but a verdict ever comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from rpcgw.protocol.mcp.classify import classify
from rpcgw.protocol.mcp.faults import Refused
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_VERSION
from rpcgw.protocol.mcp.messages import Batch, Legacy, Modern, Notice

NEW, OLD, UNKNOWN = "2026-07-28", "2025-06-18", "1999-01-01"


def headers(version: str | None = None, **others: str) -> CIMultiDict[str]:
    found: CIMultiDict[str] = CIMultiDict({name.replace("_", "-"): value for name, value in others.items()})
    if version is not None:
        found["MCP-Protocol-Version"] = version
    return found


def message(claim: object = None, method: str = "tools/list", **members: Any) -> bytes:
    meta = {} if claim is None else {"_meta": {META_VERSION: claim, META_CAPABILITIES: {}}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": meta} | members).encode()


@pytest.mark.parametrize(
    ("body", "version", "verdict"),
    [
        pytest.param(message(NEW), NEW, Modern, id="a stateless claim with its header is stateless"),
        pytest.param(
            message(NEW), None, (400, -32020), id="a stateless claim without its header is a mismatch, no session"
        ),
        pytest.param(message(NEW), OLD, (400, -32020), id="a stateless claim with a session header is a mismatch"),
        pytest.param(message(UNKNOWN), UNKNOWN, (400, -32022), id="a revision that nobody knows counts as stateless"),
        pytest.param(message(OLD), OLD, Legacy, id="a session revision claimed in the body is a session's request"),
        pytest.param(message(OLD), None, Legacy, id="a session revision may be claimed without its header"),
        pytest.param(
            message(OLD), "2025-03-26", (400, -32020), id="a session claim and another header contradict each other"
        ),
        pytest.param(message(5), NEW, (400, -32602), id="a claim that is no text is refused"),
        pytest.param(message(5), None, (400, -32602), id="a claim that is no text never falls back on a session"),
        pytest.param(message(), NEW, (400, -32602), id="a stateless header without a claim is refused"),
        pytest.param(message(), OLD, Legacy, id="no claim and a session header is a session's request"),
        pytest.param(
            message(), UNKNOWN, (400, -32600), id="no claim and an unknown header is refused by a code of no era"
        ),
        pytest.param(message(), None, Legacy, id="nothing said is a session's request"),
        pytest.param(message(method="initialize"), None, Legacy, id="initialize is a session's request"),
        pytest.param(
            message(method="initialize"), NEW, (400, -32602), id="initialize under a stateless header is refused"
        ),
        pytest.param(
            message(NEW, "initialize"), NEW, Modern, id="initialize with a stateless claim is a stateless request"
        ),
        pytest.param(b"[%b]" % message(), OLD, Batch, id="a batch is a session's"),
        pytest.param(b"[%b]" % message(), NEW, (400, -32600), id="a batch under a stateless header is refused"),
        pytest.param(
            b"[%b,%b]" % (message(), message(NEW)),
            None,
            (400, -32600),
            id="a batch with a stateless claim in it is refused",
        ),
        pytest.param(b"[%b]" % message(5), None, (400, -32600), id="a batch with a bad claim in it is refused"),
        pytest.param(b"[]", None, (400, -32600), id="an empty batch is refused"),
        pytest.param(b"[%b]" % b",".join([b"1"] * 101), None, (400, -32600), id="a batch over the limit is refused"),
    ],
)
def test_the_body_decides_the_era_and_the_header_is_a_cross_check(
    body: bytes, version: str | None, verdict: Any
) -> None:
    """Each combination of claim and header has one verdict."""
    found = classify(
        headers(version, mcp_method=json.loads(body).get("method", "") if body.startswith(b"{") else ""), body
    )
    if isinstance(verdict, tuple):
        assert isinstance(found, Refused)
        assert (found.status, found.code) == verdict
    else:
        assert type(found) is verdict


@pytest.mark.parametrize(
    ("body", "version", "era"),
    [
        pytest.param({"method": "notifications/x"}, None, "session", id="a notification of a session"),
        pytest.param({"method": "notifications/x"}, NEW, "stateless", id="a notification whose header is stateless"),
        pytest.param({"id": 1, "result": {}}, OLD, "session", id="a response of a session"),
    ],
)
def test_what_gets_no_answer_has_the_era_of_its_header(body: dict[str, Any], version: str | None, era: str) -> None:
    """A notification without a claim is of the era that the header says."""
    found = classify(headers(version), json.dumps({"jsonrpc": "2.0"} | body).encode())
    assert isinstance(found, Notice)
    assert found.era == era


def test_a_batch_keeps_its_order_and_refuses_item_by_item() -> None:
    """What is wrong with one item is that item's answer; initialize is refused inside a batch."""
    items = [message(id=1), b"5", message(method="initialize", id=2), b'{"jsonrpc":"2.0","method":"notifications/x"}']
    found = classify(headers(), b"[%b]" % b",".join(items))
    assert isinstance(found, Batch)
    assert [type(item) for item in found.items] == [Legacy, Refused, Refused, Notice]
    assert [item.id for item in found.items if isinstance(item, Refused)] == [None, 2]


def test_an_unknown_session_header_tells_what_is_served_without_a_stateless_code() -> None:
    """The codes -32020 to -32022 tell a client that the server is stateless only; this refusal must not."""
    found = classify(headers(UNKNOWN), message())
    assert isinstance(found, Refused)
    assert found.data == {"supported": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"], "requested": UNKNOWN}


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([META_VERSION, META_CAPABILITIES, "_meta", "name", "x"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
envelopes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": json_values,
        "method": st.sampled_from(["ping", "tools/call", "prompts/get", "", 5]),
        "params": json_values | st.fixed_dictionaries({"_meta": json_values}),
        "result": json_values,
    },
)
header_values = st.sampled_from([NEW, OLD, UNKNOWN, "", "=?base64?x?=", "ping", "tools/call"]) | st.text(max_size=8)


@given(
    body=st.binary(max_size=40) | envelopes.map(lambda e: json.dumps(e).encode()) | st.lists(envelopes, max_size=3).map(lambda e: json.dumps(e).encode()),
    fields=st.lists(st.tuples(st.sampled_from(["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"]), header_values), max_size=4),
)  # fmt: skip
def test_nothing_but_a_verdict_comes_out(body: bytes, fields: list[tuple[str, str]]) -> None:
    """Whatever is sent, `classify` answers with one of its five kinds and never raises; a refusal is a 4xx with a code."""
    found = classify(CIMultiDict(fields), body)
    assert isinstance(found, Modern | Legacy | Notice | Batch | Refused)
    if isinstance(found, Refused):
        assert 400 <= found.status < 500
        assert found.id is None or type(found.id) in (int, str)
