"""T-09, T-14, T-16, T-17, T-20: what becomes of a `tools/call`, from its arguments to its answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon
from tests.support.http import Answer
from tests.support.mcp import Session, Stateless, error_of, message_of, result_of
from tests.support.notes import notes, wait_for_notes

PLUGIN = '''
import asyncio
import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, MinLen

import rpcgw as rpc

HERE = Path(__file__).resolve().parent.parent


def note(name, **fields):
    with (HERE / "notes.jsonl").open("a") as notes:
        notes.write(json.dumps({"note": name, **fields}) + "\\n")


async def wait_for(name):
    """Until the test says so, or ten seconds."""
    for _ in range(1000):
        if (HERE / name).exists():
            return
        await asyncio.sleep(0.01)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    name: str
    price: Decimal
    colour: Colour = Colour.RED


@rpc.procedure(groups=["mcp"], with_default=False)
class Demo:
    async def take(self, number: int, item: Item | None = None, tags: list[str] = (), tag: str = "") -> int:
        note("run", method="take", tag=tag)
        return number

    async def bare(self) -> str:
        note("run", method="bare")
        return "bare"

    def types(self, item: Item, day: date, colour: Colour, words: set[str]) -> list[str]:
        return [type(value).__name__ for value in (item, item.price, item.colour, day, colour, words)]

    def back(self, item: Item, day: date, share: float) -> dict:
        return {"item": item, "day": day, "share": share, "text": "\\u0457 <&> \\u2028", "set": frozenset({1})}

    def where(self, ctx: rpc.CallContext) -> list[str]:
        return [ctx.group, str(ctx.version), ctx.method]

    def at_least(self, count: Annotated[int, Ge(3)], words: Annotated[list[str], MinLen(1)]) -> int:
        note("run", method="at_least")
        return count

    @rpc.lock(by="key", ttl=60)
    async def hold(self, key: str) -> str:
        note("run", method="hold", tag=key)
        await wait_for(f"go-{key}")
        return key

    async def event(self, tag: str) -> str:
        note("run", method="event", tag=tag)
        return tag

    def boom(self, tag: str = "") -> None:
        raise ValueError("the password is sesame")

    def missing(self, tag: str = "") -> None:
        raise rpc.DataNotFound("There is no such thing.", extra={"thing": 7})

    def own(self, tag: str = "") -> None:
        raise rpc.ApplicationError("Out of stock", code=1404, extra={"sku": "a"})

    def vetoed(self, tag: str = "") -> None:
        note("run", method="vetoed")

    def broken(self, tag: str = "") -> None:
        note("run", method="broken")

    def shapeless(self, tag: str = "") -> object:
        return object()


@rpc.procedure("Demo", version=2, groups=["mcp"], with_default=False)
class DemoV2:
    def where(self, ctx: rpc.CallContext) -> list[str]:
        return ["second", ctx.group, str(ctx.version), ctx.method]


def noting(event):
    @rpc.listens(event)
    async def listen(happened):
        context = happened.context
        params = getattr(happened, "params", None) or {}
        note(event.__name__, method=context.method, ray=context.ray_id, tag=params.get("tag"), surface=context.surface)
    return listen


@rpc.listens(rpc.RequestReceived, priority=-1)
def veto(happened):
    if happened.context.method == "Demo.vetoed":
        raise rpc.LogicError("Not today")
    if happened.context.method == "Demo.broken":
        raise KeyError("the listener's own fault")


EVENTS = [
    rpc.RequestReceived, rpc.PreExecute, rpc.PreResponse, rpc.PostExecute, rpc.PostResponse, rpc.ErrorRaised,
]
plugin = rpc.Plugin(procedures=[Demo, DemoV2], listeners=[*map(noting, EVENTS), veto])
'''

CONFIG = {"environment": "staging", "ufo_json_rpc": {"security": {"protected_api": False}}}
ROUTES = {
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "mcp"}},
}

Tools = Stateless | Session

_numbers = count(1)


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"calls.py": PLUGIN}) as running:
        yield running


@pytest.fixture(params=[Stateless, Session], ids=["stateless", "session"])
def tools(request: pytest.FixtureRequest, served: Daemon) -> Tools:
    client: Tools = request.param(served)
    return client


@pytest.fixture
def tag() -> str:
    """A word that no other test uses."""
    return f"tag-{next(_numbers)}"


def rpc(served: Daemon, method: str, params: Any = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": f"Demo.{method}", "params": params or {}}
    answer: dict[str, Any] = served.post("/rpc", message).json()
    return answer


def kernel_error(result: dict[str, Any]) -> dict[str, Any]:
    """Return the RPC error that a tool's result carries, and see that it is one."""
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert [block["type"] for block in result["content"]] == ["text"]
    error: dict[str, Any] = json.loads(result["content"][0]["text"])
    return error


def begun(served: Daemon) -> int:
    """Return how many calls have begun, or been run: both are noted before a client has its answer."""
    return len(notes(served, "RequestReceived")) + len(notes(served, "run"))


ITEM = {"name": "cup", "price": "1.50"}

MISFITS = [
    pytest.param({"number": 1, "more": 1}, id="an unknown argument"),
    pytest.param({}, id="a missing argument"),
    pytest.param({"number": "1"}, id="a text for a number"),
    pytest.param({"number": None}, id="null for a number"),
    pytest.param({"number": True}, id="true for a number"),
    pytest.param({"number": 1.5}, id="a fraction for a whole number"),
    pytest.param({"number": 1, "item": "cup"}, id="a text for a DTO"),
    pytest.param({"number": 1, "item": {"name": "cup"}}, id="a DTO that lacks a member"),
    pytest.param({"number": 1, "item": {**ITEM, "colour": 7}}, id="a wrong member of a DTO"),
    pytest.param({"number": 1, "tags": ["a", 1]}, id="a wrong item of a list"),
    pytest.param({"number": 1, "tags": "a"}, id="a text for a list"),
]


@pytest.mark.parametrize("arguments", MISFITS)
def test_arguments_that_do_not_fit_are_a_protocol_error(
    served: Daemon, tools: Tools, tag: str, arguments: dict[str, Any]
) -> None:
    """T-09: an unknown, missing or wrong argument is `-32602` of MCP, no tool result, and nothing is run."""
    before = begun(served)
    answer = tools.call("Demo.take", {**arguments, "tag": tag})
    assert error_of(answer)["code"] == -32602
    assert "result" not in message_of(answer)
    assert begun(served) == before
    assert result_of(tools.call("Demo.take", {"number": 1, "tag": tag}))["isError"] is False
    assert len(notes(served, "run", tag=tag)) == 1


SPECIAL = [
    pytest.param({"async": "worker"}, id="asynchronous"),
    pytest.param({"callback": "https://example.com/hook"}, id="a webhook"),
    pytest.param({"timeout": 5}, id="a timeout"),
    pytest.param({}, id="an empty one"),
]


@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("name", ["take", "bare"])
def test_the_special_parameter_is_unknown(
    served: Daemon, tools: Tools, tag: str, name: str, special: dict[str, Any]
) -> None:
    """T-09: `$rpc` is an unknown argument like any other, so nothing special can be asked for over MCP."""
    before = begun(served)
    arguments = {"number": 1, "tag": tag} if name == "take" else {}
    error = error_of(tools.call(f"Demo.{name}", {**arguments, "$rpc": special}))
    assert error["code"] == -32602
    assert "$rpc" in error["message"]
    assert begun(served) == before


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/mcp", ["mcp", "1", "Demo.where"]),
        ("/mcp/v1", ["mcp", "1", "Demo.where"]),
        ("/mcp/v2", ["second", "mcp", "2", "Demo.where"]),
    ],
)
def test_a_call_is_a_request_to_the_kernel(served: Daemon, path: str, where: list[str]) -> None:
    """T-14: the method is the tool's name, the version and the group are the route's."""
    for client in (Stateless(served, path), Session(served, path)):
        assert client.result("Demo.where")["structuredContent"] == {"result": where}


def test_arguments_are_converted(tools: Tools) -> None:
    """T-14: the procedure gets DTOs, enums, dates and sets, not what JSON has for them."""
    arguments = {"item": ITEM, "day": "2026-11-30", "colour": "blue", "words": ["a", "b"]}
    types = tools.result("Demo.types", arguments)["structuredContent"]["result"]
    assert types == ["Item", "Decimal", "Colour", "date", "Colour", "set"]


def test_the_result_is_written_as_by_rpc(served: Daemon, tools: Tools) -> None:
    """T-14: the text is, to the byte, what `/rpc` answers, and so is the structured content."""
    arguments = {"item": ITEM, "day": "2026-11-30", "share": 2}
    message = {"jsonrpc": "2.0", "id": 1, "method": "Demo.back", "params": arguments}
    over_rpc = served.post("/rpc", message).text
    answer = tools.call("Demo.back", arguments)
    text = result_of(answer)["content"][0]["text"]
    assert f'"result":{text}' in over_rpc
    assert f'"structuredContent":{{"result":{text}}}' in answer.text
    assert json.loads(text)["item"] == {"name": "cup", "price": "1.50", "colour": "red"}


def test_a_lock_holds_for_both(served: Daemon, tools: Tools, tag: str) -> None:
    """T-14: a call by `/rpc` that holds the method's lock keeps a tool's call with the same key out, and no other."""
    holding = threading.Thread(target=rpc, args=(served, "hold", {"key": tag}))
    holding.start()
    try:
        wait_for_notes(served, 1, "run", method="hold", tag=tag)
        assert kernel_error(tools.result("Demo.hold", {"key": tag}))["code"] == -32400
        served.write({f"go-other-{tag}": ""})
        assert tools.result("Demo.hold", {"key": f"other-{tag}"})["isError"] is False
    finally:
        served.write({f"go-{tag}": ""})
        holding.join()
    assert tools.result("Demo.hold", {"key": tag})["isError"] is False


def test_the_events_of_a_call_fire(served: Daemon, tools: Tools, tag: str) -> None:
    """T-14: a tool's call fires the events that a call by `/rpc` does, in the same order."""
    tools.result("Demo.event", {"tag": tag})
    over_mcp = [note["note"] for note in wait_for_notes(served, 6, None, tag=tag)]
    assert over_mcp == ["RequestReceived", "PreExecute", "run", "PreResponse", "PostExecute", "PostResponse"]
    rpc(served, "event", {"tag": f"{tag}-rpc"})
    over_rpc = wait_for_notes(served, 6, None, tag=f"{tag}-rpc")
    assert [note["note"] for note in over_rpc] == over_mcp


def test_assertions_hold(served: Daemon, tools: Tools) -> None:
    """T-14: an argument of the right type that breaks a rule of the method is the kernel's error, as by `/rpc`."""
    arguments = {"count": 2, "words": []}
    before = notes(served, "run")
    error = kernel_error(tools.result("Demo.at_least", arguments))
    assert error["code"] == -32602
    assert error["data"]["extra"].keys() == {"count", "words"}
    assert error == rpc(served, "at_least", arguments)["error"]
    assert notes(served, "run") == before


FAILURES = [
    pytest.param("boom", {}, -32603, id="an exception in the method"),
    pytest.param("missing", {}, -32404, id="an error that the method chose"),
    pytest.param("own", {}, 1404, id="an error of the application"),
    pytest.param("at_least", {"count": 1, "words": ["a"]}, -32602, id="a failed assertion"),
    pytest.param("vetoed", {}, -32400, id="a listener's veto"),
    pytest.param("broken", {}, -32603, id="an exception in a listener"),
    pytest.param("shapeless", {}, -32603, id="a result without JSON"),
]


@pytest.mark.parametrize(("name", "arguments", "code"), FAILURES)
def test_a_failure_is_a_result_that_says_so(
    served: Daemon, tools: Tools, name: str, arguments: dict[str, Any], code: int
) -> None:
    """T-16: whatever fails, in the method or outside of it, is the kernel's error as JSON text with `isError`."""
    error = kernel_error(tools.result(f"Demo.{name}", arguments))
    assert error.keys() == {"code", "message", "data"}
    assert error["code"] == code
    assert error == rpc(served, name, arguments)["error"]
    assert notes(served, "run", method=name) == []


def test_a_session_gets_the_failure_and_nothing_else(served: Daemon) -> None:
    """T-16: the result of a failure to the letter, for clients of the session revisions."""
    result = Session(served).result("Demo.missing")
    assert result.keys() == {"content", "isError"}
    assert [set(block) for block in result["content"]] == [{"type", "text"}]


UNEXPECTED = [
    pytest.param("boom", "sesame", id="in the method"),
    pytest.param("broken", "own fault", id="in a listener"),
]


@pytest.mark.parametrize(("name", "words"), UNEXPECTED)
def test_an_environment_of_any_other_name_tells_nothing(tools: Tools, name: str, words: str) -> None:
    """T-17: elsewhere than in `dev` and `test` only the class is told of an unexpected exception, not its words."""
    error = kernel_error(tools.result(f"Demo.{name}"))
    assert error["data"] == {"exception": "InternalError"}
    assert words not in json.dumps(error)


IDS = [
    pytest.param(7, id="a number"),
    pytest.param(0, id="zero"),
    pytest.param(-(2**53) + 1, id="a large negative number"),
    pytest.param("7", id="a text of digits"),
    pytest.param("", id="an empty text"),
    pytest.param('ї "x" \\', id="a text with everything in it"),
]


def list_tools(tools: Tools, request_id: int | str) -> Answer:
    return tools.send("tools/list", request_id=request_id)


def succeed(tools: Tools, request_id: int | str) -> Answer:
    return tools.send("tools/call", {"name": "Demo.bare", "arguments": {}}, request_id=request_id)


def fail(tools: Tools, request_id: int | str) -> Answer:
    return tools.send("tools/call", {"name": "Demo.boom", "arguments": {}}, request_id=request_id)


def refused(tools: Tools, request_id: int | str) -> Answer:
    return tools.send("tools/call", {"name": "Demo.bare", "arguments": {"a": 1}}, request_id=request_id)


@pytest.mark.parametrize("request_id", IDS)
@pytest.mark.parametrize("send", [list_tools, succeed, fail, refused])
def test_the_envelope_has_the_clients_id(
    tools: Tools, send: Callable[[Tools, int | str], Answer], request_id: int | str
) -> None:
    """T-20: the answer has the id of the request, a number as a number and a text as a text."""
    answered = message_of(send(tools, request_id))["id"]
    assert (type(answered), answered) == (type(request_id), request_id)


@pytest.mark.parametrize("name", ["event", "boom"])
def test_the_kernel_has_ids_of_its_own(served: Daemon, tools: Tools, tag: str, name: str) -> None:
    """T-20: each call has an id that is generated for it, which no answer shows."""
    answers = [
        tools.send("tools/call", {"name": f"Demo.{name}", "arguments": {"tag": tag}}, request_id="mine")
        for _ in range(2)
    ]
    ids = [note["ray"] for note in wait_for_notes(served, 2, "RequestReceived", tag=tag)]
    assert len({*ids, "mine"}) == 3
    shown = [answer.text + repr(answer.headers) for answer in answers]
    assert [(own, text) for own in ids for text in shown if own in text] == []
