"""`rpcgw bench`: a daemon that runs, or one of its own, is called for a while, and every answer is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder

PLUGIN = """\
import asyncio

import rpcgw as rpc


class Counter:
    calls = 0
    inside = 0


@rpc.procedure("Demo", groups=["mcp", "general", "closed"])
class Demo:
    async def echo(self, text: str) -> str:
        '''Give back.'''
        return text

    async def count(self) -> int:
        '''Count calls.'''
        Counter.calls += 1
        return Counter.calls

    async def crowded(self) -> int:
        '''Fail where it is called more than once at a time.'''
        Counter.inside += 1
        await asyncio.sleep(0.001)
        inside, Counter.inside = Counter.inside, Counter.inside - 1
        if inside > 1:
            raise rpc.DataNotFound("Not with so many.")
        return inside

    async def missing(self) -> str:
        '''Never there.'''
        raise rpc.DataNotFound("There is none.")

    async def tell(self, ctx: rpc.CallContext) -> str:
        '''Say something on the way.'''
        await ctx.progress(1, 2, "half")
        await ctx.log("notice", "on the way")
        return "told"


@rpc.procedure("Demo", version=2, groups=["mcp"])
class DemoV2:
    async def echo(self, text: str) -> str:
        '''Give back louder.'''
        return text.upper()
"""
ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "closed": {"resource": "mcp", "prefix": "/closed", "defaults": {"api_group": "closed"}},
}
TOKEN = "s3cret-token-of-a-test"
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {"closed": {"protected_api": True, "clients_tokens": [TOKEN]}},
        }
    },
}
BRIEF = ("--seconds", "0.3", "--connections", "4")


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as running:
        yield running


def run(place: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    done = cli("bench", *BRIEF, *arguments, cwd=place, env=env)
    return done.returncode, done.stdout, done.stderr


def counted(served: Daemon, method: str) -> int:
    """How many calls of a method the daemon itself counts."""
    lines = served.get("/metrics").text.splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if re.match(rf'rpcgw_calls_total{{.*"{method}"', line))


MEASURED = [
    pytest.param("/mcp", ["Demo.echo", "text=a"], "mcp", id="a tool"),
    pytest.param("/mcp", ["Demo_echo", "text=a"], "mcp", id="a tool by another spelling"),
    pytest.param("/mcp", ["Demo.echo", "--params", '{"text": "ї"}', "--same"], "mcp", id="arguments as JSON"),
    pytest.param("/mcp", ["Demo.echo", "text=a", "--ver", "v2"], "mcp", id="version 2"),
    pytest.param("/mcp", ["Demo.tell"], "mcp", id="a tool that would stream is not asked to"),
    pytest.param("/mcp", ["Demo.count"], "mcp", id="a tool that answers otherwise each time"),
    pytest.param("/rpc", ["Demo.echo", "text=a", "--over", "rpc"], "rpc", id="a method"),
    pytest.param("/rpc", ["ping", "--over", "rpc"], "rpc", id="a method without parameters"),
]


@pytest.mark.parametrize(("path", "arguments", "over"), MEASURED)
def test_a_daemon_that_runs_is_measured(
    served: Daemon, tmp_path: Path, path: str, arguments: list[str], over: str
) -> None:
    """Calls, rate, latencies and what a call costs the daemon are printed; no answer was wrong."""
    code, said, trouble = run(tmp_path, *arguments, "--url", f"{served.url}{path}", "--json")
    [row] = json.loads(said)
    assert (code, row["over"], row["connections"], row["wrong"]) == (0, over, 4, 0), trouble
    assert row["calls"] >= 4
    assert 0 < row["p50_ms"] <= row["p99_ms"] <= row["longest_ms"]
    assert 0 < row["rps"] <= row["calls"] / 0.3 + 1
    assert 1 < row["cpu_us"] < 1e6


def test_calls_are_those_that_the_daemon_counts(served: Daemon, tmp_path: Path) -> None:
    """Nothing is counted twice, and nothing is left out: the daemon has seen as many, and those of the warm-up."""
    before = counted(served, "Demo.echo")
    code, said, _ = run(tmp_path, "Demo.echo", "text=a", "--url", f"{served.url}/mcp", "--json")
    seen = counted(served, "Demo.echo") - before
    assert code == 0
    assert json.loads(said)[0]["calls"] < seen < 1_000_000


def test_a_person_gets_a_table(served: Daemon, tmp_path: Path) -> None:
    """Without --json it is a table."""
    code, said, _ = run(tmp_path, "Demo.echo", "text=a", "--url", f"{served.url}/mcp")
    head, row = said.splitlines()
    assert (code, head.split()) == (
        0,
        ["OVER", "CONNECTIONS", "CALLS", "RPS", "P50_MS", "P99_MS", "LONGEST_MS", "CPU_US", "WRONG"],
    )
    assert row.split()[0] == "mcp"


def test_a_protected_daemon_gets_its_token(served: Daemon, tmp_path: Path) -> None:
    """The token stands in a variable, as for all commands."""
    arguments = ("Demo.echo", "text=a", "--url", f"{served.url}/closed", "--token-env", "T", "--json")
    code, said, _ = run(tmp_path, *arguments, T=TOKEN)
    assert (code, json.loads(said)[0]["wrong"]) == (0, 0)


def test_without_a_url_a_daemon_is_started_and_ended() -> None:
    """It serves what the configuration says; both protocols are measured, and nothing is left in the folder."""
    with folder(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place:
        before = sorted(place.iterdir())
        code, said, trouble = run(place, "Demo.echo", "text=a", "--workers", "2", "--json")
        rows = json.loads(said)
        assert (code, [row["over"] for row in rows]) == (0, ["mcp", "rpc"]), trouble
        assert all(row["wrong"] == 0 and row["cpu_us"] > 1 for row in rows)
        assert sorted(place.iterdir()) == before


def test_one_protocol_of_a_configuration() -> None:
    """--over chooses."""
    with folder(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place:
        code, said, trouble = run(place, "Demo.echo", "text=a", "--over", "rpc", "--json")
    assert (code, [row["over"] for row in json.loads(said)]) == (0, ["rpc"]), trouble


WRONG = [
    pytest.param(
        ["Demo.count", "--same"], "mcp: wrong: HTTP/1.1 200 OK", id="an answer that is not the first one again"
    ),
    pytest.param(["Demo.crowded"], "Not with so many.", id="calls that fail under load"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_a_wrong_answer_is_shown(served: Daemon, tmp_path: Path, arguments: list[str], told: str) -> None:
    """The figures say how many answers were wrong, the first of them are shown, and the status is 1."""
    code, said, trouble = run(tmp_path, *arguments, "--url", f"{served.url}/mcp", "--json")
    [row] = json.loads(said)
    assert code == 1
    assert 0 < row["wrong"] <= row["calls"]
    assert trouble.count("mcp: wrong: ") == min(3, row["wrong"])
    assert told in trouble


MISTAKES = [
    pytest.param(["Demo.none", "--url", "{url}/mcp"], 2, "Demo.echo", id="a tool that is not there"),
    pytest.param(["none", "--over", "rpc", "--url", "{url}/rpc"], 1, "-32601", id="a method that is not there"),
    pytest.param(["Demo.missing", "--url", "{url}/mcp"], 1, "There is none.", id="a tool that fails"),
    pytest.param(["Demo.echo", "text=a", "--url", "{url}/closed"], 1, "--token-env", id="no token"),
    pytest.param(["ping", "--url", "http://127.0.0.1:1/mcp"], 1, "nobody answers at", id="nobody there"),
    pytest.param(["ping", "--over", "rpc", "--url", "http://127.0.0.1:1/rpc"], 1, "nobody answers at", id="nor there"),
    pytest.param(["ping", "--over", "mcp", "--over", "rpc", "--url", "{url}/rpc"], 2, "one protocol", id="two at once"),
    pytest.param(["ping", "--seconds", "301", "--url", "{url}/rpc"], 2, "0.1<=x<=300", id="for ever"),
    pytest.param(["ping", "--connections", "0", "--url", "{url}/rpc"], 2, "1<=x<=1024", id="no connection"),
    pytest.param(["ping"], 2, "gateway.yaml", id="neither a file nor an address"),
]


@pytest.mark.parametrize(("arguments", "code", "told"), MISTAKES)
def test_a_mistake_is_told(served: Daemon, tmp_path: Path, arguments: list[str], code: int, told: str) -> None:
    """What is wrong stands in a sentence, never in a traceback, and nothing is measured."""
    done, said, trouble = run(tmp_path, *(argument.replace("{url}", served.url) for argument in arguments))
    assert (done, said) == (code, "")
    assert told in trouble
    assert "Traceback" not in trouble


CONFIGURED = [
    pytest.param({}, ["Demo.none"], "mcp or rpc serves 'Demo.none'", id="a name that nothing serves"),
    pytest.param({}, ["ping", "--over", "mcp"], "it is served over rpc", id="a name that another protocol serves"),
    pytest.param(
        {"server": {"tls": {"cert": "chain.pem", "key": "key.pem"}}}, ["ping"], "name it with --url", id="TLS"
    ),
]


@pytest.mark.parametrize(("settings", "arguments", "told"), CONFIGURED)
def test_a_configuration_that_cannot_be_measured(settings: dict[str, Any], arguments: list[str], told: str) -> None:
    """What to do instead is said."""
    with folder(config=CONFIG | settings, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place:
        code, said, trouble = run(place, *arguments)
    assert (code, said) == (2, "")
    assert told in trouble
