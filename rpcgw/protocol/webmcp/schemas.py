"""The schemas of a page's tools: valid, of an object, and of keywords that browsers are going to keep. Pure.

Browsers take any schema today and check nothing. They are about to refuse what is not in `KEPT`: a tool with such a
schema would vanish from the page on that day. Budgets are those of Chrome's guide to secure tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

from rpcgw.protocol.webmcp.findings import Finding, Path, warning

LONGEST_NAME: Final = 30
LONGEST_DESCRIPTION: Final = 150
DEEPEST: Final = 50
KEPT: Final = frozenset(
    {
        "type",
        "properties",
        "required",
        "enum",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "items",
        "prefixItems",
        "additionalProperties",
        "default",
        "description",
    }
)
_UNHARMED: Final = frozenset({"title", "examples", "$schema", "$comment"})
"""Annotations that change nothing where they are dropped."""
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def reduced(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without the keywords that browsers are about to refuse: it takes more, and never less.

    For arguments that the daemon checks by the whole schema.
    """
    made: dict[str, Any] = {}
    for keyword, value in schema.items():
        if _is_leaving(keyword, value) or keyword in _UNHARMED:
            continue
        if keyword == "properties":
            made[keyword] = {name: reduced(part) if isinstance(part, Mapping) else {} for name, part in value.items()}
        elif keyword == "prefixItems":
            made[keyword] = [reduced(part) for part in value]
        else:
            made[keyword] = reduced(value) if keyword == "items" and isinstance(value, Mapping) else value
    return made


def check(schema: Mapping[str, Any], path: Path, *, arguments: bool = True) -> Iterator[Finding]:
    """What is wrong with a schema that stands at `path` of a manifest; browsers are particular about arguments only."""
    if schema.get("type", "object") != "object":
        yield Finding(path, "webmcp-schema", f"must be of the type object, not {schema['type']!r}")
        return
    fault = _fault({"$schema": _DRAFT, **schema})
    if fault:
        yield Finding(path, "webmcp-schema", f"is no JSON Schema: {fault}")
        return
    if arguments:
        yield from _keywords(schema, path)
        yield from _budgets(schema, path, "", 0)


def _fault(schema: Mapping[str, Any]) -> str:
    try:
        jsonschema_rs.meta.validate(dict(schema))
    except (jsonschema_rs.ValidationError, ValueError, TypeError) as error:
        return str(error).partition("\n")[0]
    return ""


def _keywords(schema: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    strange = sorted({keyword for part in _parts(schema) for keyword in part if _is_leaving(keyword, part[keyword])})
    if strange:
        text = f"uses {', '.join(strange)}, which browsers are about to refuse: the tool would vanish from the page"
        yield warning(path, "webmcp-keyword", text, f"they are going to take {', '.join(sorted(KEPT))}")


def _is_leaving(keyword: str, value: object) -> bool:
    if keyword == "additionalProperties":
        return value is not False
    return keyword not in KEPT and keyword not in _UNHARMED


def _budgets(schema: Mapping[str, Any], path: Path, above: str, depth: int) -> Iterator[Finding]:
    """Names and descriptions of parameters, those inside of others under a dotted path."""
    properties = schema.get("properties", {})
    for name, part in properties.items() if isinstance(properties, Mapping) and depth < DEEPEST else ():
        dotted = f"{above}{name}"
        if len(name) > LONGEST_NAME:
            text = f"has the parameter {dotted} of {len(name)} characters; browsers like at most {LONGEST_NAME}"
            yield warning(path, "webmcp-budget", text)
        if not isinstance(part, Mapping):
            continue
        said = part.get("description", "")
        if len(said) > LONGEST_DESCRIPTION:
            text = f"describes {dotted} in {len(said)} characters; browsers like at most {LONGEST_DESCRIPTION}"
            yield warning(path, "webmcp-budget", text)
        yield from _budgets(part, path, f"{dotted}.", depth + 1)
        items = part.get("items")
        if isinstance(items, Mapping):
            yield from _budgets(items, path, f"{dotted}[].", depth + 1)


def _parts(schema: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """A schema and all schemas in it, whatever keyword holds them."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    yield schema
    for keyword, value in schema.items():
        for part in _inner(keyword, value):
            yield from _parts(part, depth + 1)


def _inner(keyword: str, value: Any) -> Iterable[Any]:
    """What of a keyword's value may be a schema."""
    if keyword in _DATA:
        return ()
    if keyword in _NAMED:
        return value.values() if isinstance(value, Mapping) else ()
    return value if isinstance(value, list | tuple) else (value,)


_NAMED: Final = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_DATA: Final = frozenset({"default", "const", "enum", "examples", "required"})
