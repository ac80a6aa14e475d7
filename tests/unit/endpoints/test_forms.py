"""Schemas as forms."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.endpoints.forms import Field, fields

DEFS = {
    "Shelf": {"type": "string", "enum": ["books", "toys"], "description": "A shelf."},
    "Alias": {"$ref": "#/$defs/Shelf"},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}}, "required": ["n", "next"]},
    "Loop": {"$ref": "#/$defs/Loop"},
}  # fmt: skip


def field(schema: Any, *, required: bool = False, said: str = "") -> Field:
    whole = {"properties": {"x": schema}, "required": ["x"] if required else [], "$defs": DEFS}
    (found,) = fields(whole, {"x": said} if said else {})
    return found


@pytest.mark.parametrize(
    ("schema", "kind", "nullable"),
    [
        pytest.param({"type": "string"}, "string", False, id="text"),
        pytest.param({"type": "integer"}, "integer", False, id="a whole number"),
        pytest.param({"type": "number"}, "number", False, id="a number"),
        pytest.param({"type": "boolean"}, "boolean", False, id="a truth value"),
        pytest.param({"type": "array", "items": {}}, "json", False, id="an array"),
        pytest.param({"type": "object"}, "json", False, id="an object"),
        pytest.param({}, "json", False, id="anything"),
        pytest.param(True, "json", False, id="a schema that is true"),
        pytest.param({"enum": [1, 2]}, "enum", False, id="choices"),
        pytest.param({"const": "a"}, "enum", False, id="one choice"),
        pytest.param({"$ref": "#/$defs/Alias"}, "enum", False, id="a reference to a reference"),
        pytest.param({"$ref": "#/$defs/Loop"}, "json", False, id="a reference to itself"),
        pytest.param({"$ref": "#/$defs/Nothing"}, "json", False, id="a reference to nothing"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer", True, id="a number or null"),
        pytest.param({"oneOf": [{"$ref": "#/$defs/Shelf"}, {"type": "null"}]}, "enum", True, id="a choice or null"),
        pytest.param({"type": ["string", "null"]}, "string", True, id="text or null, as a list of types"),
        pytest.param({"type": ["string", "integer"]}, "json", False, id="several types"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "number"}]}, "json", False, id="several forms"),
        pytest.param({"enum": ["a", None]}, "enum", True, id="choices with null"),
    ],
)  # fmt: skip
def test_kinds(schema: Any, kind: str, nullable: bool) -> None:
    """Each schema is a kind of field that the page knows; what is none of them is written as JSON."""
    found = field(schema)
    assert (found.kind, found.nullable) == (kind, nullable)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "string", "examples": ["a b"]}, "a b", id="an example of a text as it is"),
        pytest.param({"type": "integer", "examples": [7]}, "7", id="an example of a number"),
        pytest.param({"type": "object", "examples": [{"a": 1}]}, '{\n  "a": 1\n}', id="an example of an object"),
        pytest.param({"type": "array", "items": {}}, "[]", id="an empty array"),
        pytest.param({"type": "array", "items": {"type": "integer"}, "minItems": 1}, "[\n  0\n]", id="an array that must not be empty"),
        pytest.param({"type": "object", "properties": {"a": {"$ref": "#/$defs/Shelf"}, "b": {"type": "string"}}, "required": ["a"]}, '{\n  "a": "books"\n}', id="what an object must have"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "number"}]}, "", id="nothing where nobody knows"),
    ],
)  # fmt: skip
def test_first_values(schema: Any, value: str) -> None:
    """A required field begins with an example, or with the least that its form asks for."""
    assert field(schema, required=True).value == value


def test_recursive_schemas_end() -> None:
    """A type that needs itself is filled in a few levels deep."""
    assert field({"$ref": "#/$defs/Node"}, required=True).value.count('"n"') == 6


def test_optional_fields_begin_empty() -> None:
    """What may be left out is left out until somebody fills it in; its default is shown."""
    found = field({"type": "object", "default": {"a": 1}})
    assert (found.value, found.default) == ("", '{"a":1}')


def test_descriptions() -> None:
    """A catalogue's words go before the schema's own, and those before the type's."""
    own = {"$ref": "#/$defs/Shelf", "description": "Which."}
    assert field(own, said="Котра.").description == "Котра."
    assert field(own).description == "Which."
    assert field({"$ref": "#/$defs/Shelf"}).description == "A shelf."


def test_limits() -> None:
    """Types and limits are told in one line."""
    assert field({"type": "integer", "minimum": 1, "maximum": 9}).limits == "integer · ≥ 1 · ≤ 9"
    assert field({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}).limits == "string | number"
    assert field({}).limits == "JSON"
