"""What counts as a success."""

from __future__ import annotations

import pytest

from rpcgw.cli.load.judging import method_succeeded, same, tool_succeeded
from rpcgw.cli.load.wire import Answered

PLAIN = b"HTTP/1.1 200 OK"
STREAM = PLAIN + b"\r\nContent-Type: text/event-stream"
GOOD = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}'
PROGRESS = b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'

TOOLS = [
    pytest.param(200, PLAIN, GOOD, True, id="a result"),
    pytest.param(200, PLAIN, b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}', True, id="isError may be left out"),
    pytest.param(200, STREAM, PROGRESS + b"data: " + GOOD + b"\n\n", True, id="a stream that ends with the result"),
    pytest.param(200, STREAM, PROGRESS, False, id="a stream without a result"),
    pytest.param(200, STREAM, b"", False, id="an empty stream"),
    pytest.param(200, PLAIN, GOOD.replace(b"false", b"true"), False, id="a result that is an error"),
    pytest.param(200, PLAIN, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602}}', False, id="an error"),
    pytest.param(200, PLAIN, GOOD.replace(b'"id":1', b'"id":2'), False, id="an answer to another request"),
    pytest.param(200, PLAIN, b"<html>", False, id="no JSON"),
    pytest.param(200, PLAIN, b"[]", False, id="no object"),
    pytest.param(503, PLAIN, GOOD, False, id="another status"),
]

METHODS = [
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":7}', True, id="a result"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":null}', True, id="null is a result"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}', False, id="an error"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":7}', False, id="an answer to another request"),
    pytest.param(b"", False, id="nothing"),
]


@pytest.mark.parametrize(("status", "head", "body", "succeeded"), TOOLS)
def test_a_tool_succeeds_by_what_it_answers(status: int, head: bytes, body: bytes, succeeded: bool) -> None:
    """A tool's error is a failure, though its HTTP status is 200."""
    assert tool_succeeded(Answered(status, head, body, 0)) is succeeded


@pytest.mark.parametrize(("body", "succeeded"), METHODS)
def test_a_method_succeeds_with_a_result(body: bytes, succeeded: bool) -> None:
    """Any result is one."""
    assert method_succeeded(Answered(200, PLAIN, body, 0)) is succeeded


def test_the_same_is_what_came_first() -> None:
    """Of successes the first one is the measure; a failure before it is none."""
    judge = same(method_succeeded)
    bodies = [b'{"id":1,"error":{}}', b'{"id":1,"result":1}', b'{"id":1,"result":2}', b'{"id":1,"result":1}']
    assert [judge(Answered(200, PLAIN, body, 0)) for body in bodies] == [False, True, False, True]
