"""The golden requests through the real door: every row of the ladders as raw bytes on a connection of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import mcp_demo
from tests.golden import mcp_requests as golden
from tests.golden.mcp_requests import ABSENT, Row
from tests.support.acceptance import send
from tests.support.daemon import Daemon, daemon
from tests.support.http import Answer

PLUGIN = Path(mcp_demo.__file__).read_text(encoding="utf-8") + "\nplugin = rpc.Plugin(procedures=list(PROCEDURES))\n"
ROUTES = {"demo": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": mcp_demo.GROUP}}}
MCP = {"max_body_bytes": golden.MAX_BODY_BYTES}
IN_PIECES = [
    row
    for row in golden.ROWS
    if row.name
    in {"server/discover", "a mirrored argument that is not ASCII", "a truncated body", "HEAD", "DELETE", "a batch"}
]


@pytest.fixture(scope="module")
def opened() -> Iterator[Daemon]:
    """The demo, for anybody."""
    config = {"ufo_json_rpc": {"security": {"protected_api": False}}, "ufo_mcp": MCP}
    with daemon(config=config, routes=ROUTES, plugins={"demo.py": PLUGIN}) as running:
        yield running


@pytest.fixture(scope="module")
def protected() -> Iterator[Daemon]:
    """The demo, for those who hold the token."""
    config = {"ufo_json_rpc": {"security": {"protected_api": True, "clients_tokens": [golden.TOKEN]}}, "ufo_mcp": MCP}
    with daemon(config=config, routes=ROUTES, plugins={"demo.py": PLUGIN}) as running:
        yield running


def begin(place: Daemon, revision: str) -> str:
    """A session's id."""
    found = send(place, golden.initialize(revision)).header("Mcp-Session-Id")
    assert found is not None
    return found


def ask(place: Daemon, row: Row, pieces: int = 0) -> Answer:
    """Send a row's request and compare what it promises."""
    session = begin(place, row.revision) if row.revision else ""
    answer = send(place, row.raw.replace(b"@SESSION@", session.encode()), pieces=pieces)
    spoken = answer.json() if answer.body else None
    error = spoken.get("error", {}) if isinstance(spoken, dict) else {}
    code = None if row.name == "HEAD" else row.code
    assert (answer.status, error.get("code")) == (row.status, code), spoken
    if isinstance(spoken, dict):
        assert spoken.get("id", ABSENT) == row.id
        assert type(spoken.get("id", ABSENT)) is type(row.id)
    assert row.tells in error.get("message", "")
    assert "null" not in json.dumps(error)
    return answer


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in golden.ROWS])
def test_each_row_of_the_ladders(row: Row, opened: Daemon) -> None:
    """Every request of the golden tables gets its status, its code and its id from a daemon that runs."""
    answer = ask(opened, row)
    assert answer.header_all("Content-Type") == (["application/json"] if answer.body or row.name == "HEAD" else [])


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in golden.TOKEN_ROWS])
def test_each_row_with_a_token(row: Row, protected: Daemon) -> None:
    """A protected group asks for a token, after the guards and the method, before the body."""
    ask(protected, row)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in IN_PIECES])
def test_rows_that_come_byte_by_byte(row: Row, opened: Daemon) -> None:
    """However the network cuts a request, the answer is the same."""
    ask(opened, row, pieces=1)
