"""Which rules arguments break, asked one by one: for schemas that are rules of whole arguments. Pure.

A list of faults costs ten times what a yes or no does. Such rules do not depend on each other (JSON Schema 2020-12,
Core, section 7.6.1), so that who asks each of them knows what the list would hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from rpcgw.kernel.messages import WORDED
from rpcgw.kernel.rewrite import DEFS, NOTES, JsonSchema, parts

Ask = Callable[[Any], bool]
"""Whether a value fits; raises `ValueError` for what JSON cannot carry."""

Own = tuple[Ask, tuple[tuple[Hashable, Ask], ...] | None]
"""Whether an argument fits, and its rules by their names; None where they are not worded by themselves alone."""

_ROOT: Final = frozenset({"type", "properties", "required", "additionalProperties", "$defs"})


class Rules:
    """The rules of one schema: which arguments there must be, and each one's own."""

    def __init__(self, required: tuple[str, ...], properties: Mapping[str, Own]) -> None:
        self._required = required
        self._properties = properties

    def broken(self, arguments: Mapping[str, Any]) -> list[Hashable] | None:
        """The names of those that arguments break; no value is part of a name. None where they do not say all.

        Raises:
            ValueError: JSON cannot carry an argument.
        """
        found: list[Hashable] = [name for name in self._required if name not in arguments]
        for name, value in arguments.items():
            if name not in self._properties:
                return None
            fits, rules = self._properties[name]
            if not fits(value):
                if rules is None:
                    return None
                found += [rule for rule, holds in rules if not holds(value)]
        return found


def compile_rules(schema: JsonSchema, asking: Callable[[JsonSchema], Ask]) -> Rules | None:
    """The rules of a schema; None where it says more of all arguments together. `asking` compiles one of them."""
    properties = schema.get("properties", {})
    if schema.get("type") != "object" or not {key for key in schema if not _is_note(key)} <= _ROOT:
        return None
    if not all(isinstance(described, dict) for described in properties.values()) or not _stands_alone(schema):
        return None
    held = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    own = {name: _own(name, described, held, asking) for name, described in properties.items()}
    return Rules(tuple(schema.get("required", ())), own)


def _own(name: str, described: JsonSchema, held: JsonSchema, asking: Callable[[JsonSchema], Ask]) -> Own:
    said = {key: value for key, value in described.items() if not _is_note(key)}
    if not said.keys() <= WORDED or isinstance(said.get("type"), list):
        return asking({**said, **held}), None
    return asking(said), tuple(((name, key), asking({key: value})) for key, value in said.items())


def _stands_alone(schema: JsonSchema) -> bool:
    """Whether its references lead into `$defs`, so that they lead there from any part of it too."""
    refers = {"$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"}
    return all(not part.keys() & refers and str(part.get("$ref", DEFS)).startswith(DEFS) for part in parts(schema))


def _is_note(key: str) -> bool:
    """Whether a keyword refuses nothing."""
    return key in NOTES or key == "format" or key.startswith("x-")
