"""`$rpc`: one table of what is taken, one of what is refused."""

from typing import Any

import pytest

from rpcgw.api.errors import InvalidParams
from rpcgw.protocol.jsonrpc.special import Special, read_special


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({}, Special(), id="nothing"),
        pytest.param({"timeout": 10}, Special(timeout=10), id="the shortest timeout"),
        pytest.param({"timeout": 120}, Special(timeout=120), id="the longest timeout"),
        pytest.param({"timeout": 10.5}, Special(timeout=10.5), id="a timeout with a fraction"),
        pytest.param({"rayId": "abc"}, Special(ray_id="abc"), id="a ray id"),
        pytest.param({"rayId": 7}, Special(ray_id="7"), id="a ray id in digits"),
        pytest.param({"ignoreCache": True}, Special(ignore_cache=True), id="ignoreCache"),
        pytest.param({"callback": "https://a.b/c?d"}, Special(callback="https://a.b/c?d"), id="a callback"),
        pytest.param({"other": 1}, Special(), id="unknown members are ignored"),
    ],
)
def test_taken(value: dict[str, Any], expected: Special) -> None:
    """A sound `$rpc` is these values."""
    assert read_special(value) == expected


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        pytest.param(None, "[params][$rpc]", "an object", id="null"),
        pytest.param([], "[params][$rpc]", "an object", id="an array"),
        pytest.param({"timeout": 9.99}, "[params][$rpc][timeout]", "10 to 120", id="a timeout too short"),
        pytest.param({"timeout": 121}, "[params][$rpc][timeout]", "10 to 120", id="a timeout too long"),
        pytest.param({"timeout": "10"}, "[params][$rpc][timeout]", "number", id="a timeout in a string"),
        pytest.param({"timeout": None}, "[params][$rpc][timeout]", "number", id="the timeout null"),
        pytest.param({"timeout": True}, "[params][$rpc][timeout]", "number", id="the timeout true"),
        pytest.param({"callback": "/hook"}, "[params][$rpc][callback]", "absolute", id="a callback without a host"),
        pytest.param({"callback": "ftp://a/b"}, "[params][$rpc][callback]", "http or https", id="a callback by FTP"),
        pytest.param({"callback": "https://a/b c"}, "[params][$rpc][callback]", "URL", id="a callback with a space"),
        pytest.param({"callback": ""}, "[params][$rpc][callback]", "URL", id="an empty callback"),
        pytest.param({"callback": 1}, "[params][$rpc][callback]", "URL", id="a callback that is no text"),
        pytest.param({"callback": None}, "[params][$rpc][callback]", "URL", id="the callback null"),
        pytest.param({"rayId": ""}, "[params][$rpc][rayId]", "1 to 200", id="an empty ray id"),
        pytest.param({"rayId": "x" * 201}, "[params][$rpc][rayId]", "1 to 200", id="a long ray id"),
        pytest.param({"rayId": 10**300}, "[params][$rpc][rayId]", "1 to 200", id="a long ray id in digits"),
        pytest.param({"rayId": True}, "[params][$rpc][rayId]", "string", id="the ray id true"),
        pytest.param({"ignoreCache": 1}, "[params][$rpc][ignoreCache]", "true or false", id="ignoreCache 1"),
    ],
)
def test_refused(value: Any, path: str, words: str) -> None:
    """A bad member is a bad param, and the message names its path."""
    error = read_special(value)
    assert isinstance(error, InvalidParams)
    assert path in error.message
    assert words in error.message
    assert list(error.extra) == [path]


def test_all_at_once() -> None:
    """Every mistake is told at once."""
    error = read_special({"timeout": 1, "ignoreCache": "yes"})
    assert isinstance(error, InvalidParams)
    assert sorted(error.extra) == ["[params][$rpc][ignoreCache]", "[params][$rpc][timeout]"]
