"""A method's schemas in the form that a group's clients want, and arguments in the form that a schema wants. Pure.

Schemas come from the kernel as JSON texts; here they are values that have been decoded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rpcgw.kernel.codec import NotJson, decode

Schema = dict[str, Any]

_DEFS: Final = "#/$defs/"
_NAMED: Final = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
"""Keywords whose value maps names of the author's to schemas."""
_DATA: Final = frozenset({"default", "const", "enum", "examples", "required"})
"""Keywords whose value is data and no schema."""
_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples", "deprecated"})
_ANY: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_TYPE_OF: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def subschemas(schema: Schema) -> Iterator[Any]:
    """The schemas directly inside one, whatever keyword holds them."""
    for keyword, value in schema.items():
        if keyword in _NAMED and type(value) is dict:
            yield from value.values()
        elif keyword not in _DATA:
            yield from value if type(value) is list else (value,)


def rewritten(schema: Any, change: Callable[[Schema], Any]) -> Any:
    """A schema with `change` applied to each schema in it, from the inside out; data is left alone."""
    if type(schema) is list:
        return [rewritten(item, change) for item in schema]
    if type(schema) is not dict:
        return schema
    inner = {
        keyword: {name: rewritten(part, change) for name, part in value.items()}
        if keyword in _NAMED and type(value) is dict
        else value
        if keyword in _DATA
        else rewritten(value, change)
        for keyword, value in schema.items()
    }
    return change(inner)


def exact_arrays(schema: Schema) -> Schema:
    """An output schema without the widening of T-11 (`tools.output_arrays: exact`)."""

    def narrow(part: Schema) -> Schema:
        return part | {"type": "array"} if part.get("type") == ["array", "object"] else part

    narrowed: Schema = rewritten(schema, narrow)
    return narrowed


def inlined(schema: Schema) -> Schema:
    """A schema whose `$defs` stand where they are used (`tools.refs: inline`); recursive ones stay references."""
    defs: dict[str, Schema] = schema.get("$defs", {})
    recursive = _recursive(defs)

    def place(part: Schema) -> Any:
        name = _local(part)
        if name is None or name not in defs or name in recursive:
            return part
        target = rewritten(defs[name], place)
        beside = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
        if beside.keys() & target.keys() <= _ANNOTATIONS:
            return target | beside
        return {"allOf": [target], **beside}

    root: Schema = rewritten({keyword: value for keyword, value in schema.items() if keyword != "$defs"}, place)
    kept = {name: rewritten(part, place) for name, part in defs.items() if name in recursive}
    return root | {"$defs": kept} if kept else root


def _local(schema: Schema) -> str | None:
    reference = schema.get("$ref")
    return reference[len(_DEFS) :] if type(reference) is str and reference.startswith(_DEFS) else None


def _recursive(defs: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that contain themselves, directly or through others."""
    direct = {name: frozenset(_references(part)) & defs.keys() for name, part in defs.items()}

    def reachable(name: str) -> set[str]:
        found: set[str] = set()
        todo = list(direct[name])
        while todo:
            following = todo.pop()
            if following not in found:
                found.add(following)
                todo.extend(direct[following])
        return found

    return frozenset(name for name in defs if name in reachable(name))


def _references(schema: Any) -> Iterator[str]:
    if type(schema) is dict:
        name = _local(schema)
        if name is not None:
            yield name
        for part in subschemas(schema):
            yield from _references(part)


def types_of(schema: Any, defs: Mapping[str, Schema]) -> frozenset[str]:
    """The JSON types that a schema can accept; all of them where it does not say."""
    return _types(schema, defs, frozenset())


def _types(schema: Any, defs: Mapping[str, Schema], seen: frozenset[str]) -> frozenset[str]:
    if type(schema) is not dict:
        return _ANY
    name = _local(schema)
    if name is not None:
        return _ANY if name in seen or name not in defs else _types(defs[name], defs, seen | {name})
    declared = schema.get("type")
    if declared is not None:
        return frozenset(declared if type(declared) is list else (declared,))
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if values is not None:
            return frozenset(_TYPE_OF[type(value)] for value in values)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return frozenset[str]().union(*(_types(branch, defs, seen) for branch in branches))
    return _ANY


class Leniency:
    """What `lenient_arguments` mends before the gate: habits of models, never a guess about a value's meaning.

    A null is dropped where the parameter has a default and takes no null. A text is read as JSON where the parameter
    takes an object or an array and no text. Everything else is left to the gate.
    """

    def __init__(self, schema: Schema) -> None:
        """Read once what each parameter of an input schema takes."""
        defs = schema.get("$defs", {})
        takes = {name: types_of(part, defs) for name, part in schema.get("properties", {}).items()}
        required = frozenset(schema.get("required", ()))
        self._droppable = frozenset(
            name for name, types in takes.items() if name not in required and "null" not in types
        )
        self._structured = frozenset(
            name for name, types in takes.items() if "string" not in types and types & {"object", "array"}
        )

    def mend(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they were meant."""
        return {
            name: _structure(value) if type(value) is str and name in self._structured else value
            for name, value in arguments.items()
            if value is not None or name not in self._droppable
        }


def _structure(text: str) -> Any:
    try:
        value = decode(text.encode())
    except NotJson:
        return text
    return value if type(value) in (dict, list) else text
