"""Schemas in a group's form, and arguments mended where that is asked for."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.protocol.mcp.schemas import Leniency, exact_arrays, inlined, types_of

ADDRESS: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"home": {"$ref": "#/$defs/Address"}, "name": {"type": "string"}},
}
NODE: dict[str, Any] = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}, "at": {"$ref": "#/$defs/Address"}}}  # fmt: skip


def root(properties: dict[str, Any], defs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties} | ({"$defs": defs} if defs else {})


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        pytest.param(root({"a": {"type": "string"}}), root({"a": {"type": "string"}}), id="nothing to do"),
        pytest.param(root({"p": {"$ref": "#/$defs/Address"}}, {"Address": ADDRESS}), root({"p": ADDRESS}), id="one reference"),
        pytest.param(root({"p": {"$ref": "#/$defs/Person"}}, {"Address": ADDRESS, "Person": PERSON}), root({"p": PERSON | {"properties": {"home": ADDRESS, "name": {"type": "string"}}}}), id="a reference inside a reference"),
        pytest.param(root({"p": {"$ref": "#/$defs/Address", "description": "Where", "default": None}}, {"Address": ADDRESS}), root({"p": ADDRESS | {"description": "Where", "default": None}}), id="what stands beside a reference stays"),
        pytest.param(root({"p": {"$ref": "#/$defs/Address", "required": ["zip"]}}, {"Address": ADDRESS}), root({"p": {"allOf": [ADDRESS], "required": ["zip"]}}), id="an assertion beside a reference is kept apart"),
        pytest.param(root({"n": {"$ref": "#/$defs/Node"}}, {"Node": NODE, "Address": ADDRESS}), root({"n": {"$ref": "#/$defs/Node"}}, {"Node": {**NODE, "properties": {"next": NODE["properties"]["next"], "at": ADDRESS}}}), id="only what contains itself stays a reference"),
        pytest.param(root({"$ref": {"type": "string"}}), root({"$ref": {"type": "string"}}), id="a property may be named like a keyword"),
        pytest.param(root({"p": {"type": "string", "default": {"$ref": "#/$defs/Address"}}}, {"Address": ADDRESS}), root({"p": {"type": "string", "default": {"$ref": "#/$defs/Address"}}}), id="data is no schema"),
    ],
)  # fmt: skip
def test_definitions_stand_where_they_are_used(schema: dict[str, Any], form: dict[str, Any]) -> None:
    """`tools.refs: inline` for clients that do not follow references."""
    assert inlined(schema) == form


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["home", "name", "next", "at", "city", "p", "n"]), inner, max_size=3),
        max_leaves=8,
    )
)  # fmt: skip
def test_inlining_changes_no_verdict(value: Any) -> None:
    """An inlined schema accepts exactly what the original accepts."""
    schema = root(
        {"p": {"$ref": "#/$defs/Person"}, "n": {"$ref": "#/$defs/Node"}},
        {"Person": PERSON, "Node": NODE, "Address": ADDRESS},
    )
    one, two = jsonschema.Draft202012Validator(schema), jsonschema.Draft202012Validator(inlined(schema))
    assert one.is_valid(value) == two.is_valid(value)


def test_exact_arrays_undo_the_widening_and_nothing_else() -> None:
    """`tools.output_arrays: exact` is T-11 taken back."""
    widened = root({"result": {"type": ["array", "object"], "items": {"type": ["string", "null"]}}})
    assert exact_arrays(widened) == root({"result": {"type": "array", "items": {"type": ["string", "null"]}}})


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        pytest.param({"type": "string"}, {"string"}, id="one type"),
        pytest.param({"type": ["array", "object"]}, {"array", "object"}, id="several types"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}, id="a union"),
        pytest.param({"$ref": "#/$defs/Address"}, {"object"}, id="a reference"),
        pytest.param({"enum": ["a", 1, None]}, {"string", "integer", "null"}, id="an enum"),
        pytest.param({"const": True}, {"boolean"}, id="a constant"),
    ],
)
def test_the_types_that_a_schema_takes(schema: dict[str, Any], types: set[str]) -> None:
    """References and unions are followed."""
    assert types_of(schema, {"Address": ADDRESS}) == types


def test_a_schema_that_says_nothing_takes_everything() -> None:
    """An empty schema, and one whose reference leads nowhere or to itself."""
    everything = types_of({}, {})
    assert types_of({"$ref": "#/$defs/None"}, {}) == everything
    assert types_of({"$ref": "#/$defs/Loop"}, {"Loop": {"$ref": "#/$defs/Loop"}}) == everything


LENIENT = root(
    {
        "limit": {"type": "integer", "default": 5},
        "until": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": "x"},
        "must": {"type": "integer"},
        "home": {"$ref": "#/$defs/Address"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "array"}]},
    },
    {"Address": ADDRESS},
) | {"required": ["must"]}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        pytest.param({"limit": None}, {}, id="a null is dropped where there is a default"),
        pytest.param({"until": None}, {"until": None}, id="a null stays where the parameter takes one"),
        pytest.param({"must": None}, {"must": None}, id="a null stays where there is no default"),
        pytest.param(
            {"home": '{"city":"Kyiv"}'}, {"home": {"city": "Kyiv"}}, id="a text is read where an object is wanted"
        ),
        pytest.param({"tags": '["a"]'}, {"tags": ["a"]}, id="a text is read where an array is wanted"),
        pytest.param({"tags": "5"}, {"tags": "5"}, id="a text that is neither stays"),
        pytest.param({"tags": "[oops"}, {"tags": "[oops"}, id="a text that is no JSON stays"),
        pytest.param({"either": "[1]"}, {"either": "[1]"}, id="a text stays where a text is taken"),
        pytest.param({"limit": "5"}, {"limit": "5"}, id="a number in a text is left to the gate"),
        pytest.param({"unknown": None}, {"unknown": None}, id="an unknown argument is left to the gate"),
    ],
)
def test_lenient_arguments_mend_habits_and_guess_nothing(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    """`lenient_arguments`: nulls for parameters with a default, JSON in texts; nothing else."""
    assert Leniency(LENIENT).mend(sent) == meant
