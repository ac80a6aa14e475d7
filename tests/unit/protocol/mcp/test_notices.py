"""What a client hears of a call that runs, and who wants to hear it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rpcgw.api.context import LogLevel
from rpcgw.protocol.mcp import notices


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        pytest.param("application/json, text/event-stream", True, id="what the SDKs send"),
        pytest.param("text/event-stream", True, id="nothing else"),
        pytest.param("Text/Event-Stream;q=0.5", True, id="in capitals, with a quality"),
        pytest.param("application/json;q=0.9 ,text/event-stream ; q=1", True, id="blanks anywhere"),
        pytest.param("text/event-stream;q=0", False, id="refused"),
        pytest.param("text/event-stream; q=0.000", False, id="refused with decimals"),
        pytest.param("*/*", False, id="a wildcard"),
        pytest.param("text/*", False, id="half a wildcard"),
        pytest.param("application/json", False, id="only JSON"),
        pytest.param("", False, id="an empty header"),
        pytest.param(None, False, id="no header"),
    ],
)
def test_who_wants_events(accept: str | None, wanted: bool) -> None:
    """Only who names them: some clients send a wildcard and read JSON alone."""
    assert notices.accepts_events(accept) is wanted


@pytest.mark.parametrize(
    ("meta", "token"),
    [
        pytest.param({"progressToken": "t"}, "t", id="a text"),
        pytest.param({"progressToken": 0}, 0, id="zero"),
        pytest.param({"progressToken": ""}, "", id="an empty text"),
        pytest.param({"progressToken": True}, None, id="a boolean is no number"),
        pytest.param({"progressToken": 1.5}, None, id="a fraction"),
        pytest.param({"progressToken": None}, None, id="null"),
        pytest.param({}, None, id="none"),
    ],
)
def test_under_which_token(meta: dict[str, Any], token: object) -> None:
    """MCP, ProgressToken: a text or a whole number."""
    found = notices.token_of(meta)
    assert found == token
    assert type(found) is type(token)


def test_progress_says_only_what_is_known() -> None:
    """No null members; a total of nothing is a total."""
    assert json.loads(notices.progress("t", 0.5, None, None)) == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 0.5},
    }
    assert json.loads(notices.progress(1, 1, 0, ""))["params"] == {
        "progressToken": 1,
        "progress": 1,
        "total": 0,
        "message": "",
    }


@pytest.mark.parametrize(
    ("level", "threshold", "asked"),
    [
        pytest.param("info", "info", True, id="the level itself"),
        pytest.param("emergency", "debug", True, id="a graver one"),
        pytest.param("notice", "warning", False, id="a milder one"),
        pytest.param("emergency", None, False, id="no threshold asks for nothing"),
    ],
)
def test_which_messages_are_asked_for(level: LogLevel, threshold: str | None, asked: bool) -> None:
    """RFC 5424's order."""
    assert notices.is_asked(level, threshold) is asked


def test_a_message_carries_any_value() -> None:
    """A logger is named only where there is one."""
    assert json.loads(notices.log("info", [1, None], None))["params"] == {"level": "info", "data": [1, None]}
    assert json.loads(notices.log("info", "x", "a.b"))["params"] == {"level": "info", "logger": "a.b", "data": "x"}


def test_an_event_is_one_line_of_data() -> None:
    """HTML, Server-sent events: a line break within would begin another field."""
    message = notices.log("info", "a\nb\r", None)
    assert notices.event(message) == b"event: message\ndata: " + message + b"\n\n"
    assert notices.event(message).count(b"\n") == 3
    assert b"\r" not in notices.event(message)


@pytest.mark.parametrize(
    ("params", "request_id"),
    [
        pytest.param({"requestId": 1}, 1, id="a number"),
        pytest.param({"requestId": "1", "reason": "x"}, "1", id="a text"),
        pytest.param({"requestId": True}, None, id="a boolean"),
        pytest.param({"requestId": [1]}, None, id="a list"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_which_request_is_given_up(params: dict[str, Any], request_id: object) -> None:
    """What is no id gives up nothing."""
    assert notices.cancelled(params) == request_id
