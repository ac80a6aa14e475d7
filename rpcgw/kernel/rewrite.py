"""Walking and rewriting JSON Schemas. Pure.

Only positions of schemas are entered: what stands under `default`, `enum`, `const` or `examples` is data, and so are
the names of properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

JsonSchema = dict[str, Any]

COMPONENTS = "#/components/schemas/"
DEFS = "#/$defs/"

DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""The pattern of a Decimal's text."""

_ONE = frozenset(
    {
        "items",
        "additionalProperties",
        "propertyNames",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})


def rewrite(schema: Any, change: Callable[[JsonSchema], JsonSchema]) -> Any:
    """A copy of a schema with `change` applied to every schema in it, the innermost first.

    `change` gets a fresh dict that it may alter and return.
    """
    if not isinstance(schema, dict):
        return schema
    copy: JsonSchema = {}
    for key, value in schema.items():
        if key in _ONE:
            copy[key] = rewrite(value, change)
        elif key in _LIST:
            copy[key] = [rewrite(part, change) for part in value]
        elif key in _NAMED:
            copy[key] = {name: rewrite(part, change) for name, part in value.items()}
        else:
            copy[key] = value
    return change(copy)


def parts(schema: Any) -> Iterator[JsonSchema]:
    """Every schema in a schema, itself first."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in _ONE:
            yield from parts(value)
        elif key in _LIST:
            for part in value:
                yield from parts(part)
        elif key in _NAMED:
            for part in value.values():
                yield from parts(part)


def references(schema: Any) -> set[str]:
    """The names of the components that a schema refers to directly."""
    return {part["$ref"].removeprefix(COMPONENTS) for part in parts(schema) if "$ref" in part}


def widen(schema: JsonSchema) -> JsonSchema:
    """An array may also be an object: PHP's empty map and empty list are the same (T-11)."""
    if schema.get("type") == "array":
        schema["type"] = ["array", "object"]
    return schema


def closed(schema: JsonSchema) -> JsonSchema:
    """An object that names its properties has no others: what a subclass adds to a result shows."""
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


_ASSERTIONS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "minProperties",
        "maxProperties",
        "propertyNames",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependentRequired",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
NOTES = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "discriminator"}
)
"""Keywords that refuse nothing."""


def strip_assertions(schema: JsonSchema) -> JsonSchema:
    """One schema without its assertions; a tuple's arity, enumerations and constants are part of the type and stay.

    Every step widens what is accepted. `oneOf` becomes `anyOf`, since branches that were told apart by an assertion
    overlap without it; `not` and `if` go, since what they negate would shrink.
    """
    shape = {k: v for k, v in schema.items() if k not in _ASSERTIONS and k not in NOTES and not k.startswith("x-")}
    if "prefixItems" not in schema and schema.get("maxItems") != 0:
        shape.pop("minItems", None)
        shape.pop("maxItems", None)
    if "oneOf" in shape:
        branches = shape.pop("oneOf")
        if "anyOf" in shape:
            shape["allOf"] = [*shape.get("allOf", ()), {"anyOf": branches}]
        else:
            shape["anyOf"] = branches
    return shape


def shape(schema: Any) -> Any:
    """The shape schema of a schema: it accepts all that the schema accepts, and says nothing of assertions."""
    return rewrite(schema, strip_assertions)
