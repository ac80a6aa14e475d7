"""Requests as bytes, and answers cut out of bytes."""

from __future__ import annotations

import pytest

from rpcgw.cli.load.wire import Answered, Asked, NotFramedError, first

HEAD = b"HTTP/1.1 200 OK\r\nServer: x"
LENGTH = HEAD + b"\r\ncontent-LENGTH: 2"
CHUNKS = HEAD + b"\r\nTransfer-Encoding: chunked"

ANSWERS = [
    pytest.param(LENGTH + b"\r\n\r\nok", (200, b"ok"), id="a length"),
    pytest.param(LENGTH + b"\r\n\r\nok and more", (200, b"ok"), id="what follows is not of it"),
    pytest.param(HEAD + b"\r\nContent-Length: 0\r\n\r\n", (200, b""), id="an empty body"),
    pytest.param(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", (304, b""), id="304 has no body and no length"),
    pytest.param(CHUNKS + b"\r\n\r\n2\r\nok\r\n0\r\n\r\n", (200, b"ok"), id="one chunk"),
    pytest.param(
        CHUNKS + b"\r\n\r\n1;name=x\r\no\r\nA\r\n\r\nk4567890\r\n0\r\n\r\n",
        (200, b"o\r\nk4567890"),
        id="two, a break in one",
    ),
]

UNFINISHED = [
    pytest.param(b"", id="nothing"),
    pytest.param(LENGTH, id="half a head"),
    pytest.param(LENGTH + b"\r\n\r\no", id="half a body"),
    pytest.param(CHUNKS + b"\r\n\r\n", id="no chunk yet"),
    pytest.param(CHUNKS + b"\r\n\r\n2\r\nok", id="a chunk without its end"),
    pytest.param(CHUNKS + b"\r\n\r\n2\r\nok\r\n", id="no last chunk"),
    pytest.param(CHUNKS + b"\r\n\r\n2\r\nok\r\n0\r\n", id="half of the last chunk"),
]

BROKEN = [
    pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "no HTTP/1.1", id="another version"),
    pytest.param(b"SSH-2.0-x\r\n\r\n", "no HTTP/1.1", id="another protocol"),
    pytest.param(HEAD + b"\r\n\r\nok", "no Content-Length", id="until the connection ends"),
    pytest.param(HEAD + b"\r\nContent-Length: two\r\n\r\nok", "no Content-Length", id="a length that is no number"),
    pytest.param(CHUNKS + b"\r\n\r\nx\r\nok\r\n", "no size", id="a chunk without a size"),
    pytest.param(CHUNKS + b"\r\n\r\n2\r\nokay\r\n", "does not end", id="a chunk that is longer than it says"),
]


@pytest.mark.parametrize(("data", "wanted"), ANSWERS)
def test_an_answer_is_cut_out_where_it_ends(data: bytes, wanted: tuple[int, bytes]) -> None:
    """Status and body are those of the first answer, however its end is told."""
    answer = first(data)
    assert answer is not None
    assert (answer.status, answer.body) == wanted


@pytest.mark.parametrize("data", UNFINISHED)
def test_what_is_not_there_as_a_whole_is_waited_for(data: bytes) -> None:
    """A part of an answer is no answer."""
    assert first(data) is None


@pytest.mark.parametrize(("data", "reason"), BROKEN)
def test_what_cannot_be_framed_is_refused(data: bytes, reason: str) -> None:
    """Where an answer ends is never guessed."""
    with pytest.raises(NotFramedError, match=reason):
        first(data)


@pytest.mark.parametrize("data", [case.values[0] for case in ANSWERS if case.id != "what follows is not of it"])
def test_the_size_counts_every_byte_that_came(data: bytes) -> None:
    """So that what follows can be told from it."""
    answer = first(data + b"HTTP/1.1 ")
    assert answer is not None
    assert answer.size == len(data)


def test_fields_are_found_by_any_spelling() -> None:
    """Names of fields have no case."""
    answer = Answered(200, b"HTTP/1.1 200 OK\r\nmcp-session-ID:  a1 ", b"", 0)
    assert (answer.header("Mcp-Session-Id"), answer.header("Date")) == ("a1", None)


def test_a_request_is_whole() -> None:
    """A POST has its length and its type, whatever else it is sent with."""
    assert Asked("/rpc?x=1", b"{}", {"X-Own": "1"}).raw("h:1") == (
        b"POST /rpc?x=1 HTTP/1.1\r\nHost: h:1\r\nX-Own: 1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_a_get_has_no_body() -> None:
    """Nothing is said of a body where there is none."""
    assert Asked("/", method="GET").raw("h") == b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
