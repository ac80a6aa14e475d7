"""T-17: what an error tells in each environment, and who hears of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.mcp import Session, Stateless
from tests.support.notes import notes

PLUGIN = """
import json
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

import rpcgw as rpc

NOTES = Path(__file__).resolve().parent.parent / "notes.jsonl"


@rpc.procedure(groups=["mcp"], with_default=False)
class Fails:
    def unexpected(self) -> None:
        raise ValueError("the password is sesame")  # here

    def chosen(self) -> None:
        raise rpc.DataNotFound("There is no such thing.", extra={"thing": 7})

    def asserted(self, count: Annotated[int, Ge(3)]) -> int:
        return count

    def vetoed(self) -> None: ...


@rpc.listens(rpc.RequestReceived)
def veto(happened):
    if happened.context.method == "Fails.vetoed":
        raise rpc.LogicError("Not today")


@rpc.listens(rpc.ErrorRaised)
def note(happened):
    said = {
        "note": "error",
        "method": happened.context.method,
        "cause": type(happened.cause).__name__,
        "code": happened.error.wire_code,
    }
    with NOTES.open("a") as file:
        file.write(json.dumps(said) + "\\n")
"""

LINE = next(number for number, line in enumerate(PLUGIN.splitlines(), 1) if line.endswith("# here"))
"""Where the plugin raises what nobody expects; files are written dedented, so lines keep their numbers."""

ROUTES = {
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "mcp"}},
}

CALLS: list[tuple[str, dict[str, Any], str, int]] = [
    ("unexpected", {}, "ValueError", -32603),
    ("chosen", {}, "DataNotFound", -32404),
    ("asserted", {"count": 1}, "AssertionFailed", -32602),
    ("vetoed", {}, "LogicError", -32400),
]


def serve(environment: str) -> Iterator[Daemon]:
    config = {"environment": environment, "ufo_json_rpc": {"security": {"protected_api": False}}}
    with daemon(config=config, routes=ROUTES, plugins={"fails.py": PLUGIN}) as running:
        yield running


@pytest.fixture(scope="module")
def prod() -> Iterator[Daemon]:
    yield from serve("prod")


@pytest.fixture(scope="module", params=["dev", "test"])
def exposed(request: pytest.FixtureRequest) -> Iterator[Daemon]:
    yield from serve(request.param)


def error(client: Stateless | Session, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = client.result(f"Fails.{name}", arguments)
    assert result["isError"] is True
    found: dict[str, Any] = json.loads(result["content"][0]["text"])
    return found


@pytest.mark.parametrize("era", [Stateless, Session])
@pytest.mark.parametrize("name", ["unexpected", "chosen"])
def test_dev_and_test_tell_everything(exposed: Daemon, era: type[Stateless], name: str) -> None:
    """T-17: in `dev` and `test` an error tells its file, line and trace, and what it says."""
    found = error(era(exposed), name, {})
    file = str(exposed.folder / "plugins" / "fails.py")
    line = LINE if name == "unexpected" else LINE + 3
    assert (found["data"]["file"], found["data"]["line"]) == (file, line)
    assert {"file": file, "line": line} in [
        {"file": frame["file"], "line": frame["line"]} for frame in found["data"]["trace"]
    ]
    assert ("sesame" in found["message"]) is (name == "unexpected")


PROD = [
    pytest.param("unexpected", {}, {"exception": "InternalError"}, id="an unexpected exception"),
    pytest.param("chosen", {}, {"exception": "DataNotFound", "extra": {"thing": 7}}, id="an error with an extra"),
    pytest.param(
        "asserted",
        {"count": 1},
        {"exception": "AssertionFailed", "extra": {"count": ["must be at least 3"]}},
        id="a failed assertion",
    ),
    pytest.param("vetoed", {}, {"exception": "LogicError"}, id="a veto"),
]


@pytest.mark.parametrize("era", [Stateless, Session])
@pytest.mark.parametrize(("name", "arguments", "data"), PROD)
def test_prod_tells_the_class_and_the_extra(
    prod: Daemon, era: type[Stateless], name: str, arguments: dict[str, Any], data: dict[str, Any]
) -> None:
    """T-17: in `prod` an error tells its class, and `extra` where there is one."""
    assert error(era(prod), name, arguments)["data"] == data


def test_prod_keeps_the_words_of_what_nobody_expected(prod: Daemon) -> None:
    """T-17: the message of an unexpected exception is generic; that of a chosen error was written for the client."""
    client = Stateless(prod)
    unexpected = error(client, "unexpected", {})
    assert "sesame" not in json.dumps(unexpected)
    assert unexpected["message"] == "Internal JSON-RPC error"
    assert error(client, "chosen", {})["message"] == "There is no such thing."


@pytest.mark.parametrize(("name", "arguments", "cause", "code"), CALLS)
def test_every_error_goes_through_the_event(
    prod: Daemon, name: str, arguments: dict[str, Any], cause: str, code: int
) -> None:
    """T-17: `rpc.error` fires once for each failed call, with what was really raised and the error that it became."""
    before = len(notes(prod))
    error(Stateless(prod), name, arguments)
    assert notes(prod)[before:] == [{"note": "error", "method": f"Fails.{name}", "cause": cause, "code": code}]


@pytest.mark.parametrize(("name", "arguments", "cause", "code"), CALLS)
def test_every_error_goes_through_the_log(
    prod: Daemon, name: str, arguments: dict[str, Any], cause: str, code: int
) -> None:
    """T-17: the log has a line for each failed call, with its method and code."""
    method = f"Fails.{name}"

    def lines() -> int:
        return sum(line.get("method") == method and line.get("code") == code for line in prod.logs("call"))

    before = lines()
    error(Stateless(prod), name, arguments)
    wait_until(lambda: lines() == before + 1, 10.0, prod.stderr)


def test_the_log_has_the_whole_story_of_what_nobody_expected(prod: Daemon) -> None:
    """T-17: what the client is not told stands in the log, with the traceback."""
    error(Stateless(prod), "unexpected", {})
    line = prod.wait_log("call.failed")
    assert "ValueError: the password is sesame" in line["exception"]
    assert f'fails.py", line {LINE}' in line["exception"]
