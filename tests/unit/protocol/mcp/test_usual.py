"""The usual shape of a call: what is read in one go is what the long way reads, and all else is left to that."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.exchange import Fields
from rpcgw.protocol.mcp import usual
from rpcgw.protocol.mcp.classify import classify
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from rpcgw.protocol.mcp.messages import Legacy, Modern

MODERN = "2026-07-28"
META = {META_VERSION: MODERN, META_CAPABILITIES: {}}
STATELESS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "add"}
SESSION = {"mcp-protocol-version": "2025-06-18", "mcp-session-id": "0123456789abcdef"}


def message(params: dict[str, Any], **members: Any) -> bytes:
    """A call's body."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params, **members})


def asked(body: bytes, fields: dict[str, str]) -> Modern | Legacy | None:
    """What is read of a request in one go."""
    said = usual.said(Fields(fields))
    found = None if said is None else usual.read(body, said)
    return None if found is None else found.request()


USUAL = [
    pytest.param({"name": "add", "arguments": {"a": 1}, "_meta": META}, STATELESS, id="stateless"),
    pytest.param({"name": "add", "_meta": META}, STATELESS, id="stateless, no arguments"),
    pytest.param({"name": "add", "_meta": {**META, "progressToken": 1}}, STATELESS, id="stateless, a progress token"),
    pytest.param({"name": "add", "arguments": {"a": [{"b": 1}]}}, SESSION, id="session"),
    pytest.param({"name": "add", "_meta": {"progressToken": "x"}}, SESSION, id="session, a progress token"),
    pytest.param({"name": "add"}, {"mcp-session-id": "x"}, id="session, no revision in the head"),
]


@pytest.mark.parametrize(("params", "fields"), USUAL)
def test_the_usual_shape_is_read_as_the_long_way_reads_it(params: dict[str, Any], fields: dict[str, str]) -> None:
    """The same request, but for arguments that were left out."""
    read = asked(message(params), fields)
    found = classify(Fields(fields), message({"arguments": {}, **params}))
    assert read == found


LEFT = [
    pytest.param(b"", STATELESS, id="no body"),
    pytest.param(b"[]", STATELESS, id="a batch"),
    pytest.param(message({"name": "add", "_meta": META}, id=1.5), STATELESS, id="an id that is no whole number"),
    pytest.param(message({"name": "add", "_meta": META}, id=None), STATELESS, id="an id that is null"),
    pytest.param(message({"name": "add", "_meta": META}, id=True), STATELESS, id="an id that is true"),
    pytest.param(message({"name": "add", "_meta": META}, method="tools/list"), STATELESS, id="another method"),
    pytest.param(message({"name": "add", "_meta": META}, jsonrpc="1.0"), STATELESS, id="another JSON-RPC"),
    pytest.param(message({"name": "add", "_meta": META}, more=1), STATELESS, id="an unknown member"),
    pytest.param(message({"name": "add", "more": 1, "_meta": META}), STATELESS, id="an unknown parameter"),
    pytest.param(message({"name": "add", "arguments": None, "_meta": META}), STATELESS, id="arguments that are null"),
    pytest.param(message({"name": "sub", "_meta": META}), STATELESS, id="a name that the head does not repeat"),
    pytest.param(message({"name": "add"}), STATELESS, id="no meta"),
    pytest.param(message({"name": "add", "_meta": {META_VERSION: MODERN}}), STATELESS, id="no capabilities"),
    pytest.param(message({"name": "add", "_meta": {**META, META_LOG_LEVEL: "info"}}), STATELESS, id="a log level"),
    pytest.param(message({"name": "add", "_meta": {**META, "traceparent": "x"}}), STATELESS, id="a trace"),
    pytest.param(message({"name": "add", "_meta": META}), SESSION, id="a stateless claim in a session"),
    pytest.param(message({"name": "add"}), {**SESSION, "mcp-protocol-version": "1"}, id="an unknown revision"),
    pytest.param(message({"name": "add"}), {}, id="no session"),
    pytest.param(
        message({"name": "add", "_meta": META}), {**STATELESS, "mcp-method": "tools/list"}, id="another Mcp-Method"
    ),
    pytest.param(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":'
        + b"[" * 300
        + b"]" * 300
        + b"}}}",
        SESSION,
        id="nested too deeply",
    ),
]


@pytest.mark.parametrize(("body", "fields"), LEFT)
def test_what_is_unusual_is_left_alone(body: bytes, fields: dict[str, str]) -> None:
    """Nothing is read of it, so that the long way says what is wrong, or takes it."""
    assert asked(body, fields) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PARAMS = st.fixed_dictionaries(
    {"name": st.sampled_from(["add", "sub", ""]) | JSON},
    optional={
        "arguments": JSON,
        "_meta": st.just(META)
        | st.fixed_dictionaries(
            {},
            optional={
                META_VERSION: st.sampled_from([MODERN, "2025-06-18"]) | JSON,
                META_CAPABILITIES: JSON,
                "progressToken": JSON,
                "traceparent": JSON,
            },
        ),
        "more": JSON,
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | JSON, "method": st.just("tools/call") | JSON, "params": PARAMS},
    optional={"id": st.integers() | st.text(max_size=3) | JSON, "more": JSON},
)
HEADS = st.sampled_from([STATELESS, SESSION, {"mcp-session-id": "x"}, {}, {**STATELESS, "mcp-session-id": "x"}])


@given(body=MESSAGES.map(msgspec.json.encode), fields=HEADS)
def test_nothing_is_read_that_the_long_way_reads_otherwise(body: bytes, fields: dict[str, str]) -> None:
    """Whatever is read in one go is the same request the long way, by its id, name, arguments and era."""
    read = asked(body, fields)
    if read is None:
        return
    found = classify(Fields(fields), body)
    assert type(found) is type(read)
    assert isinstance(found, Modern | Legacy)
    assert (found.id, found.method, found.params["name"]) == (read.id, read.method, read.params["name"])
    assert found.params.get("arguments", {}) == read.params["arguments"]
