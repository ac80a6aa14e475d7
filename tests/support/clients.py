"""The official clients, each run by its own interpreter as a program of its own: what `make setup` fetched.

`talk(client, target, calls)` lists the tools and calls some, and returns what the client itself made of it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "tests" / "e2e" / "clients"
FETCHED = ROOT / ".cache"
NODE = FETCHED / "bin" / "node"
NODE_FOLDER = FETCHED / "node"
TIMEOUT = 60

MODERN = "2026-07-28"
SESSION = "2025-11-25"


@dataclass(frozen=True, slots=True)
class OfficialClient:
    """One client in one mode, and the revision that it must end up speaking with a daemon that serves all."""

    name: str
    script: str
    revision: str
    venv: str | None = None
    mode: str | None = None


CLIENTS = (
    OfficialClient("the Python SDK 2 on its own", "mcp2.py", MODERN, "mcp2", "auto"),
    OfficialClient("the Python SDK 2 pinned to 2026-07-28", "mcp2.py", MODERN, "mcp2", MODERN),
    OfficialClient("the Python SDK 2 as a session", "mcp2.py", SESSION, "mcp2", "legacy"),
    OfficialClient("the Python SDK 1", "mcp1.py", SESSION, "mcp1"),
    OfficialClient("fastmcp 4", "fast.py", MODERN, "fastmcp4"),
    OfficialClient("fastmcp 3", "fast.py", SESSION, "fastmcp3"),
    OfficialClient("the TypeScript SDK 1", "sdk1.mjs", SESSION),
    OfficialClient("the TypeScript client 2 as it is", "client2.mjs", SESSION),
    OfficialClient("the TypeScript client 2 negotiating", "client2.mjs", MODERN, mode="auto"),
    OfficialClient("the TypeScript client 2 pinned to 2026-07-28", "client2.mjs", MODERN, mode=MODERN),
)

AUTHORIZING = (
    OfficialClient("the Python SDK 2 pinned to 2026-07-28", "mcp2_oauth.py", MODERN, "mcp2", MODERN),
    OfficialClient("the Python SDK 2 as a session", "mcp2_oauth.py", SESSION, "mcp2", "legacy"),
    OfficialClient("the TypeScript client 2 pinned to 2026-07-28", "client2_oauth.mjs", MODERN, mode=MODERN),
    OfficialClient("the TypeScript client 2 as a session", "client2_oauth.mjs", SESSION, mode="legacy"),
)
"""Clients that get themselves a token from an authorization server."""

ERAS = ("legacy", "modern", "auto")


def talk(
    client: OfficialClient,
    target: str | Sequence[str],
    calls: Sequence[tuple[str, Mapping[str, Any]]] = (),
    languages: Sequence[str] = ("en",),
) -> dict[str, Any]:
    """Run a client against a URL, or a command that speaks on standard input and output; return what it made of it.

    In each language it lists the tools, in the first one it makes the calls: `protocol`, `server`, `tools` (names),
    `texts` (title and description by language and name) and `calls`, each `{content, structured, is_error}` or, where
    the client raised an error of the protocol, `{code, message}`.
    """
    return _report(client, {"target": target, "calls": calls, "languages": languages, "mode": client.mode})


def authorized(client: OfficialClient, target: str) -> dict[str, Any]:
    """Let a client find out where to get a token, get one, list the tools and call `Catalog.read`.

    Returns `protocol`, `tools` (names) and `called`, the structured content.
    """
    return _report(client, {"target": target, "mode": client.mode})


def _report(client: OfficialClient, wanted: Mapping[str, Any]) -> dict[str, Any]:
    script, argument = SCRIPTS / client.script, json.dumps(wanted)
    if client.venv is None:
        # A module on standard input finds its packages from the working directory, which is where they are.
        said = run([str(NODE), "--input-type=module", "-", argument], cwd=NODE_FOLDER, text=script.read_text())
    else:
        python = FETCHED / "clients" / client.venv / "bin" / "python"
        said = run([str(python), str(script), argument], cwd=SCRIPTS, text="")
    found: dict[str, Any] = json.loads(said)
    return found


def generated(document: object, url: str, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[dict[str, Any]]:
    """Let @open-rpc/generator make a client of an OpenRPC document, and call with it; return what each call came to.

    `{result}`, `{code, message}`, or `{refused}` where the client itself found the values wrong by the document.
    """
    wanted = json.dumps({"document": document, "url": url, "calls": calls})
    script = (SCRIPTS / "openrpc.mjs").read_text()
    found = json.loads(run([str(NODE), "--input-type=module", "-", wanted], cwd=NODE_FOLDER, text=script))
    made: list[dict[str, Any]] = found["calls"]
    return made


def inspect(url: str, era: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run the MCP Inspector's command line, which must end with `code`, and return the JSON that it prints."""
    program = NODE_FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    command = [str(NODE), str(program), "--cli", url, "--transport", "http", "--protocol-era", era, *arguments]
    found: dict[str, Any] = json.loads(run(command, cwd=NODE_FOLDER, text="", code=code))
    return found


def run(command: list[str], *, cwd: Path, text: str, code: int = 0) -> str:
    """Run a program with a home of its own; any other exit code fails the test.

    Returns its standard output, or its standard error where it says nothing there.
    """
    assert Path(command[0]).exists(), f"{command[0]} is not there: make setup"
    with tempfile.TemporaryDirectory(prefix="rpcgw-client-") as home:
        environment = {"HOME": home, "PATH": f"{FETCHED / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8"}
        done = subprocess.run(
            command, cwd=cwd, env=environment, input=text, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    assert done.returncode == code, (
        f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done.stdout or done.stderr
