"""Errors, results, the pipeline's ends, caches and schemas by their tables: lines of docs/acceptance/kernel.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting, run_noted
from tests.support.daemon import Daemon, cli, daemon, folder, wait_until
from tests.support.mcp import Stateless
from tests.support.notes import notes, wait_for_notes

PLUGIN = """
import dataclasses
import datetime as dt
import enum
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pydantic
import structlog
from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf
from pydantic import Field, PositiveInt

import rpcgw as rpc


def note(kind, **fields):
    with Path("notes.jsonl").open("a") as file:
        file.write(json.dumps({"note": kind, **fields}) + "\\n")


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Plain(enum.Enum):
    RED = enum.auto()


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    above: "Point | None" = None


class Model(pydantic.BaseModel):
    name: str
    points: list[Point] = []


class Odd(Exception):
    def __init__(self, code):
        super().__init__("internal words")
        self.code = code


ERRORS = {
    kind.__name__: kind
    for kind in (
        rpc.ParseError, rpc.InvalidRequest, rpc.MethodNotFound, rpc.InvalidParams, rpc.InternalError, rpc.RuntimeFault,
        rpc.LogicError, rpc.TokenNotSent, rpc.TokenInvalid, rpc.DataNotFound, rpc.AsyncError, rpc.BatchError,
        rpc.ServerError,
    )
}
VALUES = {
    "text": "ї/<&>", "whole": 2, "float": 2.0, "third": 1 / 3, "big": 2**70, "true": True, "null": None,
    "list": [1, [2]], "tuple": (1, 2), "empty list": [], "empty map": {}, "map": {"a": 1}, "enum": Level.HIGH,
    "date-time": dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC), "date": dt.date(2026, 11, 30),
    "duration": dt.timedelta(seconds=90), "uuid": uuid.UUID(int=7), "decimal": Decimal("1.10"), "bytes": b"\\xff\\xfe",
    "dataclass": Point(1, above=Point(2)), "model": Model(name="m", points=[Point(3)]), "models": [Model(name="n")],
    "not a number": float("nan"), "closure": lambda: 1, "file": object(),
}


@rpc.procedure("Fail")
class Fail:
    async def kind(self, name: str) -> None:
        if name == "ApplicationError":
            raise rpc.ApplicationError(code=4010)
        raise ERRORS[name]()

    async def code(self, code: object) -> None:
        raise Odd(code)

    async def extra(self) -> None:
        bag = {"text": "x", "none": None, "nested": {"list": [1, {"deep": True}, object()], "bad": {1}}, "bad": object()}
        raise rpc.ApplicationError("no", code=7, extra=bag)

    async def chain(self) -> None:
        try:
            raise KeyError("the first")
        except KeyError as error:
            raise rpc.RuntimeFault("the second") from error

    async def secret(self, password: str) -> None:
        structlog.get_logger().info("trying", password=password, name="Ada", nested={"api_key": password})
        raise rpc.RuntimeFault("no")


@rpc.procedure("Give")
class Give:
    async def value(self, name: str) -> object:
        return VALUES[name]

    async def nothing(self) -> None: ...

    async def model(self) -> Model:
        return VALUES["model"]

    async def number(self) -> float:
        return float("inf")


@rpc.procedure("Kept")
class Kept:
    @rpc.cache(ttl=1)
    async def second(self) -> int:
        note("second")
        return 1

    @rpc.cache(ttl=60)
    async def minute(self, value: object = None, list: object = None) -> int:
        note("minute")
        return len(notes_of("minute"))

    @rpc.cache(ttl=60, environments=("dev",))
    async def in_dev(self) -> int:
        note("in_dev")
        return 1

    @rpc.cache(ttl=60)
    async def one(self, key: str = "") -> int:
        note("one", key=key)
        return len(notes_of("one"))

    @rpc.cache(ttl=60)
    async def other(self) -> int:
        note("other")
        return len(notes_of("other"))

    async def uncached(self) -> int:
        note("uncached")
        return 1


@rpc.procedure("Writes")
class Writes:
    @rpc.invalidates("Kept.one", "Kept.other", warm_up=True)
    async def all(self, fail: bool = False) -> None:
        if fail:
            raise rpc.RuntimeFault("no")

    @rpc.invalidates("Kept.one", by="key")
    async def some(self, key: str) -> None: ...


@rpc.procedure("Kept", version=2)
class Kept2:
    @rpc.cache(ttl=60)
    async def minute(self, value: object = None, list: object = None) -> str:
        note("minute2")
        return "of version 2"


def notes_of(name):
    return [line for line in Path("notes.jsonl").read_text().splitlines() if json.loads(line)["note"] == name]


@rpc.procedure("Types")
class Types:
    async def all(
        self, integer: int, number: float, boolean: bool, text: str, nullable: int | None, union: int | str,
        anything: Any, items: list[int], bare: list, mapping: dict[str, int], free: dict, point: Point, level: Level,
        positive: PositiveInt, bounded: Annotated[int, Interval(ge=1, le=5)], filled: Annotated[str, MinLen(1)],
        when: dt.datetime, day: dt.date | None, uid: uuid.UUID,
    ) -> list[Point]: ...

    async def nothing(self) -> None: ...


@rpc.procedure("Rules")
class Rules:
    async def all(
        self,
        not_blank: Annotated[str, rpc.NotBlank()] = "x",
        length: Annotated[str, Len(2, 3)] = "xx",
        range: Annotated[int, Ge(1), Le(5)] = 1,
        between: Annotated[float, Gt(0), Lt(1)] = 0.5,
        multiple: Annotated[int, MultipleOf(3)] = 3,
        equal: Annotated[str, rpc.EqualTo("a")] = "a",
        other: Annotated[str, rpc.NotEqualTo("a")] = "b",
        choice: Annotated[str, rpc.Choice("a", "b")] = "a",
        regex: Annotated[str, rpc.Regex("^a+$")] = "a",
        email: Annotated[str, rpc.Email()] = "a@example.com",
        url: Annotated[str, rpc.Url()] = "https://example.com/",
        ip: Annotated[str, rpc.Ip(4)] = "192.0.2.1",
        uid: Annotated[str, rpc.Uuid()] = "0189f7e2-3f6a-7c1e-9b1a-0123456789ab",
        date: Annotated[str, rpc.Date()] = "2026-11-30",
        moment: Annotated[str, rpc.DateTime()] = "2026-11-30T12:00:00Z",
        document: Annotated[str, rpc.Json()] = "{}",
        items: Annotated[list[str], Len(1, 2), rpc.Unique(), rpc.Each(rpc.NotBlank())] = ["a"],
        fields: Annotated[dict, rpc.Fields({"a": rpc.NotBlank()})] = {"a": "x"},
    ) -> int:
        return 1


@rpc.procedure("Seen", groups=["closed"])
class Seen:
    async def seen(self, ctx: rpc.CallContext, tag: str = "") -> str:
        note("ran", surface=ctx.surface)
        return f"raw {tag}"


def watching(event):
    @rpc.listens(event, priority=5)
    def watch(happened):
        if happened.context.method == "Seen.seen":
            result = getattr(happened, "result", None)
            note("event", event=type(happened).__name__, surface=happened.context.surface, result=result)

    return watch


@rpc.listens(rpc.PreResponse)
def replace(happened):
    if happened.params.get("tag") == "replace":
        happened.result = "replaced"


@rpc.listens(rpc.ErrorRaised)
def enrich(happened):
    if happened.context.method == "Fail.extra":
        error = happened.error
        happened.error = rpc.ApplicationError(error.message, code=8, extra={**error.extra, "none": 1, "more": "merged"})


EVENTS = (rpc.RequestReceived, rpc.PreExecute, rpc.PreResponse, rpc.PostExecute, rpc.PostResponse)
plugin = rpc.Plugin(
    procedures=[Fail, Give, Kept, Kept2, Writes, Types, Rules, Seen],
    listeners=[*map(watching, EVENTS), replace, enrich],
)
"""
TWINS = """
import dataclasses

import rpcgw as rpc


def made(field):
    return dataclasses.make_dataclass("Twin", [(field, int)], namespace={"__module__": f"twins.{field}"})


One, Two = made("a"), made("b")


@rpc.procedure("Twins")
class Twins:
    def one(self, twin: One) -> int:
        return twin.a

    def two(self, twin: Two) -> int:
        return twin.b
"""
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {"security": {"protected_api": False}, "docs": {"async_dsn_info": False}},
}
ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "closed": {"resource": "rpc", "prefix": "/closed", "defaults": {"api_group": "closed"}},
    "mcp": {"resource": "mcp", "prefix": "/mcp"},
}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    """Whatever can be given, taken and raised."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"values.py": PLUGIN, "twins.py": TWINS}) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def ask(served: Daemon, method: str, params: Any = None, path: str = "/rpc") -> dict[str, Any]:
    """Call a method; the whole answer."""
    message = {"id": 1, "method": method, **({} if params is None else {"params": params})}
    answer: dict[str, Any] = served.post(path, message).json()
    return answer


# -- the pipeline


def test_what_listeners_see_of_a_result(served: Daemon) -> None:
    """A-RPC-56, A-RPC-57: the answer is what `rpc.pre_response` leaves; `rpc.post_execute` sees the method's own."""
    assert ask(served, "Seen.seen", {"tag": "replace"})["result"] == "replaced"
    seen = wait_for_notes(served, 5, "event", surface="rpc")
    found = {line["event"]: line["result"] for line in seen}
    assert (found["PostExecute"], found["PreResponse"]) == ("raw replace", "raw replace")


def test_one_executor(record_property: Note) -> None:
    """A-RPC-60: the same events, in the same order, for a call by HTTP, by MCP and from the command line."""
    message = json.dumps({"id": 1, "method": "Seen.seen"})
    expected = ["RequestReceived", "PreExecute", "PreResponse", "PostExecute", "PostResponse"]
    with (
        daemon(config=CONFIG, routes=ROUTES, plugins={"values.py": PLUGIN}) as made,
        noting(record_property, made),
    ):
        assert ask(made, "Seen.seen")["result"] == "raw "
        assert Stateless(made).result("Seen.seen")["structuredContent"] == {"result": "raw "}
        done = cli("process", message, cwd=made.folder)
        run_noted(record_property, f"rpcgw process '{message}'", done.returncode, done.stdout)
        assert json.loads(done.stdout)["result"] == "raw "
        for surface in ("rpc", "mcp", "cli"):
            events = wait_for_notes(made, len(expected), "event", surface=surface)
            assert [event["event"] for event in events] == expected
            assert len(notes(made, "ran", surface=surface)) == 1


# -- errors


CODES = {
    "ParseError": (-32700, "Invalid JSON was received by the server."),
    "InvalidRequest": (-32600, "The JSON sent is not a valid request."),
    "MethodNotFound": (-32601, "Method not found"),
    "InvalidParams": (-32602, "Required parameter not passed"),
    "InternalError": (-32603, "Internal JSON-RPC error"),
    "RuntimeFault": (-32500, "Runtime error on procedure"),
    "LogicError": (-32400, "Logic error on procedure"),
    "TokenNotSent": (-32401, "Unauthorized. Token not found"),
    "TokenInvalid": (-32403, "Forbidden. Invalid token"),
    "DataNotFound": (-32404, 'Api method returned error "Data not found"'),
    "AsyncError": (-32300, "Async request is invalid"),
    "BatchError": (-32301, "Batch request error"),
    "ServerError": (-32000, "Custom RPC server error"),
    "ApplicationError": (4010, "Custom application error occurred"),
}


@pytest.mark.parametrize("name", CODES)
def test_the_table_of_codes(served: Daemon, name: str) -> None:
    """A-RPC-74: a class's code, and what it says where its author says nothing."""
    error = ask(served, "Fail.kind", {"name": name})["error"]
    assert (error["code"], error["message"]) == CODES[name]
    assert error["data"] == {"exception": name}


@pytest.mark.parametrize(
    ("code", "shown", "name"),
    [
        pytest.param(0, -32603, "InternalError", id="none"),
        pytest.param("5", -32603, "InternalError", id="no number"),
        pytest.param(-32404, -32404, "DataNotFound", id="one of the table"),
        pytest.param(-32050, -32050, "ServerError", id="a server's own"),
        pytest.param(4010, 4010, "ApplicationError", id="an application's own"),
        pytest.param(-1, -1, "ApplicationError", id="an application's own below zero"),
        pytest.param(-32450, -32450, "LogicError", id="of a hundred that means something"),
        pytest.param(-32650, -32650, "InvalidRequest", id="of another one"),
        pytest.param(-32150, -32603, "InternalError", id="of a hundred that means nothing"),
        pytest.param(-32701, -32603, "InternalError", id="below all of them"),
    ],
)
def test_codes_of_other_exceptions(served: Daemon, code: Any, shown: int, name: str) -> None:
    """A-RPC-75: an exception's own code decides its class and is kept; its words are not shown."""
    error = ask(served, "Fail.code", {"code": code})["error"]
    assert (error["code"], error["data"]["exception"]) == (shown, name)
    assert "internal words" not in json.dumps(error)


@pytest.mark.parametrize("environment", ["prod", "dev", "test", "Dev"])
def test_what_is_shown_where(environment: str, record_property: Note) -> None:
    """A-RPC-76: class and `extra`; in `dev` and `test`, to the letter, the whole story and what came before it."""
    config = {"environment": environment, **CONFIG}
    with daemon(config=config, routes=ROUTES, plugins={"values.py": PLUGIN}) as made:
        if environment in ("prod", "Dev"):
            with noting(record_property, made):
                assert ask(made, "Fail.chain")["error"]["data"] == {"exception": "RuntimeFault"}
                return
        data = ask(made, "Fail.chain")["error"]["data"]
    assert list(data) == ["exception", "message", "code", "file", "line", "trace", "trace_string", "previous"]
    assert (data["exception"], data["message"], data["code"]) == ("RuntimeFault", "the second", -32500)
    assert (data["previous"]["exception"], data["previous"]["previous"]) == ("KeyError", None)


def test_the_bag(served: Daemon) -> None:
    """A-RPC-77: what JSON cannot say is left out at any depth; a listener may merge, and what it leaves goes out."""
    error = ask(served, "Fail.extra")["error"]
    assert (error["code"], error["data"]["extra"]) == (
        8,
        {"text": "x", "none": 1, "nested": {"list": [1, {"deep": True}]}, "more": "merged"},
    )
    [batched] = served.post("/rpc", [{"id": 1, "method": "Fail.extra"}]).json()
    assert batched["error"] == error
    failed = Stateless(served).result("Fail.extra")
    assert json.loads(failed["content"][0]["text"]) == error


def test_the_log(served: Daemon) -> None:
    """A-RPC-100: a failed call is a line with ids and code, counted too; what is called a password is masked."""
    before = len(served.calls())
    ask(served, "Fail.secret", {"password": "hunter2-hunter2"})
    (line,) = served.calls()[before:]
    assert {"id", "ray_id", "group", "version", "method", "code", "duration_ms", "principal"} <= line.keys()
    assert (line["method"], line["code"], line["level"]) == ("Fail.secret", -32500, "error")
    told = served.wait_log("trying")
    assert (told["password"], told["nested"], told["name"]) == ("***", {"api_key": "***"}, "Ada")
    assert "hunter2" not in served.stderr()
    metrics = served.get("/metrics").text
    counted = [line for line in metrics.splitlines() if 'method="Fail.secret"' in line and 'outcome="error"' in line]
    assert counted[0].endswith(" 1.0")


# -- results


RESULTS = {
    "text": '"ї/<&>"',
    "whole": "2",
    "float": "2.0",
    "third": "0.3333333333333333",
    "big": "1180591620717411303424",
    "true": "true",
    "null": "null",
    "list": "[1,[2]]",
    "tuple": "[1,2]",
    "empty list": "[]",
    "empty map": "{}",
    "map": '{"a":1}',
    "enum": "2",
    "date-time": '"2026-11-30T12:00:00Z"',
    "date": '"2026-11-30"',
    "duration": '"PT90S"',
    "uuid": '"00000000-0000-0000-0000-000000000007"',
    "decimal": '"1.10"',
    "bytes": '"//4="',
    "dataclass": '{"x":1,"y":0.5,"above":{"x":2,"y":0.5,"above":null}}',
    "model": '{"name":"m","points":[{"x":3,"y":0.5,"above":null}]}',
    "models": '[{"name":"n","points":[]}]',
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(served: Daemon, name: str) -> None:
    """A-RPC-101: each kind of value has one form."""
    answer = served.post("/rpc", {"id": 1, "method": "Give.value", "params": {"name": name}})
    assert answer.body.decode() == f'{{"id":1,"result":{RESULTS[name]},"jsonrpc":"2.0"}}'


def test_results_by_type(served: Daemon) -> None:
    """A-RPC-101: a declared type changes nothing of that; nothing is null."""
    assert ask(served, "Give.model")["result"] == json.loads(RESULTS["model"])
    assert ask(served, "Give.nothing") == {"id": 1, "result": None, "jsonrpc": "2.0"}


@pytest.mark.parametrize("params", [{"name": "closure"}, {"name": "file"}, None], ids=["closure", "object", "infinity"])
def test_results_that_are_none(served: Daemon, params: Any) -> None:
    """A-RPC-101: what JSON cannot say is an error, which does not show the value."""
    error = ask(served, "Give.number" if params is None else "Give.value", params)["error"]
    assert (error["code"], error["data"]["exception"]) == (-32603, "InternalError")


# -- caches


def test_how_long_and_where(served: Daemon) -> None:
    """A-RPC-79: a method's own time, in the environments of its mark: `prod` where it names none."""
    for _ in range(3):
        assert ask(served, "Kept.in_dev")["result"] == ask(served, "Kept.uncached")["result"] == 1
        assert ask(served, "Kept.minute")["result"] == 1
    assert (len(notes(served, "in_dev")), len(notes(served, "uncached"))) == (3, 3)

    def again() -> bool:
        ask(served, "Kept.second")
        return len(notes(served, "second")) == 2

    ask(served, "Kept.second")
    ask(served, "Kept.second")
    assert len(notes(served, "second")) == 1
    wait_until(again, 10, lambda: "it was kept for more than a second")


def test_where_it_is_not_in_use(record_property: Note) -> None:
    """A-RPC-79: in `dev` nothing is kept, but what its mark says."""
    config = {"environment": "dev", **CONFIG}
    with (
        daemon(config=config, routes=ROUTES, plugins={"values.py": PLUGIN}) as made,
        noting(record_property, made),
    ):
        for _ in range(2):
            ask(made, "Kept.minute")
            ask(made, "Kept.in_dev")
        assert (len(notes(made, "minute")), len(notes(made, "in_dev"))) == (2, 1)


def test_what_tells_results_apart(served: Daemon) -> None:
    """A-RPC-80: version, group and parameters; not the order of members, nor whether a default was sent, nor how."""
    other: list[dict[str, Any]] = [
        {"list": [1, 2]},
        {"list": [2, 1]},
        {"list": "[1,2]"},
        {"value": {"a": 1, "b": 2}},
        {"value": 1},
        {"value": "1"},
        {"value": True},
    ]
    results = [ask(served, "Kept.minute", params)["result"] for params in other]
    assert len(set(results)) == len(other)
    assert [ask(served, "Kept.minute", params)["result"] for params in other] == results
    same = [{"value": {"b": 2, "a": 1}}, [{"a": 1, "b": 2}], {"value": {"a": 1, "b": 2}, "list": None, "dropped": 1}]
    assert {ask(served, "Kept.minute", params)["result"] for params in same} == {results[3]}
    assert ask(served, "Kept.minute", other[0], "/rpc/v2")["result"] == "of version 2"
    assert ask(served, "Kept.minute", {**other[0], "$rpc": {"timeout": 20, "rayId": "x"}})["result"] == results[0]


def test_what_another_class_drops(served: Daemon) -> None:
    """A-RPC-83: its success drops what it names, and makes it anew; its failure drops nothing."""
    first = [ask(served, f"Kept.{name}")["result"] for name in ("one", "other")]
    ask(served, "Writes.all", {"fail": True})
    assert [ask(served, f"Kept.{name}")["result"] for name in ("one", "other")] == first == [1, 1]
    ask(served, "Writes.all")
    wait_for_notes(served, 2, "one", key="")
    wait_for_notes(served, 2, "other")
    assert [ask(served, f"Kept.{name}")["result"] for name in ("one", "other")] == [2, 2]
    assert ask(served, "Kept.one", {"key": "a"})["result"] == 3
    ask(served, "Writes.some", {"key": "a"})
    assert [ask(served, "Kept.one", params)["result"] for params in ({"key": "a"}, {})] == [4, 2]


# -- schemas


def schemas(served: Daemon, method: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The parameters' schemas, the result's, and the components."""
    document = served.get("/rpc").json()
    [found] = [each for each in document["methods"] if each["name"] == method]
    params = {param["name"]: param["schema"] for param in found["params"]}
    return params, found["result"]["schema"], document["components"]["schemas"]


def test_the_table_of_types(served: Daemon) -> None:
    """A-RPC-90: every kind of type has its schema; classes and enums are components."""
    params, result, components = schemas(served, "Types.all")
    assert params == {
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "text": {"type": "string"},
        "nullable": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "union": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "anything": {},
        "items": {"type": "array", "items": {"type": "integer"}},
        "bare": {"type": "array", "items": {}},
        "mapping": {"type": "object", "additionalProperties": {"type": "integer"}},
        "free": {"type": "object", "additionalProperties": True},
        "point": {"$ref": "#/components/schemas/Point"},
        "level": {"$ref": "#/components/schemas/Level"},
        "positive": {"type": "integer", "exclusiveMinimum": 0},
        "bounded": {"type": "integer", "minimum": 1, "maximum": 5},
        "filled": {"type": "string", "minLength": 1},
        "when": {"type": "string", "format": "date-time"},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "uid": {"type": "string", "format": "uuid"},
    }
    assert result == {"type": "array", "items": {"$ref": "#/components/schemas/Point"}}
    assert schemas(served, "Types.nothing")[1] == {"type": "null"}
    assert components["Level"] == {
        "type": "integer",
        "enum": [1, 2],
        "x-ufo-enum": {"name": "Level", "values": {"LOW": 1, "HIGH": 2}},
    }
    point = components["Point"]
    assert (point["type"], point["required"], point["properties"]["y"]["default"]) == ("object", ["x"], 0.5)


def test_classes_of_one_name(served: Daemon) -> None:
    """A-RPC-92: of two classes with one name each has a component of its own, and each is checked by its own."""
    document = served.get("/rpc").json()
    references = {
        method["name"]: method["params"][0]["schema"]["$ref"].rpartition("/")[2]
        for method in document["methods"]
        if method["name"] in ("Twins.one", "Twins.two")
    }
    components = document["components"]["schemas"]
    assert references["Twins.one"] != references["Twins.two"]
    assert [list(components[references[name]]["properties"]) for name in ("Twins.one", "Twins.two")] == [["a"], ["b"]]
    assert ask(served, "Twins.one", {"twin": {"a": 1}})["result"] == 1
    assert ask(served, "Twins.two", {"twin": {"a": 1}})["error"]["data"]["extra"] == {"twin.b": ["is required"]}


RULES: dict[str, tuple[dict[str, Any], Any]] = {
    "not_blank": ({"minLength": 1, "pattern": "\\S"}, " "),
    "length": ({"minLength": 2, "maxLength": 3}, "x"),
    "range": ({"minimum": 1, "maximum": 5}, 6),
    "between": ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, 1),
    "multiple": ({"multipleOf": 3}, 4),
    "equal": ({"const": "a"}, "b"),
    "other": ({"not": {"const": "a"}}, "a"),
    "choice": ({"enum": ["a", "b"]}, "c"),
    "regex": ({"pattern": "^a+$"}, "b"),
    "email": ({"format": "email"}, "a"),
    "url": ({"format": "uri"}, "a"),
    "ip": ({"format": "ipv4"}, "1.2.3"),
    "uid": ({"format": "uuid", "minLength": 36, "maxLength": 36}, "0189f7e2"),
    "date": ({"format": "date"}, "2026-02-30"),
    "moment": ({"format": "date-time"}, "2026-11-30"),
    "document": ({"contentMediaType": "application/json"}, "{"),
    "items": ({"minItems": 1, "maxItems": 2, "uniqueItems": True, "items": {"type": "string", "minLength": 1}}, []),
    "fields": ({"required": ["a"], "properties": {"a": {"minLength": 1}}}, {}),
}
"""What each rule adds to a schema, and what breaks it."""


def within(part: Any, whole: Any) -> bool:
    """Whether all members of one are in the other, at any depth."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and within(value, whole[name]) for name, value in part.items())
    return bool(part == whole)


@pytest.mark.parametrize("name", RULES)
def test_the_table_of_rules(served: Daemon, name: str) -> None:
    """A-RPC-91: what is documented is enforced, and the other way round."""
    keywords, broken = RULES[name]
    schema = schemas(served, "Rules.all")[0][name]
    assert within(keywords, schema), schema
    assert ask(served, "Rules.all")["result"] == 1
    error = ask(served, "Rules.all", {name: broken})["error"]
    assert error["code"] == -32602
    assert {path.partition(".")[0] for path in error["data"]["extra"]} == {name}


# -- configuration


SECTIONS = """
ufo_json_rpc:
  cache: {{ttl: 60, prefix: rpc_cache, pool: default}}
  security:
    protected_api: true
    protected_doc: false
    token_name: Ufo-RPC-Token
    clients_tokens: ['%env(UFO_API_TOKEN)%']
    providers: {{other: {{protected_api: false}}}}
  docs:
    project_name: 'API of %env(WHO)%'
    project_description: ''
    project_version: ~
    async_dsn_info: false
    validations: {{symfony_asserts: false}}
  async: []
{more}"""


def test_all_keys(record_property: Note) -> None:
    """A-RPC-97: every section and key of the original is known, and variables stand in their values."""
    env = {"UFO_API_TOKEN": "from-the-environment", "WHO": "somebody"}
    with (
        daemon(config=SECTIONS.format(more=""), routes=ROUTES, plugins={"values.py": PLUGIN}, env=env) as made,
        noting(record_property, made),
    ):
        headers = {"Ufo-RPC-Token": "from-the-environment"}
        assert made.post("/rpc", {"id": 1, "method": "ping"}, headers).json()["result"] == "PONG"
        assert made.get("/rpc?info").json()["info"]["title"] == "API of somebody"


def test_defaults(served: Daemon) -> None:
    """A-RPC-97: what nobody says has its default."""
    head = served.get("/rpc?info").json()
    assert head["info"]["title"] == "My Project"
    assert list(head["servers"][0]["x-ufo"]["transport"]) == ["sync"]


def test_unknown_keys(record_property: Note) -> None:
    """A-RPC-97: an unknown key is a problem with its place, in each section, and all of them are told at once."""
    config = """
    ufo_json_rpc:
      cache: {tll: 60}
      security: {protected_api: false, client_tokens: []}
      docs: {name: x}
      asynch: []
    unknown: 1
    """
    with folder(config=config, routes=ROUTES) as place:
        done = cli("check", cwd=place)
    said = done.stdout + done.stderr
    lines = [line for line in said.splitlines() if "Unrecognized option" in line]
    run_noted(record_property, "rpcgw check", done.returncode, "\n".join(lines))
    assert done.returncode == 1
    for name in ("cache.tll", "security.client_tokens", "docs.name", "asynch", "unknown"):
        assert any(name.rpartition(".")[2] in line for line in lines), name
    assert len(lines) == 5
