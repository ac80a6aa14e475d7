"""The HTTP surface of `/rpc`, its special parameters and who may use it: lines of docs/acceptance/kernel.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from tests.support.acceptance import Note, noting, run_noted
from tests.support.daemon import Daemon, cli, daemon, folder, wait_until
from tests.support.http import Answer
from tests.support.mcp import Stateless
from tests.support.refusal import refusal

PLUGIN = """
import asyncio
import pathlib

import rpcgw as rpc


@rpc.procedure("Demo", groups=["inner", "keyed"])
class Demo:
    async def version(self) -> int:
        return 1

    async def echo(self, value: object = "default") -> object:
        return value

    async def plan(self, timeout: int, callback: str, rayId: str = "none", ignoreCache: str = "none") -> list[object]:
        return [timeout, callback, rayId, ignoreCache]

    async def ray(self, ctx: rpc.CallContext) -> str:
        return ctx.ray_id

    async def hold(self, gate: str) -> None:
        while not pathlib.Path(gate).exists():
            await asyncio.sleep(0.01)
        raise rpc.DataNotFound("only in the log")

    async def who(self, ctx: rpc.CallContext) -> str:
        return ctx.principal.name

    @rpc.groups("inner", with_default=False)
    async def inside(self) -> str:
        return "inside"


@rpc.procedure("Demo", version=2, groups=["inner"])
class Demo2:
    async def version(self) -> int:
        return 2


@rpc.listens(rpc.RequestReceived)
async def see(event):
    if event.context.method == "Demo.version" and event.params:
        raise rpc.LogicError("no parameters, please")


def known(token):
    return rpc.Principal(token.removeprefix("key-of-")) if token.startswith("key-of-") else None


plugin = rpc.Plugin(procedures=[Demo, Demo2], listeners=[see], validators={"keys": known})
"""
ORIGIN = "https://app.example.com"
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "providers": {
                "inner": {
                    "protected_api": True,
                    "token_name": "X-Inner-Token",
                    "clients_tokens": ["first-token", "second-token"],
                },
                "keyed": {"protected_api": True, "validator": "keys"},
            },
        }
    },
    "cors": {"allowed_origins": [ORIGIN]},
}
ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "inner": {"resource": "rpc", "prefix": "/inner", "defaults": {"api_group": "inner"}},
    "keyed": {"resource": "rpc", "prefix": "/keyed", "defaults": {"api_group": "keyed"}},
    "keyed_tools": {"resource": "mcp", "prefix": "/keyed-tools", "defaults": {"api_group": "keyed"}},
    "again": {"resource": "rpc", "prefix": "/again", "name_prefix": "again_"},
    "mcp": {"resource": "mcp", "prefix": "/mcp"},
    "tools": {"resource": "mcp", "prefix": "/tools", "defaults": {"api_group": "inner"}},
    "nobody": {"resource": "mcp", "prefix": "/nobody", "defaults": {"api_group": "nobody"}},
}
TOKEN = {"X-Inner-Token": "first-token"}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    """Two groups at four endpoints."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def ask(
    served: Daemon, method: str, params: Any = None, path: str = "/rpc", headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Call a method; the whole answer."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}
    answer: dict[str, Any] = served.post(path, message, headers).json()
    return answer


def code_of(answer: Answer) -> tuple[int, int | None]:
    """Status and error code."""
    spoken = answer.json() if answer.body else {}
    return answer.status, spoken.get("error", {}).get("code")


# -- endpoints


def test_each_endpoint_serves_a_group(served: Daemon) -> None:
    """A-RPC-02: by `api_group`, `general` without one; one group may stand at several prefixes."""
    assert ask(served, "Demo.inside")["error"]["code"] == -32601
    assert ask(served, "Demo.inside", path="/inner", headers=TOKEN)["result"] == "inside"
    assert ask(served, "ping")["result"] == ask(served, "ping", path="/again")["result"] == "PONG"
    assert ask(served, "ping", path="/inner", headers=TOKEN)["error"]["code"] == -32601


def test_preflight(served: Daemon) -> None:
    """A-RPC-06: a page that may ask is told what it may send; whoever asks without an origin gets `Allow`."""
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    preflight = served.request("OPTIONS", "/rpc", headers=asked)
    assert (preflight.status, preflight.header("Access-Control-Allow-Origin")) == (200, ORIGIN)
    assert preflight.header("Access-Control-Allow-Methods") == "POST"
    plain = served.request("OPTIONS", "/rpc/v2")
    assert (plain.status, plain.header("Allow"), plain.body) == (204, "GET, HEAD, POST, OPTIONS", b"")
    for method in ("PUT", "PATCH", "DELETE"):
        answer = served.request(method, "/rpc")
        assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD, POST, OPTIONS")


def test_versions_and_groups_that_are_not_there(served: Daemon) -> None:
    """A-RPC-07: a document is 404, a call -32601, MCP 404, for a version and for a group without methods."""
    assert code_of(served.get("/rpc/v9"))[0] == 404
    assert code_of(served.get("/rpc/v9/postman"))[0] == 404
    assert code_of(served.post("/rpc/v9", {"id": 1, "method": "ping"})) == (200, -32601)
    assert Stateless(served, "/mcp/v9").send("tools/list").status == 404
    assert Stateless(served, "/nobody").send("tools/list").status == 404


def test_the_members_of_an_answer(served: Daemon) -> None:
    """A-RPC-09: to the byte, for a result and for an error."""
    answer = served.post("/rpc", {"id": 7, "method": "Demo.echo", "params": {"value": None}})
    assert answer.body == b'{"id":7,"result":null,"jsonrpc":"2.0"}'
    failed = served.post("/rpc", {"id": "x", "method": "Demo.version", "params": {"a": 1}})
    assert list(failed.json()) == ["id", "error", "jsonrpc"]
    assert list(failed.json()["error"]) == ["code", "message", "data"]
    assert {each.header("Content-Type") for each in (answer, failed)} == {"application/json"}


def test_all_that_is_wrong_with_an_envelope(served: Daemon) -> None:
    """A-RPC-12: each wrong member has its path, and the id goes back where it is one."""
    for identifier, echoed in (({}, None), (None, None), ("x", "x")):
        body: dict[str, Any] = {"jsonrpc": "1.0", "method": " ", "id": identifier, "params": 3}
        answer = served.post("/rpc", body).json()
        wrong = ["jsonrpc", "method", *(["id"] if echoed is None else []), "params"]
        assert (answer["id"], answer["error"]["code"]) == (echoed, -32600)
        assert list(answer["error"]["data"]["extra"]) == wrong
    assert served.post("/rpc", b"7").json()["error"]["code"] == -32600


def test_a_notification_runs_after_its_answer(served: Daemon) -> None:
    """A-RPC-18: the answer is there while it still runs, and nobody but the log is told how it ended."""
    gate = served.folder / "gate"
    before = len(served.calls())
    answer = served.post("/rpc", {"jsonrpc": "2.0", "method": "Demo.hold", "params": {"gate": gate.name}})
    assert (answer.status, answer.body) == (204, b"")
    assert len(served.calls()) == before
    gate.touch()
    wait_until(lambda: len(served.calls()) > before, 10, served.stderr)
    line = served.calls()[before]
    assert (line["method"], line["code"], line["message"]) == ("Demo.hold", -32404, "only in the log")


def client(token: str) -> str:
    """Who a token of `clients_tokens` says that one is."""
    return f"client-{sha256(token.encode()).hexdigest()[:8]}"


def test_statuses(served: Daemon) -> None:
    """A-RPC-10, A-RPC-38: whoever must be known is asked before the body is looked at."""
    for body in (b'{"id": 1, "method": "Demo.version"}', b"{"):
        absent = served.post("/inner", body)
        assert (*code_of(absent), absent.json()["id"]) == (401, -32401, None)
        for wrong in ("no such", "first-toke", "first-tokenx", ""):
            answer = served.post("/inner", body, {"X-Inner-Token": wrong})
            assert (*code_of(answer), answer.json()["id"]) == (403, -32403, None)
    names = [
        ask(served, "Demo.who", path="/inner", headers={"X-Inner-Token": token})["result"]
        for token in ("first-token", "second-token")
    ]
    assert names == [client("first-token"), client("second-token")]
    assert code_of(served.post("/rpc", {"id": 1, "method": "Demo.version", "params": [1]})) == (200, -32400)
    assert code_of(served.post("/rpc", {"method": "ping"})) == (204, None)


def test_a_batch_is_of_its_endpoint(served: Daemon) -> None:
    """A-RPC-23: version and group of the URL hold for every item."""
    items = [{"id": 1, "method": "Demo.version"}, {"id": 2, "method": "Demo.inside"}, {"id": 3, "method": "ping"}]
    answers = served.post("/inner/v2", items, TOKEN).json()
    assert [answer.get("result") for answer in answers] == [2, "inside", None]
    assert answers[2]["error"]["code"] == -32601
    assert served.post("/rpc", items).json()[0]["result"] == 1


# -- special parameters


@pytest.mark.parametrize(
    ("special", "paths"),
    [
        pytest.param({"timeout": 9.9}, ["timeout"], id="too short"),
        pytest.param({"timeout": 121}, ["timeout"], id="too long"),
        pytest.param({"timeout": None}, ["timeout"], id="null"),
        pytest.param({"timeout": "20"}, ["timeout"], id="a text"),
        pytest.param({"timeout": True, "rayId": "", "ignoreCache": 1}, ["timeout", "rayId", "ignoreCache"], id="all"),
    ],
)
def test_special_parameters_are_checked(served: Daemon, special: dict[str, Any], paths: list[str]) -> None:
    """A-RPC-28: all that is wrong is told, with its path in the message and in `extra`, and nothing has run."""
    error = ask(served, "Demo.version", {"$rpc": special})["error"]
    expected = [f"[params][$rpc][{path}]" for path in paths]
    assert (error["code"], list(error["data"]["extra"])) == (-32602, expected)
    assert all(path in error["message"] for path in expected)


def test_special_parameters_that_are_right(served: Daemon) -> None:
    """A-RPC-28: from 10 to 120 seconds, whole or not; members that nobody knows are ignored."""
    for timeout in (10, 10.5, 120):
        assert ask(served, "Demo.version", {"$rpc": {"timeout": timeout, "unknown": 1}})["result"] == 1


def test_the_trace_id(served: Daemon) -> None:
    """A-RPC-30: what the client gives, else the request's id; a nested call that passes it on is of the same trace."""
    before = len(served.calls())
    given = ask(served, "Demo.ray", {"$rpc": {"rayId": "ray-1"}})
    nested = ask(served, "Demo.ray", {"$rpc": {"rayId": given["result"]}})
    own = served.post("/rpc", {"id": "own-id", "method": "Demo.ray"})
    assert (given["result"], nested["result"], own.json()["result"]) == ("ray-1", "ray-1", "own-id")
    assert list(own.json()) == ["id", "result", "jsonrpc"]
    assert [line["ray_id"] for line in served.calls()[before:]] == ["ray-1", "ray-1", "own-id"]


def test_parameters_of_the_same_names(served: Daemon) -> None:
    """A-RPC-32: only what stands below `$rpc` is special; a method's own `timeout` may be anything."""
    params = {"timeout": 1, "callback": "no URL", "rayId": "mine", "ignoreCache": "no boolean"}
    assert ask(served, "Demo.plan", params)["result"] == [1, "no URL", "mine", "no boolean"]
    both = ask(served, "Demo.plan", {**params, "$rpc": {"timeout": 20, "rayId": "ray"}})
    assert both["result"] == [1, "no URL", "mine", "no boolean"]


# -- who may


def test_the_header(served: Daemon) -> None:
    """A-RPC-37: the group's own header, in any case, or a bearer token; the default's name means nothing there."""
    for headers in ({"x-inner-TOKEN": "first-token"}, {"Authorization": "Bearer first-token"}):
        assert ask(served, "Demo.version", path="/inner", headers=headers)["result"] == 1
    assert code_of(served.post("/inner", {}, {"Ufo-RPC-Token": "first-token"})) == (401, -32401)


def test_the_header_by_default(record_property: Note) -> None:
    """A-RPC-37, A-RPC-39: unless it is named the header is `Ufo-RPC-Token`; calls are protected, documents are not."""
    config = {"ufo_json_rpc": {"security": {"clients_tokens": ["the-token"]}}}
    with daemon(config=config, routes=ROUTES, plugins={"demo.py": PLUGIN}) as made, noting(record_property, made):
        assert code_of(made.post("/rpc", {"id": 1, "method": "ping"})) == (401, -32401)
        assert ask(made, "ping", headers={"Ufo-RPC-Token": "the-token"})["result"] == "PONG"
        assert made.get("/rpc?info").status == 200


def test_nobody_could_call(record_property: Note) -> None:
    """A-RPC-38: a protected group without any token keeps the daemon from starting, and says what to set."""
    refused = refusal(config={"ufo_json_rpc": {"security": {"protected_api": True}}}, plugins={"demo.py": PLUGIN})
    lines = refused.about("no-token")
    run_noted(record_property, "rpcgw serve", refused.code, lines[0] if lines else "")
    assert refused.code == 78
    assert refused.about("clients_tokens")


def test_a_groups_provider(served: Daemon) -> None:
    """A-RPC-40: what a group says of tokens holds at all of its endpoints, and at no other group's."""
    assert code_of(served.post("/inner", {"id": 1, "method": "Demo.version"}))[0] == 401
    assert Stateless(served, "/tools").call("Demo.version").status == 401
    assert Stateless(served, "/tools", headers=TOKEN).result("Demo.version")["structuredContent"] == {"result": 1}
    assert Stateless(served, "/mcp").result("Demo.version")["structuredContent"] == {"result": 1}


def test_a_plugin_knows_tokens(served: Daemon) -> None:
    """A-RPC-42: whom it names is let in under that name, by `/rpc` and MCP; others are refused as ever."""
    answers = [
        served.post("/keyed", {"id": 1, "method": "Demo.who"}, headers)
        for headers in ({"Ufo-RPC-Token": "key-of-ada"}, {"Ufo-RPC-Token": "no key"}, {})
    ]
    assert answers[0].json()["result"] == "ada"
    assert [code_of(answer) for answer in answers[1:]] == [(403, -32403), (401, -32401)]
    bearer = {"Authorization": "Bearer key-of-alan"}
    tools = Stateless(served, "/keyed-tools", headers=bearer)
    assert tools.result("Demo.who")["structuredContent"] == {"result": "alan"}


def test_a_validator_that_nobody_has(record_property: Note) -> None:
    """A-RPC-42: a name that no plugin brings keeps the daemon from starting; those that they bring are told."""
    config = {"ufo_json_rpc": {"security": {"validator": "kyes"}}}
    refused = refusal(config=config, routes=ROUTES, plugins={"demo.py": PLUGIN})
    lines = refused.about("unknown-validator", "'kyes'")
    run_noted(record_property, "rpcgw serve", refused.code, lines[0] if lines else "")
    assert refused.code == 78
    assert lines
    assert refused.about("plugins bring: keys")


def test_two_validators_of_one_name() -> None:
    """A-RPC-42: nobody can say which of the two is meant, so nothing starts."""
    plugin = "import rpcgw as rpc\nplugin = rpc.Plugin(validators={'keys': lambda token: None})\n"
    refused = refusal(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN, "other.py": plugin})
    assert refused.code == 78
    assert refused.about("validator-name", "'keys'", "'demo'", "'other'")


VALIDATORS = """
import rpcgw as rpc


class Later:
    def __await__(self):
        yield


async def later(token):
    return rpc.Principal("later")


def known(token):
    if token == "raise":
        raise KeyError(token)
    if token == "exit":
        raise SystemExit(3)
    return {"await": Later(), "async": later(token) if token == "async" else None, "text": "ada"}.get(token)


@rpc.procedure("Demo")
class Demo:
    async def who(self, ctx: rpc.CallContext) -> str:
        return ctx.principal.name


plugin = rpc.Plugin(procedures=[Demo], validators={"keys": known})
"""
KEYED: dict[str, Any] = {"ufo_json_rpc": {"security": {"validator": "keys"}}}
BOTH = {"rpc": {"resource": "rpc", "prefix": "/rpc"}, "mcp": {"resource": "mcp", "prefix": "/mcp"}}


def test_a_validator_that_cannot_tell(record_property: Note) -> None:
    """A-RPC-42: what raises, or answers something else than a principal, lets nobody in: 500, told in the log without the token."""
    with daemon(config=KEYED, routes=BOTH, plugins={"demo.py": VALIDATORS}) as made, noting(record_property, made):
        for token in ("raise", "exit", "await", "async", "text"):
            for path in ("/rpc", "/mcp"):
                answer = made.post(path, {"id": 1, "method": "Demo.who"}, {"Authorization": f"Bearer {token}"})
                assert code_of(answer) == (500, -32603), (token, path)
        assert code_of(made.post("/rpc", {"id": 1, "method": "Demo.who"}, {"Ufo-RPC-Token": "?"})) == (403, -32403)
        reasons = " ".join(line["reason"] for line in made.logs("guard.refused"))
    assert "the validator raised KeyError" in reasons
    assert "demo.py:16" in reasons
    assert "the validator answered str, which is no rpc.Principal" in reasons
    assert "'raise'" not in reasons


def test_an_async_validator(record_property: Note) -> None:
    """A-RPC-42: one that would have to be awaited keeps the daemon from starting."""
    plugin = VALIDATORS.replace('{"keys": known}', '{"keys": later}')
    refused = refusal(config=KEYED, routes=BOTH, plugins={"demo.py": plugin})
    lines = refused.about("validator-async", "'keys'", "'demo'")
    run_noted(record_property, "rpcgw serve", refused.code, lines[0] if lines else "")
    assert refused.code == 78
    assert lines


def test_the_validator_of_a_plugin_in_quarantine(record_property: Note) -> None:
    """A-RPC-42: everything else serves, and the group whose tokens nobody can judge lets in those of its list alone."""
    providers = {"inner": {"protected_api": True, "validator": "keys", "clients_tokens": ["listed"]}}
    config = {"ufo_json_rpc": {"security": {"protected_api": False, "providers": providers}}}
    routes = {**BOTH, "inner": {"resource": "rpc", "prefix": "/inner", "defaults": {"api_group": "inner"}}}
    served = VALIDATORS.replace('"Demo")', '"Demo", groups=["inner"])').replace(', validators={"keys": known}', "")
    plugins = {"demo.py": served, "broken.py": "import nowhere_to_be_found\n"}
    with daemon(config=config, routes=routes, plugins=plugins) as made, noting(record_property, made):
        assert ask(made, "ping")["result"] == "PONG"
        assert ask(made, "Demo.who", path="/inner", headers={"Ufo-RPC-Token": "listed"})["result"]
        for token in ("key-of-ada", ""):
            answer = made.post("/inner", {"id": 1, "method": "Demo.who"}, {"Ufo-RPC-Token": token})
            assert code_of(answer) == (403, -32403)


def test_the_command_line_shows_a_token(record_property: Note) -> None:
    """A-RPC-41: `rpcgw process` takes it from a variable, so that no list of processes shows it."""
    message = json.dumps({"id": 1, "method": "Demo.who"})
    with folder(config=CONFIG, routes=ROUTES, plugins={"demo.py": PLUGIN}) as place:
        for arguments, expected in (((), -32401), (("--token-env", "WRONG"), -32403), (("--token-env", "KEY"), None)):
            env = {"KEY": "second-token", "WRONG": "no such"}
            done = cli("process", "--group", "inner", *arguments, message, cwd=place, env=env)
            command = " ".join(("rpcgw process --group inner", *arguments, f"'{message}'"))
            run_noted(record_property, command, done.returncode, done.stdout)
            answer = json.loads(done.stdout)
            assert answer.get("error", {}).get("code") == expected
            assert expected or answer["result"] == client("second-token")
