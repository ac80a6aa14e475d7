"""Rules asked one by one: which schemas consist of them, and what is broken."""

from __future__ import annotations

from typing import Any

import pytest

from rpcgw.kernel.gate import validator
from rpcgw.kernel.rewrite import JsonSchema
from rpcgw.kernel.rules import Ask, Rules, compile_rules

NODE = {"$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}}
SCHEMA = {
    "type": "object",
    "title": "Arguments",
    "properties": {
        "q": {"type": "string", "minLength": 2, "description": "What to look for", "x-any": 1},
        "n": {"type": "integer", "minimum": 1, "maximum": 5},
        "node": {"$ref": "#/$defs/Node"},
    },
    "required": ["q", "n"],
    **NODE,
}


def asking(rule: JsonSchema) -> Ask:
    return validator(rule).is_valid


def rules(schema: JsonSchema) -> Rules | None:
    return compile_rules(schema, asking)


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [
        pytest.param({"q": "ab", "n": 1}, [], id="none"),
        pytest.param({}, ["q", "n"], id="what is missing"),
        pytest.param({"q": "ab", "n": "x"}, [("n", "type")], id="a type"),
        pytest.param({"n": 9, "q": "a"}, [("n", "maximum"), ("q", "minLength")], id="two of them"),
        pytest.param({"n": 0}, ["q", ("n", "minimum")], id="one that is missing, and one that is wrong"),
        pytest.param({"q": "ab", "n": 1, "node": {"next": {}}}, [], id="a part that fits"),
        pytest.param({"q": "ab", "n": 1, "node": {"next": 1}}, None, id="a mistake deep inside"),
        pytest.param({"q": "ab", "n": 1, "x": 1}, None, id="an unknown name"),
    ],
)
def test_which_rules_are_broken(arguments: dict[str, Any], broken: list[Any] | None) -> None:
    """By name, missing ones first; nothing where rules of whole arguments do not say all."""
    compiled = rules(SCHEMA)
    assert compiled is not None
    assert compiled.broken(arguments) == broken


def test_what_json_cannot_carry_breaks_no_rule() -> None:
    """It is another fault."""
    compiled = rules(SCHEMA)
    assert compiled is not None
    with pytest.raises(ValueError, match="object"):
        compiled.broken({"q": object()})


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="anything"),
        pytest.param({"type": "object", "anyOf": [{"required": ["a"]}]}, id="a union of all arguments"),
        pytest.param({"type": "object", "dependentRequired": {"a": ["b"]}}, id="one that asks for another"),
        pytest.param({"type": "object", "properties": {"a": False}}, id="one that may not be"),
        pytest.param({"type": "object", "properties": {"a": {"$ref": "#"}}}, id="arguments inside of arguments"),
        pytest.param({"type": "object", "properties": {"a": {}, "b": {"$ref": "#/properties/a"}}}, id="a rule elsewhere"),
        pytest.param({"type": "object", "properties": {"a": {"$id": "x:y"}}}, id="an address of its own"),
    ],
)  # fmt: skip
def test_schemas_that_say_more(schema: JsonSchema) -> None:
    """Where a rule depends on more than its argument, nothing is asked one by one."""
    assert rules(schema) is None
