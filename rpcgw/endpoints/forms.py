"""A method's schema -> the fields of a form. Pure.

A field is one of a few kinds that a page knows; whatever is none of them is written as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rpcgw.api.records import record

Schema = Mapping[str, Any]

_DEEPEST: Final = 6
"""How deep a first value of an array or an object is filled in: schemas may be recursive."""
_SIMPLE: Final = frozenset({"string", "integer", "number", "boolean"})
_LIMITS: Final = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("multipleOf", "× {}"),
    ("minLength", "length ≥ {}"),
    ("maxLength", "length ≤ {}"),
    ("minItems", "items ≥ {}"),
    ("maxItems", "items ≤ {}"),
    ("pattern", "{}"),
    ("format", "{}"),
)


@record(frozen=True, slots=True)
class Field:
    """One parameter as a form shows it.

    `kind` is string, integer, number, boolean, enum or json; `options` are pairs of JSON text and label, of an enum.
    `value` is what the field begins with, `default` the JSON text that an absent value stands for.
    """

    name: str
    kind: str
    required: bool
    nullable: bool
    description: str
    limits: str
    options: tuple[tuple[str, str], ...] = ()
    value: str = ""
    default: str | None = None


def fields(schema: Schema, said: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields of an input schema in order; `said` describes parameters in place of the schema's own words."""
    defs = schema.get("$defs", {})
    required = set(schema.get("required", ()))
    return tuple(
        _field(name, part, defs, required=name in required, text=said.get(name, ""))
        for name, part in schema.get("properties", {}).items()
    )


def _field(name: str, schema: Any, defs: Schema, *, required: bool, text: str) -> Field:
    whole = resolved(schema, defs)
    inner, nullable = _without_null(whole, defs)
    kind = _kind(inner)
    options = tuple((_json(value), _label(value)) for value in _choices(inner) if value is not None)
    examples = whole.get("examples") or inner.get("examples") or ()
    value = _written(kind, examples[0]) if examples else ""
    if kind == "json" and required and not value:
        begun = _first(inner, defs, 0)
        value = "" if begun is None else _written(kind, begun)
    return Field(
        name=name,
        kind=kind,
        required=required,
        nullable=nullable,
        description=text or whole.get("description") or inner.get("description") or "",
        limits=" · ".join(_limits(inner, defs)),
        options=options,
        value=value,
        default=_json(whole["default"]) if "default" in whole else None,
    )


def resolved(schema: Any, defs: Schema) -> Schema:
    """A schema with what its `$ref` says, its own words first; a chain of references that has no end is any value."""
    seen: set[str] = set()
    found: dict[str, Any] = dict(schema) if isinstance(schema, Mapping) else {}
    while "$ref" in found:
        reference = found.pop("$ref")
        target = defs.get(reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~"))
        if reference in seen or not isinstance(target, Mapping):
            break
        seen.add(reference)
        found = {**target, **found}
    return found


def _without_null(schema: Schema, defs: Schema) -> tuple[Schema, bool]:
    """What a value is where it is not null, and whether it may be."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            branches = [resolved(branch, defs) for branch in schema[word]]
            rest = [branch for branch in branches if branch.get("type") != "null"]
            nullable = len(rest) < len(branches)
            if len(rest) == 1:
                own = {key: value for key, value in schema.items() if key != word}
                inner, deeper = _without_null({**rest[0], **own}, defs)
                return inner, nullable or deeper
            return schema, nullable
    if isinstance(schema.get("type"), list):
        types = [name for name in schema["type"] if name != "null"]
        return {**schema, "type": types[0] if len(types) == 1 else types}, "null" in schema["type"]
    return schema, None in _choices(schema) or schema.get("type") == "null"


def _kind(schema: Schema) -> str:
    if _choices(schema):
        return "enum"
    kind = schema.get("type")
    return kind if isinstance(kind, str) and kind in _SIMPLE else "json"


def _choices(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum", [])
    return list(found) if isinstance(found, list) else []


def _limits(schema: Schema, defs: Schema) -> Iterator[str]:
    yield _type(schema, defs)
    for word, form in _LIMITS:
        if word in schema:
            yield form.format(schema[word])


def _type(schema: Schema, defs: Schema) -> str:
    """What a person calls the type: the names of its branches where it has some."""
    kind = schema.get("type")
    branches = [resolved(branch, defs) for word in ("anyOf", "oneOf") for branch in schema.get(word, ())]
    names = kind if isinstance(kind, list) else [kind] if kind else [branch.get("type") for branch in branches]
    return " | ".join(dict.fromkeys(name for name in names if isinstance(name, str) and name != "null")) or "JSON"


def _first(schema: Any, defs: Schema, depth: int) -> Any:
    """A value to begin with: what is required, and nothing else."""
    inner, _ = _without_null(resolved(schema, defs), defs)
    if "default" in inner:
        return inner["default"]
    if choices := _choices(inner):
        return choices[0]
    if depth >= _DEEPEST:
        return None
    kind = inner.get("type")
    if kind == "object":
        parts = inner.get("properties", {})
        return {name: _first(parts.get(name), defs, depth + 1) for name in inner.get("required", ())}
    if kind == "array":
        return [_first(inner.get("items"), defs, depth + 1)] if inner.get("minItems") else []
    return _EMPTY.get(kind if isinstance(kind, str) else "")


_EMPTY: Final[Mapping[str, Any]] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def _written(kind: str, value: Any) -> str:
    """A value as its field holds it: text as it is, all else as JSON."""
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "json" and isinstance(value, dict | list):
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _label(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)
