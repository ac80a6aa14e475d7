"""`rpcgw process`: what `/rpc` would answer, on standard output."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kernel_plugin import SOURCE, Notes, message
from tests.support.acceptance import Note, run_noted
from tests.support.daemon import RPCGW, clean_environment, cli, folder

ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "closed": {"resource": "rpc", "prefix": "/closed", "defaults": {"api_group": "mcp"}},
}
CONFIG = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {"mcp": {"protected_api": True, "token_name": "X-Key", "clients_tokens": ["s3cret-token"]}},
        }
    }
}


@pytest.fixture(scope="module")
def notes() -> Iterator[Notes]:
    with folder(config=CONFIG, routes=ROUTES, plugins={"kernel_demo.py": SOURCE}) as made:
        yield Notes(made)


@pytest.fixture
def place(notes: Notes) -> Path:
    """The folder with the configuration."""
    return notes.path.parent


def process(place: Path, *arguments: str, **env: str) -> tuple[int, Any, str]:
    """Run the command: its exit code, the JSON that it prints or None, and what it says beside."""
    done = cli("process", *arguments, cwd=place, env={"NOTES": str(place / "notes.db"), **env})
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def text(method: str, params: Any = None, identifier: Any = 1) -> str:
    return json.dumps(message(method, params, identifier))


BODIES = [
    pytest.param(text("ping"), {"id": 1, "result": "PONG", "jsonrpc": "2.0"}, id="a call"),
    pytest.param(f'"{text("ping")}"', {"id": 1, "result": "PONG", "jsonrpc": "2.0"}, id="in quotation marks"),
    pytest.param(text("Demo.echo", {"value": "ї"}), {"id": 1, "result": "ї", "jsonrpc": "2.0"}, id="any script"),
    pytest.param(
        f"[{text('Demo.make', {'name': 'x'}, 'a')},{text('Demo.echo', ['@FROM:a(name)'], 'b')}]",
        [
            {"id": "a", "result": {"id": 0, "name": "x", "none": None, "twist": "@FROM:a(id)"}, "jsonrpc": "2.0"},
            {"id": "b", "result": "x", "jsonrpc": "2.0"},
        ],
        id="a batch with references",
    ),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_answers(place: Path, body: str, expected: Any, record_property: Note) -> None:
    """A-RPC-98: a request or a batch is answered as JSON, and the status is 0."""
    code, answer, said = process(place, body)
    run_noted(record_property, f"rpcgw process '{body}'", code, json.dumps(answer))
    assert (code, answer, said) == (0, expected, "")


ERRORS = [
    pytest.param([text("Demo.nosuch")], -32601, id="an unknown method"),
    pytest.param(["--ver", "v7", text("ping")], -32601, id="an unknown version"),
    pytest.param(["{"], -32700, id="no JSON"),
    pytest.param([text("Demo.touch_exact", {"key": 7})], -32602, id="wrong parameters"),
    pytest.param([], -32600, id="nothing"),
    pytest.param(["--group", "mcp", text("Demo.echo")], -32401, id="no token"),
    pytest.param(["--group", "mcp", "--token-env", "WRONG", text("Demo.echo")], -32403, id="a wrong token"),
]


@pytest.mark.parametrize(("arguments", "code"), ERRORS)
def test_errors(place: Path, arguments: list[str], code: int, record_property: Note) -> None:
    """A-RPC-98: an error is an answer: JSON on standard output, the status 0."""
    status, answer, _ = process(place, *arguments, WRONG="not it")
    run_noted(record_property, f"rpcgw process {shlex.join(arguments)}", status, json.dumps(answer))
    assert (status, answer["error"]["code"]) == (0, code)


def test_token(place: Path) -> None:
    """A-RPC-98: the token comes from an environment variable, and lets in whom the group lets in."""
    arguments = ("--group", "mcp", "--token-env", "KEY", text("Demo.echo", {"value": 5}))
    assert process(place, *arguments, KEY="s3cret-token")[:2] == (0, {"id": 1, "result": 5, "jsonrpc": "2.0"})


def test_notification(place: Path, notes: Notes) -> None:
    """A-RPC-98: nothing is printed, and it has run when the command ends."""
    body = json.dumps({"method": "Demo.make", "params": {"name": "silent"}})
    assert process(place, body) == (0, None, "")
    assert len(notes.all("make", name="silent")) == 1


def test_standard_input(place: Path) -> None:
    """A-RPC-98: - reads the request from standard input."""
    env = clean_environment(place, {"NOTES": str(place / "notes.db")})
    done = subprocess.run(
        [RPCGW, "process", "-"],
        cwd=place,
        env=env,
        input=text("ping").encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["result"] == "PONG"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--group", "nosuch", "{}"], "nosuch", id="a group without a route"),
        pytest.param(["--ver", "seven", "{}"], "write v1", id="no version"),
        pytest.param(["--token-env", "NOT_SET", "{}"], "NOT_SET", id="a variable that is not set"),
    ],
)
def test_mistakes(place: Path, arguments: list[str], words: str) -> None:
    """What cannot be asked at all is a usage error: status 2, in words, and nothing on standard output."""
    status, answer, said = process(place, *arguments)
    assert (status, answer) == (2, None)
    assert words in said
