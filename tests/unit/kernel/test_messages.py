"""Paths, texts and the merging of two sources."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.kernel.gate import validator
from rpcgw.kernel.messages import Errors, follow, merge, refused_by_schema, say, show_path


@pytest.mark.parametrize(
    ("steps", "path"),
    [([], ""), (["a"], "a"), (["a", "b", 0, "c"], "a.b[0].c"), ([0, "a"], "[0].a"), (["a", 1, 2], "a[1][2]")],
)
def test_paths(steps: list[object], path: str) -> None:
    """Names are joined by dots, positions stand in brackets."""
    assert show_path(steps) == path


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        pytest.param(("a", "function-after[f()]", "b"), ["a", "b"], id="the name of a branch is left out"),
        pytest.param(("a", "b", "[key]"), ["a", "b"], id="so is the mark of a key"),
        pytest.param(("a", "int", 0), ["a"], id="and a position that there is not"),
    ],
)
def test_following(steps: tuple[object, ...], taken: list[object]) -> None:
    """Only steps that exist in the value are kept."""
    assert follow(steps, {"a": {"b": {}}}) == taken


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        pytest.param({"required": ["a"]}, {}, {"a": ["is required"]}, id="missing"),
        pytest.param({"properties": {}, "additionalProperties": False}, {"b": 1}, {"b": ["is not a known parameter"]}, id="unknown"),
        pytest.param({"properties": {"a": {"properties": {}, "additionalProperties": False}}}, {"a": {"b": 1}}, {"a.b": ["is not a known field"]}, id="an unknown field"),
        pytest.param({"properties": {"a": {"type": ["string", "null"]}}}, {"a": 1}, {"a": ["must be null or string"]}, id="a wrong type"),
        pytest.param({"properties": {"a": {"type": "string"}}}, {"a": None}, {"a": ["must be a string"]}, id="null"),
        pytest.param({"properties": {"a": {"minimum": 2}}}, {"a": 1}, {"a": ["must be at least 2"]}, id="too small"),
        pytest.param({"properties": {"a": {"exclusiveMaximum": 1}}}, {"a": 1}, {"a": ["must be less than 1"]}, id="too large"),
        pytest.param({"properties": {"a": {"enum": [1, "b"]}}}, {"a": 2}, {"a": ["must be 1 or 'b'"]}, id="not of the enumeration"),
        pytest.param({"properties": {"a": {"const": "b"}}}, {"a": 2}, {"a": ["must be 'b'"]}, id="not the constant"),
        pytest.param({"properties": {"a": {"items": {"pattern": "^x"}}}}, {"a": ["x", "y"]}, {"a[1]": ["must match ^x"]}, id="a pattern, inside"),
        pytest.param({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, 1]}, {"a": ["must not hold the same item twice"]}, id="the same twice"),
        pytest.param({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, {"a": 1}, {"a": ["must be a string"]}, id="none of the types of a union"),
        pytest.param({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, {"a": []}, {"a": ["must be integer or string"]}, id="none of several types"),
        pytest.param({"properties": {"a": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}}}, {"a": -1}, {"a": ["must be at least 0"]}, id="what the member of the right type has against it"),
        pytest.param({"properties": {"a": {"oneOf": [{"type": "string"}, {"minLength": 0}]}}}, {"a": "x"}, {"a": ["must have one of the advertised forms"]}, id="more than one form"),
        pytest.param({"properties": {"a": {"anyOf": [{"type": "null"}, {"anyOf": [{"properties": {"k": {"const": "x"}}, "required": ["n"]}, {"properties": {"k": {"const": "y"}}}]}]}}}, {"a": {"k": "z"}}, {"a.k": ["must be 'x' or 'y'"]}, id="constants tell the members of a union apart"),
        pytest.param({"properties": {"a": {"anyOf": [{"properties": {"k": {"const": "x"}}, "required": ["n"]}, {"properties": {"k": {"const": "y"}}, "required": ["m"]}]}}}, {"a": {"k": "x"}}, {"a.n": ["is required"]}, id="the member that a constant stands for"),
        pytest.param({"properties": {"a": {"type": "string", "enum": ["b"]}}}, {"a": 1}, {"a": ["must be 'b'"]}, id="a list of values says more than their type"),
        pytest.param({"properties": {"a": {"pattern": r"\S"}}}, {"a": " "}, {"a": ["must not be blank"]}, id="a pattern that has a name"),
        pytest.param({"properties": {"a": False}}, {"a": 1}, {"a": ["is not allowed"]}, id="forbidden"),
    ],
)  # fmt: skip
def test_what_a_schema_says(schema: dict[str, Any], value: Any, said: Errors) -> None:
    """Each keyword has its text; the validator's own words are not repeated."""
    assert refused_by_schema(validator(schema).iter_errors(value))[0] == said


@pytest.mark.parametrize(
    ("said", "refused", "only", "merged"),
    [
        pytest.param({"a": ["better"]}, {"a": ["worse"]}, True, {"a": ["better"]}, id="the type's words win"),
        pytest.param({"a.kind": ["better"]}, {"a": ["worse"]}, True, {"a.kind": ["better"]}, id="deeper ones too"),
        pytest.param({"b": ["rule"]}, {"a": ["shape"]}, True, {"a": ["shape"]}, id="an answer about shape lists shape alone"),
        pytest.param({"b": ["rule"]}, {"a": ["range"]}, False, {"b": ["rule"], "a": ["range"]}, id="every assertion is listed"),
        pytest.param({"ab": ["rule"]}, {"a": ["shape"]}, True, {"a": ["shape"]}, id="a name is not under its prefix"),
    ],
)  # fmt: skip
def test_merging(said: Errors, refused: Errors, only: bool, merged: Errors) -> None:
    """Where both speak of a place, one of them is heard."""
    assert merge(said, refused, only_refused=only) == merged


def test_a_catalogue_may_replace_a_text() -> None:
    """Texts are templates over facts; one that the facts do not fill falls back."""
    assert say("greater_than_equal", {"ge": 1}, "?", {"greater_than_equal": "не менше {ge}"}) == "не менше 1"
    assert say("greater_than_equal", {}, "plain") == "plain"
    assert say("unheard_of", {}, "plain") == "plain"
