"""JSON Schemas as a client sees them: what is in them, and what they accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema

Schema = dict[str, Any]


def parts(schema: Any) -> Iterator[Schema]:
    """Yield every object in a schema, whatever it is."""
    if isinstance(schema, dict):
        yield schema
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(value)


def references(schema: Schema) -> set[str]:
    """Return what the `$ref`s in a schema say."""
    return {part["$ref"] for part in parts(schema) if isinstance(part.get("$ref"), str)}


def expanded(schema: Any, definitions: Schema, depth: int = 4) -> Any:
    """Return a schema with references put in place so many times, and without what only OpenRPC knows."""
    if isinstance(schema, list):
        return [expanded(item, definitions, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = definitions[schema["$ref"].rpartition("/")[2]]
        return {**expanded(target, definitions, depth - 1), **beside} if depth else beside
    documents_only = {"x-ufo-enum", "discriminator", "$defs"}
    return {
        "anyOf" if key == "oneOf" else key: expanded(value, definitions, depth)
        for key, value in schema.items()
        if key not in documents_only
    }


def validator(schema: Schema) -> Any:
    """Return a validator that has nothing but the schema itself."""
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
