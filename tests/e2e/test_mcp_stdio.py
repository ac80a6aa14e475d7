"""`rpcgw mcp`: what goes over the two pipes, and what ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.golden.mcp_requests import META, STATELESS
from tests.support.daemon import CONFIG, ROUTES, RPCGW, clean_environment, cli, folder, wait_until

PLUGIN = '''
import asyncio
import os
import sys
from pathlib import Path

import rpcgw as rpc

print("imported")


def note(text: str) -> None:
    with Path("noted").open("a") as file:
        file.write(text + "\\n")


@rpc.procedure("Demo", groups=["mcp"], with_default=False)
class Demo:
    """Speaks where it should not."""

    def noise(self) -> str:
        """Print."""
        print("printed")
        os.write(1, b"written")
        os.system("echo echoed")
        return sys.stdin.read()

    async def steps(self, ctx: rpc.CallContext) -> str:
        """Say how far it is."""
        await ctx.progress(1, 2)
        return "done"

    async def hang(self, name: str) -> None:
        """Never end."""
        note(f"{name} began")
        try:
            await asyncio.Event().wait()
        finally:
            note(f"{name} over")


plugin = rpc.Plugin(procedures=[Demo])
'''
SECONDS = 20


class Pipe:
    """A client of `rpcgw mcp` with a line in each hand."""

    def __init__(self, process: subprocess.Popen[bytes], place: Path) -> None:
        self.process = process
        self.place = place

    def say(self, method: str, request_id: Any = None, **params: Any) -> None:
        """Send a request, or a notification."""
        known = {} if request_id is None else {"id": request_id}
        self.line(json.dumps({"jsonrpc": "2.0", **known, "method": method, "params": params}).encode())

    def line(self, text: bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Read a line, which must be JSON."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors()
        return json.loads(line)

    def ask(self, method: str, request_id: Any = 1, **params: Any) -> Any:
        """Send a request and read the next line."""
        self.say(method, request_id, **params)
        return self.hear()

    def begin(self) -> Any:
        """Begin a session."""
        opened = self.ask("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        self.say("notifications/initialized")
        return opened["result"]

    def end(self) -> tuple[int, bytes]:
        """Close the input; return the exit code and what was said after all that was heard."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(SECONDS), rest

    def noted(self, text: str) -> None:
        """Wait for a procedure's note."""
        file = self.place / "noted"
        wait_until(lambda: file.exists() and text in file.read_text().splitlines(), SECONDS, lambda: f"no {text}")

    def errors(self) -> str:
        """What stands on standard error."""
        return (self.place / "stderr").read_text()


@contextmanager
def speaking(*arguments: str) -> Iterator[Pipe]:
    """Start one in a folder of its own."""
    with (
        folder(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place,
        (place / "stderr").open("wb") as log,
    ):
        command = [str(RPCGW), "mcp", "-c", "gateway.yaml", *arguments]
        process = subprocess.Popen(
            command,
            cwd=place,
            env=clean_environment(place, None),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        with process:
            try:
                yield Pipe(process, place)
            finally:
                process.kill()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A process to speak with."""
    with speaking() as made:
        yield made


def test_a_session_from_start_to_end(pipe: Pipe) -> None:
    """The era of sessions, without any header; the end of the input is the end of the process."""
    assert pipe.begin()["protocolVersion"] == "2025-11-25"
    assert pipe.ask("ping", "x") == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert [tool["name"] for tool in pipe.ask("tools/list")["result"]["tools"]] == [
        "Demo.hang",
        "Demo.noise",
        "Demo.steps",
    ]
    assert pipe.ask("tools/call", name="Demo.none")["error"]["code"] == -32602
    assert pipe.ask("unknown/method")["error"]["code"] == -32601
    pipe.line(b"oops")
    assert pipe.hear()["error"]["code"] == -32700
    assert pipe.end() == (0, b"")


def test_requests_without_a_session(pipe: Pipe) -> None:
    """The stateless era, in the same process; an unknown revision is told which are known."""
    assert pipe.ask("server/discover", _meta=META)["result"]["supportedVersions"] == [STATELESS]
    result = pipe.ask("tools/call", name="Demo.steps", _meta=META)["result"]
    assert result["structuredContent"] == {"result": "done"}
    unknown = META | {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    assert pipe.ask("server/discover", _meta=unknown)["error"]["code"] == -32022
    assert pipe.ask("ping")["error"]["code"] == -32600


def test_nothing_else_is_on_standard_output(pipe: Pipe) -> None:
    """Whatever procedures, modules and commands print goes to standard error, where the log is; nobody reads our input."""
    pipe.begin()
    result = pipe.ask("tools/call", name="Demo.noise")["result"]
    assert result["structuredContent"] == {"result": ""}
    assert pipe.end() == (0, b"")
    said = pipe.errors()
    assert all(word in said for word in ("imported", "printed", "written", "echoed"))
    assert any(json.loads(line)["event"] == "call" for line in said.splitlines() if line.startswith("{"))


def test_progress_is_a_line_of_its_own(pipe: Pipe) -> None:
    """What is an event over HTTP is a notification before the answer."""
    pipe.begin()
    told = pipe.ask("tools/call", name="Demo.steps", _meta={"progressToken": "t"})
    assert (told["method"], told["params"]["progress"]) == ("notifications/progress", 1)
    assert pipe.hear()["result"]["structuredContent"] == {"result": "done"}


@pytest.mark.parametrize("meta", [{}, META], ids=["in a session", "stateless"])
def test_calls_run_side_by_side_and_can_be_given_up(pipe: Pipe, meta: dict[str, Any]) -> None:
    """A call that hangs keeps no other one; given up, it is cancelled and not answered."""
    pipe.begin()
    pipe.say("tools/call", 7, name="Demo.hang", arguments={"name": "one"}, _meta=meta)
    pipe.noted("one began")
    assert pipe.ask("ping", 8)["id"] == 8
    pipe.say("notifications/cancelled", requestId=7)
    pipe.noted("one over")
    assert pipe.ask("ping", 9)["id"] == 9
    assert pipe.end() == (0, b"")


def test_sigterm_ends_it(pipe: Pipe) -> None:
    """Calls that run are cancelled, and their cleanup runs; the input need not end."""
    pipe.begin()
    pipe.say("tools/call", 7, name="Demo.hang", arguments={"name": "two"})
    pipe.noted("two began")
    os.kill(pipe.process.pid, signal.SIGTERM)
    assert pipe.process.wait(SECONDS) == 0
    pipe.noted("two over")


def test_what_keeps_it_from_starting() -> None:
    """A group that is not served (exit 2, with those that are), a configuration with a mistake (78, with its place)."""
    with folder(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place:
        done = cli("mcp", "-c", "gateway.yaml", "--group", "none", cwd=place)
        assert (done.returncode, done.stdout) == (2, "")
        assert "mcp (v1)" in done.stderr
        (place / "gateway.yaml").write_text("nonsense: 1\n")
        done = cli("mcp", "-c", "gateway.yaml", cwd=place)
        assert (done.returncode, done.stdout) == (78, "")
        assert "gateway.yaml:1" in done.stderr
