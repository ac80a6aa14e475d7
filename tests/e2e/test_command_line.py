"""Commands that ask a daemon which runs, or look after one; and commands of installed packages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, cli, daemon, folder, wait_until
from tests.support.mcp import Session, Stateless

PLUGIN = """\
from datetime import timedelta
from typing import Annotated

import rpcgw as rpc
from pydantic import WithJsonSchema

Region = Annotated[str, WithJsonSchema({"type": "string", "x-mcp-header": "Region"})]


class Counter:
    calls = 0


@rpc.procedure("Demo", groups=["mcp", "closed"])
class Demo:
    @rpc.cache(ttl=timedelta(hours=1))
    async def count(self, of: int) -> int:
        '''Count calls.'''
        Counter.calls += 1
        return Counter.calls

    async def echo(self, text: str, number: int = 0) -> list[str | int]:
        '''Give back.'''
        return [text, number]

    async def region(self, name: Region) -> str:
        '''Give back what a header says too.'''
        return name

    async def missing(self) -> str:
        '''Never there.'''
        raise rpc.DataNotFound("There is none.", extra={"id": 1})

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
    "closed_rpc": {"resource": "rpc", "prefix": "/closed/rpc", "defaults": {"api_group": "closed"}},
    "closed_mcp": {"resource": "mcp", "prefix": "/closed/mcp", "defaults": {"api_group": "closed"}},
}
TOKEN = "s3cret-token-of-a-test"
CONFIG = {
    "defaults": {"tools": {"page_size": 2}},
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {"closed": {"protected_api": True, "protected_doc": True, "clients_tokens": [TOKEN]}},
        }
    },
}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as running:
        yield running


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A folder without a configuration: `--url` needs none."""
    return tmp_path


def run(place: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    done = cli(*arguments, cwd=place, env=env)
    return done.returncode, done.stdout, done.stderr


CALLS = [
    pytest.param("/rpc", ["call", "Demo.echo", "text=5", "number=5"], ["5", 5], id="rpc, words by the document"),
    pytest.param("/mcp", ["tools", "call", "Demo.echo", "text=5", "number=5"], ["5", 5], id="mcp, words by the schema"),
    pytest.param("/rpc", ["call", "Demo.echo", "--params", '["a", 2]'], ["a", 2], id="rpc, params by position"),
    pytest.param("/mcp", ["tools", "call", "Demo.echo", "--params", '{"text": "ї"}'], ["ї", 0], id="mcp, any script"),
    pytest.param("/rpc", ["call", "Demo.echo", "text=a", "--ver", "v2"], "A", id="rpc, version 2"),
    pytest.param("/mcp", ["tools", "call", "Demo.echo", "text=a", "--ver", "v2"], "A", id="mcp, version 2"),
    pytest.param("/rpc", ["call", "ping"], "PONG", id="a call without params"),
    pytest.param("/mcp", ["tools", "call", "Demo_echo", "text=a"], ["a", 0], id="a tool's name with an underscore"),
    pytest.param("/mcp", ["tools", "call", "Demo.region", "name=Київ"], "Київ", id="a header that repeats an argument"),
]


@pytest.mark.parametrize(("path", "arguments", "result"), CALLS)
def test_a_daemon_is_asked(served: Daemon, nowhere: Path, path: str, arguments: list[str], result: object) -> None:
    """`--url` prints what a daemon answers, as a call in process would be printed."""
    code, said, trouble = run(nowhere, *arguments, "--url", f"{served.url}{path}")
    assert (code, json.loads(said), trouble) == (0, result, "")


@pytest.mark.parametrize(("path", "command"), [("/rpc", ["call"]), ("/mcp", ["tools", "call"])], ids=["rpc", "mcp"])
def test_an_error_is_printed(served: Daemon, nowhere: Path, path: str, command: list[str]) -> None:
    """An error is the same from a daemon and in process, and ends with status 1."""
    code, said, _ = run(nowhere, *command, "Demo.missing", "--url", f"{served.url}{path}")
    error = json.loads(said)["error"]
    assert (code, error["code"], error["data"]["extra"]) == (1, -32404, {"id": 1})
    local = json.loads(run(served.folder, *command, "Demo.missing")[1])["error"]
    assert (local["code"], local["message"], local["data"]) == (error["code"], error["message"], error["data"])


@pytest.mark.parametrize(("path", "command"), [("/rpc", ["call"]), ("/mcp", ["tools", "call"])], ids=["rpc", "mcp"])
def test_a_token_comes_from_the_environment(served: Daemon, nowhere: Path, path: str, command: list[str]) -> None:
    """A protected group is called with the token that a variable holds."""
    asked = [*command, "Demo.echo", "text=a", "--url", f"{served.url}/closed{path}"]
    assert run(nowhere, *asked)[0] == 1
    code, said, _ = run(nowhere, *asked, "--token-env", "MINE", MINE=TOKEN)
    assert (code, json.loads(said)) == (0, ["a", 0])


def test_what_a_tool_says_on_the_way(served: Daemon, nowhere: Path) -> None:
    """Messages go to standard error, the result alone to standard output."""
    code, said, beside = run(nowhere, "tools", "call", "Demo.tell", "--url", f"{served.url}/mcp")
    assert (code, json.loads(said), beside) == (0, "told", "notice: on the way\n")


def test_what_a_method_says_on_the_way_in_process(served: Daemon) -> None:
    """A call in process has the same messages."""
    code, said, beside = run(served.folder, "call", "Demo.tell")
    assert (code, json.loads(said), beside) == (0, "told", "notice: on the way\n")


MISTAKES = [
    pytest.param(["call", "ping", "--url", "http://127.0.0.1:1/rpc"], 1, "nobody answers at", id="nobody there"),
    pytest.param(["call", "ping", "--url", "ftp://host/rpc"], 2, "http://host:port/path", id="another scheme"),
    pytest.param(
        ["call", "ping", "--url", "http://me:secret@host/rpc"], 2, "without a user", id="a user in the address"
    ),
    pytest.param(["call", "ping", "--url", "{url}/livez"], 1, "no endpoint", id="an address that is no endpoint"),
    pytest.param(
        ["call", "Demo.echo", "text=a", "--url", "{url}/mcp"], 1, "rpcgw tools call Demo.echo --url", id="call at MCP"
    ),
    pytest.param(["call", "Demo.echo", "--url", "{url}/mcp"], 1, "is an MCP endpoint", id="call at MCP, no words"),
    pytest.param(["tools", "call", "Demo.echo", "--url", "{url}/rpc"], 1, "rpcgw call", id="a tool at JSON-RPC"),
    pytest.param(["tools", "call", "Demo.none", "--url", "{url}/mcp"], 2, "Demo.echo", id="a tool that is not there"),
    pytest.param(
        ["tools", "call", "Demo.echo", "text=a", "--url", "{url}/closed/mcp"], 1, "(-32401); --token-env", id="no token"
    ),
    pytest.param(["tools", "call", "Demo.echo", "x", "--url", "{url}/mcp"], 2, "key=value", id="a word without ="),
    pytest.param(["tools", "call", "Demo.echo", "--params", "[1]", "--url", "{url}/mcp"], 2, "object", id="a list"),
    pytest.param(["call", "ping", "--url", "{url}/rpc", "--token-env", "NONE"], 2, "NONE", id="no such variable"),
    pytest.param(["call", "ping"], 2, "gateway.yaml", id="neither a file nor an address"),
    pytest.param(["reload"], 2, "gateway.yaml", id="reload without a file"),
]


@pytest.mark.parametrize(("arguments", "code", "text"), MISTAKES)
def test_mistakes_are_one_line(served: Daemon, nowhere: Path, arguments: list[str], code: int, text: str) -> None:
    """What cannot be done is said in words, without a traceback."""
    ended, said, trouble = run(nowhere, *(part.replace("{url}", served.url) for part in arguments))
    assert (ended, said) == (code, "")
    assert text in trouble
    assert "Traceback" not in trouble


def test_reload(served: Daemon) -> None:
    """The daemon of a configuration is told to reload."""
    code, said, trouble = run(served.folder, "reload")
    assert (code, said) == (0, f"told process {served.pid} to reload\n"), trouble
    served.wait_log("reload.done")


def test_reload_where_none_runs() -> None:
    """A daemon that ended, or was killed, is not taken for one that lives."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as running:
        pid_file = running.folder / "var" / "run" / "rpcgw.pid"
        assert pid_file.read_text() == f"{running.pid}\n"
        running.stop()
        assert not pid_file.exists()
        told = run(running.folder, "reload")[2]
        assert "there is no" in told
        assert "--dev" in told
        pid_file.write_text(f"{os.getpid()}\n")
        code, _, trouble = run(running.folder, "reload")
    assert code == 1
    assert "stale" in trouble


def test_a_session_is_listed_and_ended(served: Daemon) -> None:
    """Whoever runs the daemon sees its sessions, and ends one by the beginning of its id: it is gone at once."""
    session = Session(served)
    assert session.id is not None
    listed = json.loads(run(served.folder, "sessions", "list", "--json")[1])
    (entry,) = [each for each in listed if session.id.startswith(each["id"])]
    assert (entry["group"], entry["version"], entry["revision"]) == ("mcp", "v1", "2025-11-25")
    assert session.id not in json.dumps(listed)
    assert entry["id"] in run(served.folder, "sessions", "list")[1]
    assert session.send("ping").status == 200
    code, said, _ = run(served.folder, "sessions", "end", entry["id"])
    assert (code, said) == (0, f"ended {entry['id']} of the group mcp\n")
    assert session.send("ping").status == 404
    assert run(served.folder, "sessions", "end", entry["id"])[0] == 2


def test_a_method_is_turned_off_and_on(served: Daemon) -> None:
    """Lists are right at once, calls within some seconds; what is off is listed; a name that nobody has is refused."""

    def is_served() -> bool:
        sent = {"jsonrpc": "2.0", "id": 1, "method": "Demo.echo", "params": {"text": "a"}}
        return "result" in served.post("/rpc", sent).json()

    def is_listed() -> bool:
        return "Demo.echo" in Stateless(served).tools()

    assert (is_served(), is_listed()) == (True, True)
    assert run(served.folder, "switch", "off", "Demo.echo")[:2] == (0, "Demo.echo is off\n")
    assert not is_listed()
    wait_until(lambda: not is_served(), 20, served.stderr)
    off = json.loads(run(served.folder, "switch", "list", "--json")[1])
    assert {"group": "mcp", "method": "Demo.echo"} in off
    assert run(served.folder, "switch", "on", "Demo.echo")[:2] == (0, "Demo.echo is on\n")
    assert is_listed()
    wait_until(is_served, 20, served.stderr)
    assert run(served.folder, "switch", "list")[1] == "none\n"
    for arguments in (["off", "Demo.none"], ["on", "Demo.echo", "--group", "nowhere"]):
        code, _, trouble = run(served.folder, "switch", *arguments)
        assert (code, "rpcgw methods shows them" in trouble) == (2, True)


def test_kept_results_are_dropped(served: Daemon) -> None:
    """After `cache clear` the next call runs."""

    def count() -> int:
        answer = served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Demo.count", "params": {"of": 1}}).json()
        result: int = answer["result"]
        return result

    first = count()
    assert count() == first
    code, said, _ = run(served.folder, "cache", "clear", "Demo.count")
    assert (code, said) == (0, "dropped what was kept of Demo.count\n")
    assert count() > first


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(["Demo.echo"], "of these they are: Demo.count", id="a method whose results are not kept"),
        pytest.param(["Nobody.knows"], "no results of 'Nobody.knows' are kept", id="a method that nobody has"),
        pytest.param(["Demo.count", "--params", '{"off": 1}'], "no parameter", id="a parameter that it does not have"),
        pytest.param(["Demo.count", "--params", "[1]"], "JSON object", id="params that are none"),
    ],
)
def test_what_cannot_be_dropped(served: Daemon, arguments: list[str], text: str) -> None:
    """A name that means nothing is refused."""
    code, _, trouble = run(served.folder, "cache", "clear", *arguments)
    assert code == 2
    assert text in trouble


def test_a_pool_that_nobody_else_sees() -> None:
    """What is in the memory of another process cannot be looked after, and that is said."""
    with folder(config={**CONFIG, "pools": {"default": "memory:"}}, routes=ROUTES) as place:
        for arguments in (["sessions", "list"], ["sessions", "end", "x"]):
            code, _, trouble = run(place, *arguments)
            assert code == 1
            assert "memory of the daemon" in trouble


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages, one of which brings commands."""
    (tmp_path / "acme_commands.py").write_text(
        "import click\n\n@click.command()\n@click.argument('name')\ndef hello(name):\n    'Say hello.'\n"
        "    click.echo(f'hello {name}')\n\nnothing = 1\n"
    )
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[rpcgw.commands]\nhello = acme_commands:hello\nserve = acme_commands:hello\n"
        "absent = acme_absent:command\nnothing = acme_commands:nothing\n"
    )
    return tmp_path


def test_a_package_brings_a_command(packages: Path) -> None:
    """An entry point of rpcgw.commands is a command beside the others, in help too."""
    env = {"PYTHONPATH": str(packages)}
    assert run(packages, "hello", "Ada", **env)[:2] == (0, "hello Ada\n")
    assert "Say hello." in run(packages, "--help", **env)[1]


def test_a_package_replaces_no_command(packages: Path) -> None:
    """A command of rpcgw itself stays its own."""
    assert "SIGTERM" in run(packages, "serve", "--help", PYTHONPATH=str(packages))[1]


@pytest.mark.parametrize(
    ("name", "text"), [("absent", "acme_absent"), ("nothing", "no click command")], ids=["no module", "no command"]
)
def test_a_command_that_cannot_be_loaded(packages: Path, name: str, text: str) -> None:
    """A broken command says so when it is run, and keeps nobody from the others."""
    code, _, trouble = run(packages, name, "--anything", PYTHONPATH=str(packages))
    assert code == 1
    assert text in trouble
    assert "Traceback" not in trouble


def test_the_version_is_told(tmp_path: Path) -> None:
    """`rpcgw --version` names the program and the version that is installed, and nothing else."""
    told = cli("--version", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, f"rpcgw {version('rpcgw')}\n")
