"""Walking schemas; the shape schema accepts whatever the schema accepts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.kernel.gate import validator
from rpcgw.kernel.rewrite import parts, references, rewrite, shape, widen

LEAVES = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "integer", "minimum": 3},
        {"type": "integer", "multipleOf": 2},
        {"type": "integer", "maximum": 1},
        {"type": ["number", "null"], "exclusiveMinimum": 1},
        {"type": "string"},
        {"type": "string", "minLength": 2},
        {"type": "string", "pattern": "^a"},
        {"enum": [1, "a"]},
        {"enum": [2, None, "b"]},
        {"const": 1},
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": False, "minItems": 1, "maxItems": 1},
        {"type": "array", "maxItems": 0},
    ]
)
EXTRAS = st.sampled_from(
    [
        {},
        {"required": ["a"]},
        {"minProperties": 1},
        {"dependentRequired": {"a": ["b"]}},
        {"propertyNames": {"minLength": 2}},
        {"additionalProperties": False},
        {"unevaluatedProperties": False},
        {"dependentSchemas": {"a": {"required": ["b"]}}},
    ]
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.lists(inner, min_size=2, max_size=2)
    return st.one_of(
        st.builds(
            lambda items, more: {"type": "array", "items": items, **more},
            inner,
            st.sampled_from([{}, {"minItems": 1}, {"uniqueItems": True}]),
        ),
        st.builds(lambda a, b, more: {"type": "object", "properties": {"a": a, "b": b}, **more}, inner, inner, EXTRAS),
        st.builds(lambda key, both: {key: both}, st.sampled_from(["anyOf", "oneOf", "allOf"]), pairs),
        st.builds(lambda both, other: {"oneOf": both, "anyOf": other}, pairs, pairs),
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner),
        st.builds(lambda part: {"type": "array", "contains": part}, inner),
    )


SCHEMAS = st.recursive(LEAVES, composed, max_leaves=8)
VALUES = st.recursive(
    st.sampled_from([0, 1, 2, 3, 4, -1, 1.5, "", "a", "b", "ab", None, True]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "long"]), inner, max_size=2),
    max_leaves=5,
)


@given(SCHEMAS, st.lists(VALUES, max_size=10))
def test_shape_is_never_narrower(schema: dict[str, Any], values: list[Any]) -> None:
    """What a schema accepts its shape accepts: stripping only widens."""
    full, stripped = validator(schema), validator(shape(schema))
    assert not [value for value in values if full.is_valid(value) and not stripped.is_valid(value)]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "integer", "minimum": 1, "default": 3}, {"type": "integer"}, id="a range goes"),
        pytest.param({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}, id="an enumeration stays"),
        pytest.param(
            {"type": "array", "items": {"type": "string", "pattern": "x"}, "minItems": 1},
            {"type": "array", "items": {"type": "string"}},
            id="how many items goes",
        ),
        pytest.param(
            {"prefixItems": [{"minimum": 1}], "minItems": 1, "maxItems": 1},
            {"prefixItems": [{}], "minItems": 1, "maxItems": 1},
            id="the arity of a tuple stays",
        ),
        pytest.param({"oneOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}]}, id="oneOf becomes anyOf"),
        pytest.param(
            {"oneOf": [{}], "anyOf": [{}]}, {"anyOf": [{}], "allOf": [{"anyOf": [{}]}]}, id="oneOf beside anyOf"
        ),
        pytest.param({"not": {"type": "null"}}, {}, id="not goes"),
        pytest.param(
            {"properties": {"minimum": {"type": "string"}}},
            {"properties": {"minimum": {"type": "string"}}},
            id="a property called minimum stays",
        ),
        pytest.param({"const": {"minimum": 1}}, {"const": {"minimum": 1}}, id="data is not entered"),
        pytest.param({"x-note": 1, "title": "T"}, {}, id="notes go"),
    ],
)
def test_shape(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    """The table of what is shape and what is assertion."""
    assert shape(schema) == expected


def test_rewrite_leaves_the_original_alone() -> None:
    """A rewritten schema is a copy."""
    schema = {"items": {"type": "array"}, "default": [{"type": "array"}]}
    assert rewrite(schema, widen) == {"items": {"type": ["array", "object"]}, "default": [{"type": "array"}]}
    assert schema == {"items": {"type": "array"}, "default": [{"type": "array"}]}


def test_references_stand_in_schemas_only() -> None:
    """A default that looks like a reference is data."""
    schema = {"anyOf": [{"$ref": "#/components/schemas/A"}], "default": {"$ref": "#/components/schemas/B"}}
    assert references(schema) == {"A"}
    assert len(list(parts(schema))) == 2
