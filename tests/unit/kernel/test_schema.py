"""Types as JSON Schema: what MCP and OpenRPC publish."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, TypeVar

import jsonschema
import pydantic
import pytest
from annotated_types import Interval, MinLen
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from rpcgw.kernel.conversion import Codecs
from rpcgw.kernel.rewrite import JsonSchema, parts
from rpcgw.kernel.schema import Property, describe, input_schema, output_schema, promises_number

T = TypeVar("T")
UserId = NewType("UserId", int)
DECIMAL = {"type": "string", "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"}


class Colour(enum.StrEnum):
    """Colours of paint."""

    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    PAIR = (1, 2)


@dataclasses.dataclass(frozen=True)
class Money:
    amount: decimal.Decimal = decimal.Decimal("1.10")


@dataclasses.dataclass
class Node:
    """A tree."""

    id: int
    kids: list[Node] = dataclasses.field(default_factory=list)
    title: str = "root"


class Page(BaseModel, Generic[T]):
    items: list[T]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Blob(BaseModel):
    content: bytes


class Encoded(BaseModel):
    model_config = pydantic.ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    content: bytes


class Entry(TypedDict):
    a: int
    b: NotRequired[str]


def published(hint: Any) -> JsonSchema:
    codec = Codecs().get(hint)
    description = describe([codec], [])
    return input_schema([Property("x", description.inputs[codec])], description.components)


def promised(hint: Any) -> JsonSchema | None:
    codec = Codecs().get(hint)
    description = describe([], [codec])
    return output_schema(description.outputs[codec], description.components)


def test_t08_to_the_byte() -> None:
    """T-08: one documented parameter with a default gives exactly this, members in this order."""
    codec = Codecs().get(str)
    description = describe([codec], [])
    who = Property("who", description.inputs[codec], "Who is pinging", required=False, default="x")
    assert json.dumps(input_schema([who], {}), separators=(",", ":")) == (
        '{"type":"object","properties":{"who":{"type":"string","description":"Who is pinging","default":"x"}},'
        '"additionalProperties":false}'
    )


@pytest.mark.parametrize(
    ("hint", "fragment"),
    [
        pytest.param(int, {"type": "integer"}, id="an integer"),
        pytest.param(str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, id="an optional text"),
        pytest.param(UserId, {"type": "integer"}, id="a new type"),
        pytest.param(Any, {}, id="anything"),
        pytest.param(list, {"type": "array", "items": {}}, id="a bare list says what its items are"),
        pytest.param(dict, {"type": "object", "additionalProperties": True}, id="a bare dict"),
        pytest.param(tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2, "items": False}, id="a tuple is closed"),
        pytest.param(set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, id="a set"),
        pytest.param(Sequence[int], {"type": "array", "items": {"type": "integer"}}, id="a sequence"),
        pytest.param(Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, id="a mapping"),
        pytest.param(dict[int, str], {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^-?(0|[1-9][0-9]*)$"}}, id="integer keys"),
        pytest.param(dict[uuid.UUID, str], {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"format": "uuid"}}, id="UUID keys"),
        pytest.param(Literal["x", "y"], {"type": "string", "enum": ["x", "y"]}, id="texts to choose from"),
        pytest.param(Literal[1, "x"], {"enum": [1, "x"]}, id="a mixed choice has no type"),
        pytest.param(decimal.Decimal, {"anyOf": [{"type": "number"}, DECIMAL]}, id="a Decimal comes in as a number or as digits"),
        pytest.param(bytes, {"type": "string", "contentEncoding": "base64"}, id="bytes"),
        pytest.param(dt.datetime, {"type": "string", "format": "date-time"}, id="a date and time"),
        pytest.param(Annotated[int, Interval(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}, id="a range"),
        pytest.param(Annotated[str, MinLen(1)], {"type": "string", "minLength": 1}, id="a length"),
        pytest.param(Annotated[str, Field(pattern="^a+$", description="d")], {"type": "string", "pattern": "^a+$", "description": "d"}, id="what Field says"),
    ],
)  # fmt: skip
def test_fragments(hint: Any, fragment: JsonSchema) -> None:
    """The table of types: what a parameter of the type looks like."""
    assert published(hint)["properties"]["x"] == fragment


def test_a_tool_stands_alone() -> None:
    """T-07: what is referred to stands in the tool's own `$defs`, recursion included."""
    assert published(Node) == {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/Node"}},
        "required": ["x"],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    "title": {"type": "string", "default": "root"},
                },
                "required": ["id"],
                "description": "A tree.",
            }
        },
    }


@pytest.mark.parametrize(
    "hint",
    [Node, Money, Page[Node], Annotated[Cat | Dog, Field(discriminator="kind")], Colour, Encoded, Entry, Node | Page[Cat]],
)  # fmt: skip
def test_every_tool_schema_is_valid_and_local(hint: Any) -> None:
    """T-07: a tool's schema is JSON Schema 2020-12 with no reference to OpenRPC, and every array says its items."""
    for schema in (published(hint), promised(hint)):
        assert schema is not None
        jsonschema.Draft202012Validator.check_schema(schema)
        assert "#/components" not in json.dumps(schema)
        assert "x-" not in json.dumps(schema)
        assert set(schema) <= {"type", "properties", "required", "additionalProperties", "$defs"}
        assert all("items" in part for part in parts(schema) if part.get("type") in ("array", ["array", "object"]))


def test_an_enum_keeps_its_text() -> None:
    """T-07: an enum is referred to like a class."""
    schema = published(Colour)
    assert schema["properties"]["x"] == {"$ref": "#/$defs/Colour"}
    assert schema["$defs"]["Colour"] == {"type": "string", "enum": ["red", "blue"], "description": "Colours of paint."}


def test_openrpc_knows_the_names_of_an_enum() -> None:
    """Components of OpenRPC carry `x-ufo-enum`, members in the author's order."""
    codec = Codecs().get(Colour)
    (component,) = describe([codec], []).components.values()
    assert component.schema["x-ufo-enum"] == {"name": "Colour", "values": {"RED": "red", "BLUE": "blue"}}
    assert list(component.schema["x-ufo-enum"]["values"]) == ["RED", "BLUE"]


@pytest.mark.parametrize(
    ("hint", "result"),
    [
        pytest.param(int, {"type": "integer"}, id="an integer"),
        pytest.param(None, {"type": "null"}, id="T-12: nothing is null"),
        pytest.param(dict, {"type": "object", "additionalProperties": True}, id="T-12: a dict is an object"),
        pytest.param(list[int], {"type": ["array", "object"], "items": {"type": "integer"}}, id="T-11: an array is widened"),
        pytest.param(list[list[int]] | None, {"anyOf": [{"type": ["array", "object"], "items": {"type": ["array", "object"], "items": {"type": "integer"}}}, {"type": "null"}]}, id="T-11: inside others too"),
        pytest.param(decimal.Decimal, {"type": "string", "format": "decimal"}, id="a Decimal goes out as digits"),
        pytest.param(int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, id="T-10: anyOf"),
    ],
)  # fmt: skip
def test_output_schemas(hint: Any, result: JsonSchema) -> None:
    """T-10, T-11: the result is wrapped, and every array may be an object."""
    assert promised(hint) == {"type": "object", "properties": {"result": result}, "required": ["result"]}


@pytest.mark.parametrize("hint", [Any, object])
def test_nothing_is_promised_of_anything(hint: Any) -> None:
    """T-12: a result that may be anything has no output schema."""
    assert promised(hint) is None


def test_arrays_in_definitions_are_widened() -> None:
    """T-11: arrays inside of `$defs` are widened like all others."""
    schema = promised(Node)
    assert schema is not None
    assert schema["$defs"]["Node"]["properties"]["kids"]["type"] == ["array", "object"]


def test_a_class_that_goes_out_otherwise_has_two_components() -> None:
    """A Decimal comes in as a number and goes out as digits: two components, each tool sees one name."""
    codec = Codecs().get(Money)
    description = describe([codec], [codec])
    assert sorted(component.output for component in description.components.values()) == [False, True]
    incoming = input_schema([Property("x", description.inputs[codec])], description.components)
    outgoing = output_schema(description.outputs[codec], description.components)
    assert outgoing is not None
    assert (list(incoming["$defs"]), list(outgoing["$defs"])) == (["Money"], ["Money"])


def test_one_bad_type_does_not_spoil_the_others() -> None:
    """A type without a schema is named with its reason; the rest is described."""
    codecs = Codecs()
    good, odd, blob = codecs.get(int), codecs.get(Odd), codecs.get(Blob)
    description = describe([good, odd, blob], [])
    assert list(description.inputs) == [good]
    assert description.failures == {
        odd: "enum Odd has values that are neither str nor int",
        blob: "Blob has bytes: set ser_json_bytes='base64', val_json_bytes='base64' in its model_config",
    }


@pytest.mark.parametrize(
    ("hint", "promises"),
    [(float, True), (list[float | None], True), (Page[float], True), (int, False), (decimal.Decimal, False), (Node, False)],
)  # fmt: skip
def test_where_a_number_is_promised(hint: Any, promises: bool) -> None:
    """NaN is looked for only where it could break the promise of a number."""
    codec = Codecs().get(hint)
    description = describe([], [codec])
    assert promises_number(description.outputs[codec], description.components) is promises
