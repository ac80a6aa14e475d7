"""The JSON-RPC envelope: one table, and what holds for any bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.kernel.codec import decode
from rpcgw.protocol.jsonrpc.answers import fault_answer
from rpcgw.protocol.jsonrpc.envelope import Batch, Fault, Message, Request, read
from rpcgw.protocol.jsonrpc.special import Special

BIG = 10**4000


def shown(message: Message) -> object:
    """A message as rows of the table write it."""
    match message:
        case Request(method, params, identifier, special):
            return (method, params, identifier, special) if special != Special() else (method, params, identifier)
        case Fault(error, identifier, silent):
            return error.wire_code, identifier, *sorted(error.extra), *(["silent"] if silent else [])
        case Batch(items):
            return [shown(item) for item in items]


ENVELOPES = [
    pytest.param('{"jsonrpc":"2.0","method":"ping","id":1}', ("ping", None, 1), id="a call"),
    pytest.param('{"method":"ping","id":1}', ("ping", None, 1), id="jsonrpc may be absent"),
    pytest.param('{"method":"ping","id":0}', ("ping", None, 0), id="the id 0"),
    pytest.param('{"method":"ping","id":-7}', ("ping", None, -7), id="a negative id"),
    pytest.param('{"method":"ping","id":""}', ("ping", None, ""), id="an empty id"),
    pytest.param('{"method":"ping","id":"\\u0456"}', ("ping", None, "і"), id="an id in any script"),
    pytest.param(f'{{"method":"ping","id":{BIG}}}', ("ping", None, BIG), id="an id of 4,001 digits is exact"),
    pytest.param('{"method":"ping"}', ("ping", None, None), id="a notification"),
    pytest.param('{"method":"m","id":1,"params":{"a":1}}', ("m", {"a": 1}, 1), id="named params"),
    pytest.param('{"method":"m","id":1,"params":[1,2]}', ("m", [1, 2], 1), id="positional params"),
    pytest.param('{"method":"m","id":1,"params":null}', ("m", None, 1), id="params null mean none"),
    pytest.param('{"method":"m","id":1,"params":{}}', ("m", None, 1), id="params {} mean none"),
    pytest.param('{"method":"m","id":1,"params":[]}', ("m", None, 1), id="params [] mean none"),
    pytest.param('{"method":"m","id":1,"extra":true}', ("m", None, 1), id="unknown members are ignored"),
    pytest.param('{"method":"a","id":1,"method":"b"}', ("b", None, 1), id="of a member given twice the last holds"),
    pytest.param(' \r\n\t{"method":"m","id":1} ', ("m", None, 1), id="white space around"),
    pytest.param('{"method":"m","id":null}', (-32600, None, "id"), id="the id null"),
    pytest.param('{"method":"m","id":1.5}', (-32600, None, "id"), id="the id 1.5"),
    pytest.param('{"method":"m","id":1.0}', (-32600, None, "id"), id="the id 1.0"),
    pytest.param('{"method":"m","id":true}', (-32600, None, "id"), id="the id true"),
    pytest.param('{"method":"m","id":{}}', (-32600, None, "id"), id="an object as id"),
    pytest.param('{"method":"m","id":[1]}', (-32600, None, "id"), id="an array as id"),
    pytest.param('{"jsonrpc":"1.0","method":"m","id":1}', (-32600, 1, "jsonrpc"), id="another version"),
    pytest.param('{"jsonrpc":2.0,"method":"m","id":1}', (-32600, 1, "jsonrpc"), id="the version as a number"),
    pytest.param('{"jsonrpc":null,"method":"m","id":1}', (-32600, 1, "jsonrpc"), id="the version null"),
    pytest.param('{"id":"x"}', (-32600, "x", "method"), id="no method"),
    pytest.param('{"method":" ","id":"x"}', (-32600, "x", "method"), id="a blank method"),
    pytest.param('{"method":7}', (-32600, None, "method"), id="a wrong envelope is no notification"),
    pytest.param('{"method":"m","id":1,"params":"x"}', (-32600, 1, "params"), id="params in a string"),
    pytest.param('{"method":"m","id":1,"params":false}', (-32600, 1, "params"), id="params false"),
    pytest.param('{"method":"m","id":1,"params":0}', (-32600, 1, "params"), id="params 0"),
    pytest.param(
        '{"jsonrpc":"1","method":1,"id":null,"params":1}',
        (-32600, None, "id", "jsonrpc", "method", "params"),
        id="everything that is wrong is named at once",
    ),
    pytest.param("{}", (-32600, None, "method"), id="an empty object"),
    pytest.param("1", (-32600, None, "request"), id="a number"),
    pytest.param('"ping"', (-32600, None, "request"), id="a string"),
    pytest.param("null", (-32600, None, "request"), id="null"),
    pytest.param("[]", (-32600, None), id="an empty batch"),
    pytest.param("[1]", [(-32600, None, "request")], id="a batch of nonsense"),
    pytest.param(
        '[{"method":"a","id":1},{"method":"b"},7,{"method":"a","id":1}]',
        [("a", None, 1), ("b", None, None), (-32600, None, "request"), ("a", None, 1)],
        id="a batch keeps its order and its doubles, each item on its own",
    ),
    pytest.param("[[]]", [(-32600, None, "request")], id="a batch within a batch"),
    pytest.param(json.dumps([{"method": "m"}] * 5), (-32301, None), id="a batch over the limit is one fault"),
    pytest.param(
        '{"method":"m","id":1,"params":{"a":1,"$rpc":{"timeout":10}}}',
        ("m", {"a": 1}, 1, Special(timeout=10)),
        id="$rpc is split off",
    ),
    pytest.param('{"method":"m","id":1,"params":{"$rpc":{}}}', ("m", None, 1), id="$rpc alone leaves no params"),
    pytest.param(
        '{"method":"m","id":1,"params":{"timeout":1,"callback":"x"}}',
        ("m", {"timeout": 1, "callback": "x"}, 1),
        id="params named like special ones are the method's",
    ),
    pytest.param(
        '{"method":"m","id":1,"params":[{"$rpc":{"timeout":1}}]}',
        ("m", [{"$rpc": {"timeout": 1}}], 1),
        id="positional params have no $rpc",
    ),
    pytest.param(
        '{"method":"m","id":1,"params":{"$rpc":{"timeout":1}}}',
        (-32602, 1, "[params][$rpc][timeout]"),
        id="a bad $rpc is a bad param",
    ),
    pytest.param(
        '{"method":"m","params":{"$rpc":{"timeout":1}}}',
        (-32602, None, "[params][$rpc][timeout]", "silent"),
        id="a notification's bad $rpc is never answered",
    ),
]


@pytest.mark.parametrize(("body", "expected"), ENVELOPES)
def test_read(body: str, expected: object) -> None:
    """Each body means exactly this."""
    assert shown(read(body.encode(), max_batch=4)) == expected


NO_JSON = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"   ", id="white space"),
    pytest.param(b"hello", id="no JSON"),
    pytest.param(b'{"method":"m","id":1', id="a truncated body"),
    pytest.param(b'{"method":"m","id":1}}', id="too much of a body"),
    pytest.param(b'{"method":"\xff","id":1}', id="bytes that are not UTF-8"),
    pytest.param(b'\xef\xbb\xbf{"method":"m","id":1}', id="a byte order mark"),
    pytest.param('{"method":"m"}'.encode("utf-16"), id="UTF-16"),
    pytest.param(b'{"method":"m","id":1,"params":[NaN]}', id="NaN"),
    pytest.param(b'{"method":"m","id":1,"params":[Infinity]}', id="Infinity"),
    pytest.param(b'{"method":"m","id":1,"params":[1e999]}', id="a number beyond every float"),
    pytest.param(b'{"method":"\\ud800","id":1}', id="half of a surrogate pair"),
    pytest.param(b"[" * 100_000, id="100,000 open brackets"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, id="100,000 nested brackets"),
    pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="100,000 nested braces"),
    pytest.param(b'{"method":"m","id":' + b"7" * 5000 + b"}", id="an id of 5,000 digits"),
    pytest.param(b'{"method":"m","id":1,"params":[' + b"7" * 5000 + b"]}", id="a 5,000-digit integer"),
]


@pytest.mark.parametrize("body", NO_JSON)
def test_no_json(body: bytes) -> None:
    """What is no JSON that can be read exactly is one parse error."""
    assert shown(read(body, max_batch=4)) == (-32700, None, "reason")


@given(st.binary())
def test_bytes_never_raise(body: bytes) -> None:
    """Whatever the bytes, the parser answers with a message."""
    assert isinstance(read(body, max_batch=4), Message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "method": st.text() | json_values,
        "id": st.text() | st.integers() | json_values,
        "params": st.dictionaries(st.just("$rpc") | st.text(), json_values, max_size=3) | json_values,
    },
)


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


@given(members | st.lists(members, max_size=6) | json_values)
def test_json_never_raises(value: Any) -> None:
    """Whatever the JSON, faults can be written down, and the id that goes back is the one that came."""
    message = read(encoded(value), max_batch=4)
    items = message.items if isinstance(message, Batch) else (message,)
    sent = value if isinstance(message, Batch) else [value]
    for item, source in zip(items, sent, strict=True):
        if isinstance(item, Fault):
            assert decode(fault_answer(item))["id"] == item.id
        if item.id is not None:
            assert item.id == source["id"]
            assert type(item.id) is type(source["id"])


@given(st.dictionaries(st.text(), json_values, max_size=3))
def test_params_come_through_unchanged(params: dict[str, Any]) -> None:
    """What a method is given is what was sent, without `$rpc`."""
    body = encoded({"method": "m", "id": 1, "params": {**params, "$rpc": {"rayId": "x"}}})
    message = read(body, max_batch=4)
    if isinstance(message, Request):
        assert (message.params or {}) == {name: value for name, value in params.items() if name != "$rpc"}
    else:
        assert isinstance(message, Fault)
        assert message.error.wire_code == -32700
