"""A compiled method: bind, gate, convert, call, encode."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import math
import uuid
from typing import Annotated, Any, NewType

import jsonschema
import pydantic
import pytest
from annotated_types import Interval, MaxLen, MinLen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rpcgw as rpc
from rpcgw.api.context import ANONYMOUS, CallContext
from rpcgw.kernel.codec import MAX_DEPTH, NoJsonForm, decode
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.gate import PASSED, Assertion, Passed, Shape
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import Registration, compile_methods

UserId = NewType("UserId", int)
CONTEXT = CallContext(ANONYMOUS, "general", 1, "M.x", "rpc", "en", "ray")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Node:
    id: int
    weight: float = 1.0
    kids: list[Node] = dataclasses.field(default_factory=list)
    colour: Colour = Colour.RED


class Rule(pydantic.BaseModel):
    even: Annotated[int, Interval(ge=0)] = 0

    @pydantic.field_validator("even")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


HAND = {"type": "object", "properties": {"a": {"type": ["integer", "string"]}}, "required": ["a"], "additionalProperties": False}  # fmt: skip


@rpc.procedure("M")
class Methods:
    def plain(self, a: int, b: Annotated[str, MinLen(1)] = "x", c: float | None = None) -> str:
        return f"{a!r}{b!r}{c!r}"

    def nothing(self) -> float:
        return math.nan

    def positions(self, a: int, ctx: CallContext, /, b: int = 2, *, c: int) -> list[Any]:
        return [a, ctx.method, b, c]

    def dto(self, node: Node, when: dt.datetime | None = None, price: decimal.Decimal = decimal.Decimal(1)) -> Node:
        return node

    def many(
        self,
        ids: list[UserId],
        names: Annotated[list[str], MaxLen(2)],
        by_key: dict[str, Colour],
        pair: tuple[int, str],
    ) -> None: ...

    def unions(
        self, a: int | dt.date, b: uuid.UUID | int, c: Node | str | None = None, d: set[int] | None = None
    ) -> None: ...

    def plains(
        self, a: UserId, b: float, c: int | None = None, *, d: list[str] | None = None, e: Any = None, f: bool = False
    ) -> None: ...

    def rule(self, rule: Rule, n: Annotated[int, Interval(le=5)] = 0) -> None: ...

    @rpc.tool(input_schema=HAND)
    def by_hand(self, a: int) -> int:
        return a


TABLE, PROBLEMS = compile_methods([Registration(Methods, "tests")])
METHODS = TABLE.methods("general", 1) or {}


def method(name: str) -> Method:
    return METHODS[f"M.{name}"]


def test_the_methods_of_these_tests_are_in_order() -> None:
    """Nothing is wrong with what is tested here."""
    assert PROBLEMS == []


@pytest.mark.parametrize(
    ("name", "params", "bound"),
    [
        pytest.param("plain", {"a": 1, "b": "y"}, {"a": 1, "b": "y"}, id="by name"),
        pytest.param("plain", [1, "y"], {"a": 1, "b": "y"}, id="by position"),
        pytest.param("plain", {"a": 1, "zz": 2}, {"a": 1}, id="an unknown name is dropped"),
        pytest.param("plain", {"a": None}, {"a": None}, id="null is not absent"),
        pytest.param("nothing", None, {}, id="no params at all"),
        pytest.param("nothing", [], {}, id="no positions"),
        pytest.param("positions", [1, 2, 3], {"a": 1, "b": 2, "c": 3}, id="the context takes no position"),
    ],
)
def test_binding(name: str, params: Any, bound: dict[str, Any]) -> None:
    """Positions become names, and what is absent stays absent."""
    assert method(name).bind(params, strict=False, refuse_unknown=False) == bound


@pytest.mark.parametrize(
    ("name", "params", "message", "extra"),
    [
        pytest.param("plain", {}, "Invalid parameters of M.plain", {"a": ["is required"]}, id="one is missing"),
        pytest.param("many", {}, "Invalid parameters of M.many", {name: ["is required"] for name in ("ids", "names", "by_key", "pair")}, id="all that are missing"),
        pytest.param("plain", {"b": 1}, "Invalid parameters of M.plain", {"a": ["is required"], "b": ["must be a string"]}, id="with what else is wrong"),
        pytest.param("plain", [1, "y", 2, 3], "M.plain takes 1 to 3 parameter(s), 4 were given", {}, id="too many positions"),
        pytest.param("plain", [], "M.plain takes 1 to 3 parameter(s), 0 were given", {"a": ["is required"]}, id="too few positions"),
        pytest.param("nothing", [1], "M.nothing takes 0 parameter(s), 1 were given", {}, id="a position where there is none"),
        pytest.param("positions", [1], "M.positions takes 2 to 3 parameter(s), 1 were given", {"c": ["is required"]}, id="a keyword among positions"),
    ],
)  # fmt: skip
def test_binding_that_fails(name: str, params: Any, message: str, extra: dict[str, Any]) -> None:
    """Everything that is missing is said at once, in the signature's order, with the counts."""
    with pytest.raises(rpc.InvalidParams) as refused:
        method(name).bind(params, strict=False, refuse_unknown=False)
    assert (type(refused.value), refused.value.message) == (rpc.InvalidParams, message)
    assert list(refused.value.extra.items()) == list(extra.items())


@pytest.mark.parametrize(("strict", "refuse_unknown"), [(True, False), (False, True)])
def test_unknown_names_are_refused_where_asked(strict: bool, refuse_unknown: bool) -> None:
    """A strict surface and a setting refuse what the method does not take."""
    with pytest.raises(rpc.InvalidParams) as refused:
        method("plain").bind({"a": 1, "zz": 2}, strict=strict, refuse_unknown=refuse_unknown)
    assert refused.value.extra == {"zz": ["is not a known parameter"]}


@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        pytest.param("plain", {"a": 1}, PASSED, id="passed"),
        pytest.param("plain", {"a": "1"}, Shape({"a": ["must be an integer"]}), id="a wrong type"),
        pytest.param("plain", {"a": True}, Shape({"a": ["must be an integer"]}), id="true is no integer"),
        pytest.param("plain", {"a": 1, "b": ""}, Assertion({"b": ["must have at least 1 character(s)"]}), id="too short"),
        pytest.param("nothing", {"$rpc": {}}, Shape({"$rpc": ["is not a known parameter"]}), id="T-09: the kernel's special parameter is unknown"),
        pytest.param("dto", {"node": {"id": 1, "kids": [{}]}}, Shape({"node.kids[0].id": ["is required"]}), id="deep inside"),
        pytest.param("dto", {"node": {"id": 1, "colour": "green"}}, Shape({"node.colour": ["must be 'red' or 'blue'"]}), id="an enum is a type"),
        pytest.param("dto", {"node": {"id": 1, "more": 1}}, PASSED, id="unknown fields of a class are ignored"),
        pytest.param("many", {"ids": [], "names": ["a", "b", "c"], "by_key": {}, "pair": [1, "a"]}, Assertion({"names": ["must have at most 2 item(s)"]}), id="too many items"),
        pytest.param("many", {"ids": [], "names": [], "by_key": {}, "pair": [1]}, Shape({"pair[1]": ["is required"]}), id="a tuple's length is its type"),
        pytest.param("rule", {"rule": {"even": -1}, "n": 9}, Assertion({"rule.even": ["must be at least 0"], "n": ["must be at most 5"]}), id="without asking the author's rules"),
        pytest.param("rule", {"rule": {"even": 3}}, PASSED, id="the author's rules are no part of the gate"),
        pytest.param("by_hand", {"a": "x"}, PASSED, id="a schema by hand is the gate"),
        pytest.param("by_hand", {"a": 1.5}, Shape({"a": ["must be an integer"]}), id="and refuses what it does not say"),
    ],
)  # fmt: skip
def test_the_gate(name: str, arguments: dict[str, Any], verdict: Passed | Shape | Assertion) -> None:
    """T-09, T-16: the verdict on raw arguments, in words."""
    assert method(name).gate(arguments) == verdict


@pytest.mark.parametrize(
    ("name", "arguments", "extra"),
    [
        pytest.param("rule", {"rule": {"even": 3}}, {"rule.even": ["must be even"]}, id="a rule of the author's"),
        pytest.param("dto", {"node": {"id": 1}, "when": "2024-02-30"}, {"when": ["must be a date and time such as 2026-11-30T12:00:00Z"]}, id="a format"),
        pytest.param("by_hand", {"a": "x"}, {"a": ["must be an integer"]}, id="a type that a schema by hand lets through"),
    ],
)  # fmt: skip
def test_conversion_that_fails(name: str, arguments: dict[str, Any], extra: dict[str, Any]) -> None:
    """T-16: what the gate cannot see is an assertion of the method."""
    with pytest.raises(rpc.AssertionFailed) as refused:
        method(name).convert(arguments)
    assert (refused.value.message, refused.value.extra) == (f"Invalid data for M.{name}", extra)


def test_refusals_become_errors() -> None:
    """Each verdict has its error."""
    assert type(method("plain").refusal(Shape({"a": ["x"]}))) is rpc.InvalidParams
    failed = method("plain").refusal(Assertion({"a": ["x"]}))
    assert (type(failed), failed.extra) == (rpc.AssertionFailed, {"a": ["x"]})


def test_calling_with_positions_and_a_context() -> None:
    """Positional parameters and the context reach the function as it wants them."""
    made = method("positions")
    assert made.call(Methods().positions, made.convert({"a": 1, "c": 3}), CONTEXT) == [1, "M.x", 2, 3]


def test_a_result_that_is_not_finite() -> None:
    """NaN is refused where a number is promised."""
    with pytest.raises(NoJsonForm, match="it is not a finite number"):
        method("nothing").encode(math.nan)


@pytest.mark.parametrize(("identity", "broken"), [(1, 0), ("one", 1)])
def test_results_are_held_to_their_type_however_deep(identity: object, broken: int) -> None:
    """T-15: a result may be nested deeper than parameters may be, and keeps what is promised down to its end."""
    node = Node(identity)  # type: ignore[arg-type]  # one row is wrong on purpose
    for _ in range(MAX_DEPTH):
        node = Node(1, kids=[node])
    made = method("dto")
    assert len(made.kept(made.encode(node))) == broken


def test_json_defaults() -> None:
    """Defaults are known as JSON too, for keys of cache and lock."""
    assert method("dto").defaults == {"when": None, "price": "1"}


def test_methods_are_equal_by_identity() -> None:
    """Two methods are never the same one."""
    other, _ = compile_methods([Registration(Methods, "tests")])
    assert (other.methods("general", 1) or {})["M.plain"] != method("plain")


NASTY: list[Any] = [0, 1, -1, 1.0, -0.0, 1.5, 1e20, 2**70, "", "a", "red", "2026-11-30", "2026-11-30T12:00:00Z", str(uuid.UUID(int=1)), "1.5", None, True, False, [], [1], [1.0], {}, {"id": 1}]  # fmt: skip


@st.composite
def values(draw: st.DrawFn, schema: dict[str, Any], defs: dict[str, Any], depth: int = 0) -> Any:
    """Values that nearly fit a schema."""
    if "$ref" in schema:
        return draw(values(defs[schema["$ref"].rpartition("/")[2]], defs, depth + 1))
    if "anyOf" in schema:
        return draw(values(draw(st.sampled_from(schema["anyOf"])), defs, depth))
    wild = draw(st.integers(0, 11)) == 0 or depth > 4
    return draw(st.sampled_from(NASTY) if wild else fitting(schema, defs, depth))


def fitting(schema: dict[str, Any], defs: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    kind = schema.get("type", "")
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if kind == "object":
        return objects(schema, defs, depth)
    if "prefixItems" in schema:
        return st.tuples(*(values(part, defs, depth + 1) for part in schema["prefixItems"])).map(list)
    if kind == "array":
        return st.lists(values(schema["items"], defs, depth + 1), max_size=3)
    classes = {"integer": int, "number": int | float, "string": str, "boolean": bool, "null": type(None)}
    return st.sampled_from([value for value in NASTY if isinstance(value, classes.get(kind, object))])


@st.composite
def objects(draw: st.DrawFn, schema: dict[str, Any], defs: dict[str, Any], depth: int = 0) -> Any:
    made = {}
    for name, part in schema.get("properties", {}).items():
        if draw(st.integers(0, 9)) > (0 if name in schema.get("required", ()) else 4):
            made[name] = draw(values(part, defs, depth + 1))
    if isinstance(more := schema.get("additionalProperties"), dict):
        made |= draw(st.dictionaries(st.sampled_from(["a", "1"]), values(more, defs, depth + 1), max_size=2))
    if draw(st.integers(0, 19)) == 0:
        made["zz"] = 1
    return made


@pytest.mark.parametrize("name", ["plain", "dto", "many", "unions", "plains", "rule"])
@given(data=st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_advertised_is_what_is_accepted(name: str, data: st.DataObject) -> None:
    """T-09: nothing passes that the published schema refuses, and what passes fails only as an assertion."""
    made = method(name)
    schema = decode(made.input_schema)
    arguments = data.draw(objects(schema, schema.get("$defs", {})))
    verdict = made.gate(arguments)
    fits = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert isinstance(verdict, Passed) == fits
    if isinstance(verdict, Shape | Assertion):
        assert verdict.errors
        return
    try:
        converted = made.convert(arguments)
    except rpc.AssertionFailed as refused:
        assert refused.extra  # noqa: PT017 -- either outcome is right
    else:
        assert set(converted) == {param.name for param in made.signature.params}


@given(data=st.data())
@settings(deadline=None)
def test_plain_parameters_are_what_pydantic_would_make_of_them(data: st.DataObject) -> None:
    """Skipping the conversion of plain types changes nothing."""
    made = method("plains")
    schema = decode(made.input_schema)
    arguments = data.draw(objects(schema, {}))
    if isinstance(made.gate(arguments), Passed):
        converted = made.convert(arguments)
        for param in made.signature.params:
            if param.name in arguments:
                expected = Codec(param.hint).convert(arguments[param.name])
                assert repr(converted[param.name]) == repr(expected)
