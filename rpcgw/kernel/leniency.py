"""What lenient surfaces take beside the advertised forms, made into these. Pure.

`/rpc`, the queue and the command line also take an enum by its member's name (any case), an enum of integers as a
numeric text, and a datetime as a Unix time. A value is changed only where the schema refuses it, so nothing that is
accepted as it stands is ever read in another way; the gate then decides about what was made of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from rpcgw.api.dates import Reading

Mend = Callable[[Any], Any]
"""A JSON value -> its advertised form; the value itself where there is nothing to make of it."""

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_STEPS = ("schema", "json_schema", "strict_schema")
_ITEMS = frozenset({"list", "set", "frozenset"})


def compile_leniency(core: Any) -> Mend | None:
    """How values of a type are mended, from its core schema; None where it has no lenient forms."""
    if not any(_is_lenient(node) for node in _nodes(core)):
        return None
    mend = _Compiler(core).compile(core)
    return None if mend is None else lambda value: mend({"v": value})["v"]


def _nodes(core: Any) -> Iterator[Mapping[str, Any]]:
    todo = [core]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping):
            yield node
            todo.extend(value for key, value in node.items() if key not in ("metadata", "serialization"))
        elif isinstance(node, list | tuple):
            todo.extend(node)


def _is_lenient(node: Mapping[str, Any]) -> bool:
    return node.get("type") in ("enum", "datetime") or _reading(node) is not None


def _reading(node: Mapping[str, Any]) -> Reading | None:
    function = node.get("function")
    inner = function.get("function") if isinstance(function, Mapping) else None
    return inner if isinstance(inner, Reading) else None


class _Compiler:
    """Core schema -> functions; recursion ends at shared definitions, which are looked up when they are used."""

    def __init__(self, core: Mapping[str, Any]) -> None:
        self._sources = {entry["ref"]: entry for entry in core.get("definitions", ())}
        self._shared: dict[str, Mend] = {}

    def compile(self, node: Mapping[str, Any]) -> Mend | None:
        kind = str(node.get("type"))
        if (reading := _reading(node)) is not None:
            return _written(reading)
        if (make := _MAKERS.get(kind)) is not None:
            return make(self, node)
        for step in _STEPS:
            if isinstance(inner := node.get(step), Mapping):
                return self.compile(inner)
        return None

    def reference(self, node: Mapping[str, Any]) -> Mend:
        name = node["schema_ref"]
        if name not in self._shared:
            self._shared[name] = _same
            self._shared[name] = self.compile(self._sources[name]) or _same
        # Looked up when it is used: a definition that contains itself is not ready yet.
        return lambda value: self._shared[name](value)  # noqa: PLW0108 -- as said

    def items(self, node: Mapping[str, Any]) -> Mend | None:
        item = self.compile(node.get("items_schema", {}))
        if item is None:
            return None
        return lambda value: [item(part) for part in value] if isinstance(value, list) else value

    def positions(self, node: Mapping[str, Any]) -> Mend | None:
        made = [self.compile(part) or _same for part in node["items_schema"]]
        if all(mend is _same for mend in made):
            return None
        variadic = node.get("variadic_item_index")

        def mend_all(value: Any) -> Any:
            if not isinstance(value, list):
                return value
            each = made if variadic is None else _stretched(made, variadic, len(value))
            return [mend(part) for mend, part in zip(each, value, strict=True)] if len(each) == len(value) else value

        return mend_all

    def mapping(self, node: Mapping[str, Any]) -> Mend | None:
        item = self.compile(node.get("values_schema", {}))
        if item is None:
            return None
        return lambda value: {k: item(part) for k, part in value.items()} if isinstance(value, dict) else value

    def fields(self, node: Mapping[str, Any]) -> Mend | None:
        listed = node["fields"]
        named = listed.items() if isinstance(listed, Mapping) else ((made["name"], made) for made in listed)
        made: dict[str, Mend] = {}
        for name, part in named:
            mend = self.compile(part["schema"])
            alias = part.get("validation_alias", name)
            if mend is not None and isinstance(alias, str):
                made[alias] = mend
        if not made:
            return None
        return lambda value: (
            {key: made.get(key, _same)(part) for key, part in value.items()} if isinstance(value, dict) else value
        )

    def union(self, node: Mapping[str, Any]) -> Mend | None:
        choices = node["choices"]
        listed = choices.values() if isinstance(choices, Mapping) else choices
        branches = [branch[0] if isinstance(branch, tuple) else branch for branch in listed]
        made = [made for branch in branches if (made := self.compile(branch)) is not None]
        taken = tuple(kind for branch in branches for kind in _TAKEN.get(str(branch.get("type")), ()))
        if not made:
            return None

        def mend(value: Any) -> Any:
            if isinstance(value, taken) and not isinstance(value, bool):
                return value
            return next((mended for each in made if (mended := each(value)) != value), value)

        return mend


def _same(value: Any) -> Any:
    return value


def _stretched(made: list[Mend], variadic: int, length: int) -> list[Mend]:
    more = max(0, length - len(made) + 1)
    return [*made[:variadic], *([made[variadic]] * more), *made[variadic + 1 :]]


def _member(_: _Compiler, node: Mapping[str, Any]) -> Mend:
    """An enum by value, else as a numeric text of an integer value, else by name: exactly, or in another case."""
    enum: type[Enum] = node["cls"]
    values = [member.value for member in enum]
    names: dict[str, Any] = {}
    for name, member in enum.__members__.items():
        folded = name.casefold()
        names[folded] = None if folded in names and names[folded] != member.value else member.value
    names |= {name: member.value for name, member in enum.__members__.items()}

    def mend(value: Any) -> Any:
        if not isinstance(value, str) or value in values:
            return value
        if _INTEGER.fullmatch(value) and int(value) in values:
            return int(value)
        found = names.get(value, names.get(value.casefold()))
        return value if found is None else found

    return mend


def _moment(_: _Compiler, node: Mapping[str, Any]) -> Mend:
    naive = node.get("tz_constraint") == "naive"

    def show(seconds: float) -> str:
        text = datetime.fromtimestamp(seconds, UTC).isoformat()
        return text.removesuffix("+00:00") + ("" if naive else "Z")

    return _of_timestamp(show)


def _written(reading: Reading) -> Mend | None:
    return _of_timestamp(reading.format.from_timestamp) if reading.kind is datetime else None


def _of_timestamp(show: Callable[[float], str]) -> Mend:
    def mend(value: Any) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return value
        try:
            return show(value)
        except (ValueError, OverflowError, OSError):
            return value

    return mend


_TAKEN: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "any": (object,),
}
"""Branches of a union that take a value of these types as it is."""

_MAKERS: Mapping[str, Callable[[_Compiler, Mapping[str, Any]], Mend | None]] = {
    "enum": _member,
    "datetime": _moment,
    "tuple": _Compiler.positions,
    "dict": _Compiler.mapping,
    "typed-dict": _Compiler.fields,
    "model-fields": _Compiler.fields,
    "dataclass-args": _Compiler.fields,
    "union": _Compiler.union,
    "tagged-union": _Compiler.union,
    "definition-ref": _Compiler.reference,
    **dict.fromkeys(_ITEMS, _Compiler.items),
}
"""How a kind of core schema is mended; what is not here is whatever stands inside it."""
