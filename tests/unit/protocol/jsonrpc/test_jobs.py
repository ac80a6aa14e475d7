"""A queue's messages: what is read, what is not, and that what is written is read again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rpcgw.protocol.jsonrpc.envelope import Request
from rpcgw.protocol.jsonrpc.jobs import Job, read_job, tracing, write_job
from rpcgw.protocol.jsonrpc.special import Special

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HOOK = Special(callback="https://hooks.example.com/x")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param({"request": PING}, Job(Request("ping", None, 1)), id="a request alone"),
        pytest.param({"request": PING, "token": "t"}, Job(Request("ping", None, 1), "t"), id="with a token"),
        pytest.param({"request": PING, "token": None}, Job(Request("ping", None, 1)), id="without one, written out"),
        pytest.param(PING, Job(Request("ping", None, 1)), id="a bare request"),
        pytest.param({"request": {"method": "a"}}, Job(Request("a", None, None)), id="a notification"),
        pytest.param(
            {"request": {**PING, "params": {"a": 1, "$rpc": {"callback": "https://hooks.example.com/x"}}}},
            Job(Request("ping", {"a": 1}, 1, HOOK)),
            id="with a callback",
        ),
        pytest.param(
            {"request": PING, "group": "internal", "version": 2, "locale": "uk"},
            Job(Request("ping", None, 1), None, "internal", 2, "uk"),
            id="for a group, version and language",
        ),
        pytest.param({"request": PING, "version": "v3"}, Job(Request("ping", None, 1), version=3), id="a version as in URLs"),
        pytest.param(
            {"request": PING, "headers": {"Traceparent": "00-1", "Cookie": "x", "baggage": 7}},
            Job(Request("ping", None, 1), headers={"traceparent": "00-1"}),
            id="of its fields those that a webhook carries",
        ),
        pytest.param({"request": PING, "more": 1}, Job(Request("ping", None, 1)), id="members that nobody knows"),
    ],
)  # fmt: skip
def test_read(message: dict[str, Any], expected: Job) -> None:
    """Anybody may write such a message."""
    assert read_job(json.dumps(message).encode()) == expected


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b"", "is no JSON", id="nothing"),
        pytest.param(b"\xff", "is no JSON", id="no UTF-8"),
        pytest.param(b"O:8:stdClass", "is no JSON", id="something serialised"),
        pytest.param(b"[]", "must be a JSON object", id="a list"),
        pytest.param(b"{}", "the request cannot be read", id="an empty object"),
        pytest.param(b'{"request":[]}', "a request is an object", id="a batch"),
        pytest.param(b'{"request":{"id":1}}', "method: must be", id="a request without a method"),
        pytest.param(b'{"request":{"method":"a","params":{"$rpc":{"timeout":1}}}}', "10 to 120", id="a bad $rpc"),
        pytest.param(b'{"request":{"method":"a"},"token":7}', "the message's token", id="a token that is no text"),
        pytest.param(b'{"request":{"method":"a"},"group":null}', "the message's group", id="no group"),
        pytest.param(b'{"request":{"method":"a"},"version":0}', "the message's version", id="the version 0"),
        pytest.param(b'{"request":{"method":"a"},"version":true}', "the message's version", id="the version true"),
        pytest.param(b'{"request":{"method":"a"},"locale":1,"headers":1}', "locale, headers", id="every mistake at once"),
    ],
)  # fmt: skip
def test_unreadable(body: bytes, words: str) -> None:
    """What cannot be read says why."""
    found = read_job(body)
    assert isinstance(found, str)
    assert words in found


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(Job(Request("ping", None, 1)), id="the least"),
        pytest.param(Job(Request("a", {"b": [1]}, "x", HOOK), "t", "g", 2, "uk", {"traceparent": "1"}), id="everything"),
        pytest.param(Job(Request("a", [1, 2], 0)), id="positional parameters"),
        pytest.param(Job(Request("a", None, 1, Special(12.5, "ray", ignore_cache=True))), id="every special one"),
    ],
)  # fmt: skip
def test_written(job: Job) -> None:
    """What is written is read as the same."""
    assert read_job(write_job(job)) == job


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("a\r\nb: c", id="a line break"),
        pytest.param("x" * 8193, id="a value without end"),
        pytest.param("ї", id="what a header cannot hold"),
    ],
)
def test_fields_that_cannot_be_sent(value: str) -> None:
    """A field that would break a request is left out."""
    assert tracing({"traceparent": value}) == {}
