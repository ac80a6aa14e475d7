"""How the tests' own harness reads a daemon's log, without a daemon."""

from __future__ import annotations

import pytest

from tests.support.daemon import address_in, parse_log

LOGS = [
    pytest.param('{"event": "listening", "address": "127.0.0.1:8080"}\n', "http://127.0.0.1:8080", id="host and port"),
    pytest.param('{"event": "listening", "address": "http://[::1]:8080"}\n', "http://[::1]:8080", id="a URL"),
    pytest.param(
        '{"event": "listening", "address": "unix:/run/a"}\n{"event": "listening", "address": "127.0.0.1:1"}\n',
        "http://127.0.0.1:1",
        id="a unix socket is passed over",
    ),
    pytest.param(
        "18:00:00 info    listening            address=127.0.0.1:80 pid=3\n", "http://127.0.0.1:80", id="for people"
    ),
    pytest.param("level=info event=listening address=127.0.0.1:80 pid=3\n", "http://127.0.0.1:80", id="logfmt"),
    pytest.param('{"event": "compiled"}\nlistening soon\n', None, id="not yet"),
]


@pytest.mark.parametrize(("log", "address"), LOGS)
def test_the_address_is_read_from_the_log(log: str, address: str | None) -> None:
    """The line `listening` names the address, in each of the log's formats."""
    assert address_in(log) == address


def test_lines_that_are_no_json_objects_are_left_out() -> None:
    """A traceback or a bare number between the lines disturbs nobody."""
    assert parse_log('{"event": "a"}\nTraceback:\n3\n{"event"\n{"event": "b"}\n') == [{"event": "a"}, {"event": "b"}]
