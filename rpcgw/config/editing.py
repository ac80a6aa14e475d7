"""JSON Schemas for editors: those of the files, with what may stand in a file before it is read. Pure.

A value may be `~`, or an expression that gives it; a gateway file may have `when@ENV` blocks. The results are shipped
beside the schemas that they are made from, so that an editor finds them without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from rpcgw.config.validation import schema

SCHEMAS = ("gateway", "routes", "translations")
"""The files that there are schemas for. Texts are taken as they stand, so theirs allow `~` and no expressions."""

_EXPRESSION = {
    "type": "string",
    "pattern": r"%env\(.+\)%|\$\{.+\}|%[A-Za-z_][A-Za-z0-9_.-]*%",
    "description": "A value from an environment variable or a parameter.",
}
_ABOUT = ("description", "default")

Schema = dict[str, Any]


def editor_schema(name: str) -> Schema:
    """The schema of `gateway`, `routes` or `translations` as editors use it."""
    source = schema(name)
    expressions = name != "translations"
    widened = _inside(source, expressions=expressions)
    widened["description"] = f"{source['description']} For editors: made by `rpcgw schema {name}`."
    if expressions:
        widened["$defs"] = {**widened.get("$defs", {}), "expression": _EXPRESSION}
        widened["patternProperties"] = {r"^when@[A-Za-z0-9_-]+$": _block(widened)}
    return widened


def schema_file(name: str) -> Path:
    """Where the schema for editors was installed."""
    return Path(str(files("rpcgw.config").joinpath("schema", "editor", f"{name}.json")))


def modeline(location: str) -> str:
    """The first line of a YAML file that tells editors its schema: a path as seen from the file, or a URL."""
    return f"# yaml-language-server: $schema={location}"


def _block(root: Schema) -> Schema:
    """What may stand below `when@ENV`: all but the environment."""
    block: Schema = {"type": "object", "additionalProperties": root["additionalProperties"]}
    if "properties" in root:
        block["properties"] = {
            key: {"$ref": f"#/properties/{key}"} for key in root["properties"] if key != "environment"
        }
    return {**block, "description": "What holds in one environment only, over the rest of the file."}


def _inside(source: Mapping[str, Any], *, expressions: bool) -> Schema:
    """A schema whose inner ones are widened."""
    made: Schema = {}
    for keyword, value in source.items():
        match keyword:
            case "x-expects":
                made |= {"patternErrorMessage": f"must be {value}"} if "pattern" in source else {}
            case "properties":
                made[keyword] = {name: _widened(inner, expressions=expressions) for name, inner in value.items()}
            case "$defs":
                made[keyword] = {name: _inside(inner, expressions=expressions) for name, inner in value.items()}
            case "additionalProperties" | "items" if isinstance(value, dict):
                made[keyword] = _widened(value, expressions=expressions)
            case _:
                made[keyword] = value
    return made


def _widened(source: Mapping[str, Any], *, expressions: bool) -> Schema:
    inner = _inside(source, expressions=expressions)
    about = {keyword: inner.pop(keyword) for keyword in _ABOUT if keyword in inner}
    choices: list[Schema] = [inner, {"type": "null"}]
    if expressions:
        choices.append({"$ref": "#/$defs/expression"})
    return {**about, "anyOf": choices}
