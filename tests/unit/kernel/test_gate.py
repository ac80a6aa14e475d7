"""The gate: two answers to what does not fit."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.kernel.codec import encode
from rpcgw.kernel.gate import _KEPT, MOST_KEPT, Assertion, Gate, Shape, validator
from rpcgw.kernel.messages import MESSAGES

SCHEMA = {
    "type": "object",
    "properties": {
        "q": {"type": "string", "minLength": 2},
        "n": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "node": {"$ref": "#/$defs/Node"},
        "colour": {"enum": ["red", 1], "title": "Colour"},
    },
    "$defs": {"Node": {"type": "object", "properties": {"n": {"type": "integer"}, "q": {"$ref": "#/$defs/Node"}}}},
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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"q": 1}, {"q": [], "n": 5}, id="a wrong type"),
        pytest.param({"q": "a"}, {"q": "b"}, id="too short"),
        pytest.param({}, {"n": 1}, id="missing"),
        pytest.param({"q": 1, "n": "x"}, {"q": None, "n": {}}, id="two at once"),
    ],
)
def test_a_mistake_that_is_made_again_is_refused_as_before(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Its words do not depend on the value: they are made once."""
    one = gate()
    assert one.refuse(second) is one.refuse(first)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("qn"), inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["q", "n", "tags", "either", "node", "colour", "x"]), VALUES, max_size=5)
ASKED_BEFORE = gate()


@given(arguments=ARGUMENTS)
def test_whoever_was_refused_before_each_refusal_is_the_same(arguments: dict[str, Any]) -> None:
    """A gate with many refusals behind it says what a new one says: the kind, the words and their order."""
    if not ASKED_BEFORE.accepts(arguments):
        said, new = ASKED_BEFORE.refuse(arguments), gate().refuse(arguments)
        assert said == new
        assert list(said.errors) == list(new.errors)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"q": "ab", "x": 1}, id="an unknown name, which the client made up"),
        pytest.param({"q": 1, "x": 1}, id="an unknown name beside a wrong type"),
        pytest.param({"q": "ab", "tags": ["a", 1]}, id="deep inside"),
        pytest.param({"q": "ab", "either": []}, id="a union, whose words depend on the value"),
    ],
)
def test_what_a_client_makes_up_is_not_kept(arguments: dict[str, Any]) -> None:
    """Only as many refusals are kept as the schema has rules for whole arguments."""
    assert gate().refuse(arguments).memo is None


def test_a_refusal_is_worded_in_each_language() -> None:
    """What was said in one is not said in another."""
    one, other = gate(), {**MESSAGES, "string_type": "має бути рядком"}
    said = [one.refuse({"q": 1}, texts).errors for texts in (MESSAGES, other, MESSAGES, other)]
    assert said == [{"q": ["must be a string"]}, {"q": ["має бути рядком"]}] * 2


def test_what_the_types_say_is_asked_each_time() -> None:
    """A format may be wrong in one call and right in the next, beside the same mistake."""
    one = Gate(encode(SCHEMA), lambda given, _names, _texts: {"n": ["is odd"]} if given.get("n") == 3 else {})
    assert one.refuse({"q": "a", "n": 2}).errors == {"q": ["must have at least 2 character(s)"]}
    assert one.refuse({"q": "a", "n": 3}).errors == {"n": ["is odd"], "q": ["must have at least 2 character(s)"]}


def test_no_more_refusals_are_kept_than_may_be() -> None:
    """However many methods there are, and whoever tries all of their rules."""
    names = [f"p{number}" for number in range(MOST_KEPT + 10)]
    one = Gate(encode({"type": "object", "properties": {name: {"type": "string"} for name in names}}), lambda *_: {})
    for name in names:
        assert one.refuse({name: 1}).errors == {name: ["must be a string"]}
    assert len(_KEPT) <= MOST_KEPT


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
