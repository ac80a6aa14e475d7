"""Rules for arrays and mappings: unique items, each item, each field."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rpcgw.api.records import record
from rpcgw.api.rules import Fault, Rule, joined


@record(frozen=True)
class Unique(Rule):
    """An array that holds no item twice."""

    key = "unique"
    kind = (list, tuple)
    exact = True

    def keywords(self) -> Mapping[str, Any]:
        """The keyword."""
        return {"uniqueItems": True}

    def holds(self, value: Collection[object]) -> bool:
        """Whether all items differ."""
        return len({_distinct(item) for item in value}) == len(value)


def _distinct(item: object) -> object:
    """Something that can be hashed and is equal for equal items."""
    if item is None or isinstance(item, str | int | float):
        return (isinstance(item, bool), item)
    return json.dumps(item, sort_keys=True, default=repr)


@dataclass(frozen=True, init=False)
class Each(Rule):
    """Every item of an array keeps these rules. For typed items `list[Annotated[T, ...]]` says the same."""

    rules: tuple[Rule, ...]

    key = "each"
    kind = (list, tuple)

    def __init__(self, *rules: Rule) -> None:
        object.__setattr__(self, "rules", _rules(rules, "Each"))

    @property
    def exact(self) -> bool:  # type: ignore[override]  # as exact as its rules are
        """Whether the items' keywords say all."""
        return all(rule.exact for rule in self.rules)

    def keywords(self) -> Mapping[str, Any]:
        """What each item must be."""
        return {"items": _together(self.rules)}

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        schema = handler(core)
        items = schema.get("items")
        if isinstance(items, dict):
            for rule in self.rules:
                items = joined(items, rule.keywords())
            return {**schema, "items": items}
        return joined(schema, self.keywords())

    def faults(self, value: Any) -> Iterator[Fault]:
        """Each item's faults, at its position."""
        for index, item in enumerate(value if isinstance(value, self.kind) else ()):
            for rule in self.rules:
                yield from (fault._replace(steps=(index, *fault.steps)) for fault in rule.faults(item))


@record(frozen=True)
class Fields(Rule):
    """Fields of a mapping keep these rules; those not named in `optional` must be there.

    For mappings whose fields are known at run time alone; a dataclass or TypedDict says more.
    """

    rules: Mapping[str, Collection[Rule] | Rule]
    optional: Collection[str] = ()
    _all: Mapping[str, tuple[Rule, ...]] = field(init=False, repr=False, compare=False)

    key = "fields"
    kind = dict

    def __post_init__(self) -> None:
        made = {
            name: _rules((given,) if isinstance(given, Rule) else tuple(given), "Fields")
            for name, given in self.rules.items()
        }
        object.__setattr__(self, "_all", made)

    def __hash__(self) -> int:
        return hash((tuple(self._all.items()), tuple(self.optional)))

    def keywords(self) -> Mapping[str, Any]:
        """What each field must be, and which must be there."""
        required = [name for name in self._all if name not in self.optional]
        properties = {name: _together(rules) for name, rules in self._all.items()}
        return {"properties": properties, **({"required": required} if required else {})}

    def faults(self, value: Any) -> Iterator[Fault]:
        """Each field's faults, by its name."""
        if not isinstance(value, dict):
            return
        for name, rules in self._all.items():
            if name in value:
                for rule in rules:
                    yield from (fault._replace(steps=(name, *fault.steps)) for fault in rule.faults(value[name]))
            elif name not in self.optional:
                yield Fault((name,), "missing", {})


def _together(rules: Iterable[Rule]) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for rule in rules:
        schema = joined(schema, rule.keywords())
    return schema


def _rules(rules: tuple[Any, ...], what: str) -> tuple[Rule, ...]:
    for rule in rules:
        if not isinstance(rule, Rule):
            raise TypeError(f"{what} takes rules such as NotBlank(), not {rule!r}; the rest is said by types")
    return rules
