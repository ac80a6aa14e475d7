"""JSON-RPC answers, byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.api.errors import ApplicationError, BatchError, InvalidParams, InvalidRequest, ParseError, TokenNotSent
from rpcgw.exchange import Rejected
from rpcgw.kernel.call import Done
from rpcgw.kernel.codec import decode
from rpcgw.kernel.failure import render
from rpcgw.protocol.jsonrpc.answers import NOT_FOUND, answer_of, batch_body, fault_reply, rejected
from rpcgw.protocol.jsonrpc.envelope import Fault


@pytest.mark.parametrize(
    ("identifier", "encoded", "expected"),
    [
        pytest.param(7, b'{"a":1}', b'{"id":7,"result":{"a":1},"jsonrpc":"2.0"}', id="a value"),
        pytest.param(0, b"null", b'{"id":0,"result":null,"jsonrpc":"2.0"}', id="a null result is there"),
        pytest.param('q"', b'"PONG"', b'{"id":"q\\"","result":"PONG","jsonrpc":"2.0"}', id="an id that needs escaping"),
        pytest.param(10**30, b"1", b'{"id":1' + b"0" * 30 + b',"result":1,"jsonrpc":"2.0"}', id="a big id"),
    ],
)
def test_success(identifier: int | str, encoded: bytes, expected: bytes) -> None:
    """Members stand in the order id, result, jsonrpc; the result is spliced as it is."""
    assert answer_of(identifier, Done(encoded)) == expected


def test_failure() -> None:
    """Members stand in the order id, error, jsonrpc; `extra` is kept."""
    failed = render(ApplicationError("no", code=4010, extra={"why": "so"}), exposed=False)
    assert answer_of("a", failed) == (
        b'{"id":"a","error":{"code":4010,"message":"no",'
        b'"data":{"exception":"ApplicationError","extra":{"why":"so"}}},"jsonrpc":"2.0"}'
    )


@given(st.text() | st.integers())
def test_any_id_comes_back(identifier: int | str) -> None:
    """An id comes back as it came."""
    assert decode(answer_of(identifier, Done(b"1")))["id"] == identifier


@pytest.mark.parametrize(
    ("fault", "status", "code", "data"),
    [
        pytest.param(
            Fault(ParseError(extra={"reason": "r"})),
            400,
            -32700,
            {"exception": "ParseError", "extra": {"reason": "r"}},
            id="no JSON",
        ),
        pytest.param(
            Fault(InvalidRequest(extra={"id": ["x"]})),
            200,
            -32600,
            {"exception": "InvalidRequest", "extra": {"id": ["x"]}},
            id="no envelope",
        ),
        pytest.param(Fault(InvalidParams("m"), 5), 200, -32602, {"exception": "InvalidParams"}, id="a bad $rpc"),
        pytest.param(Fault(BatchError("m")), 200, -32301, {"exception": "BatchError"}, id="a batch too large"),
    ],
)
def test_fault(fault: Fault, status: int, code: int, data: dict[str, object]) -> None:
    """Only what is no JSON has a status of its own."""
    reply = fault_reply(fault)
    assert isinstance(reply.body, bytes)
    answer = decode(reply.body)
    assert reply.status == status
    assert answer == {
        "id": fault.id,
        "error": {"code": code, "message": fault.error.message, "data": data},
        "jsonrpc": "2.0",
    }


def test_rejected() -> None:
    """A refusal is one error object with the id null, the refusal's status and headers; its log stays here."""
    verdict = Rejected(
        401, -32401, TokenNotSent.default_message, headers=(("WWW-Authenticate", "Bearer"),), log="secret"
    )
    reply = rejected(verdict)
    assert reply.status == 401
    assert reply.body == (
        b'{"id":null,"error":{"code":-32401,"message":"Unauthorized. Token not found",'
        b'"data":{"exception":"TokenNotSent"}},"jsonrpc":"2.0"}'
    )
    assert reply.headers == (("Content-Type", "application/json"), ("WWW-Authenticate", "Bearer"))


def test_not_found() -> None:
    """C-20: a document of a version that the group lacks is 404, in JSON."""
    reply = rejected(NOT_FOUND)
    assert reply.status == 404
    assert isinstance(reply.body, bytes)
    assert decode(reply.body)["error"]["code"] == -32601


def test_batch() -> None:
    """A batch's answer is the array of its answers."""
    assert batch_body([b"1", b"2"]) == b"[1,2]"
