"""The gate: two answers to what does not fit."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from rpcgw.kernel.codec import encode
from rpcgw.kernel.gate import Assertion, Gate, Shape, validator

SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string", "minLength": 2}, "n": {"type": "integer", "minimum": 1}},
    "required": ["q"],
    "additionalProperties": False,
}


def gate() -> Gate:
    return Gate(encode(SCHEMA), lambda _arguments, _names, _texts: {})


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        pytest.param({}, Shape({"q": ["is required"]}), id="missing"),
        pytest.param({"q": "ab", "x": 1}, Shape({"x": ["is not a known parameter"]}), id="unknown"),
        pytest.param({"q": 1}, Shape({"q": ["must be a string"]}), id="a wrong type"),
        pytest.param({"q": "a"}, Assertion({"q": ["must have at least 2 character(s)"]}), id="too short"),
        pytest.param({"q": "a", "n": 0}, Assertion({"q": ["must have at least 2 character(s)"], "n": ["must be at least 1"]}), id="two assertions at once"),
        pytest.param({"q": "a", "n": "x"}, Shape({"n": ["must be an integer"]}), id="shape comes first, alone"),
        pytest.param({"q": object()}, Shape({"": ["holds a value that JSON cannot carry"]}), id="no JSON"),
    ],
)  # fmt: skip
def test_which_refusal_is_due(arguments: dict[str, Any], verdict: Shape | Assertion) -> None:
    """T-09, T-16: a wrong shape is one answer, a broken assertion another."""
    assert gate().refuse(arguments) == verdict


def test_what_fits_is_accepted() -> None:
    """The advertised schema decides."""
    assert gate().accepts({"q": "ab", "n": 1.0})


@pytest.mark.parametrize(
    "schema", [{"pattern": "(?=a)b"}, {"pattern": r"(a)\1"}, {"type": "no such type"}], ids=["look-around", "back-reference", "no type"]
)  # fmt: skip
def test_schemas_that_cannot_be_a_gate(schema: dict[str, Any]) -> None:
    """Patterns are matched in linear time, and a schema has to be one."""
    with pytest.raises(jsonschema_rs.ValidationError):
        validator(schema)


def test_nothing_is_fetched() -> None:
    """A reference to somewhere else is an error, not a request."""
    with pytest.raises(jsonschema_rs.ValidationError, match="Retrieval is disabled"):
        validator({"$ref": "http://127.0.0.1:9/schema.json"})


def test_patterns_are_linear() -> None:
    """A pattern that ruins others answers at once."""
    assert not validator({"pattern": "^(a+)+$"}).is_valid("a" * 50_000 + "!")
