"""What a rule for `Annotated` is: its check, its schema keywords and the key of its message in one place.

So none can be enforced and not documented. As in JSON Schema a rule is about values of its own kind: one about texts
has nothing against a number, whose type is another's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple


class Fault(NamedTuple):
    """One broken rule: where below the checked value, the key of its message, and the facts that fill the message."""

    steps: tuple[int | str, ...]
    key: str
    facts: Mapping[str, object]


class Broken(ValueError):
    """A value breaks a rule; `faults` holds every fault, in the order found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(", ".join(fault.key for fault in self.faults))


class Rule:
    """One rule. A rule of an author's own derives from it, as a frozen dataclass.

    `key` is the key of its message (in the product's table, or a catalogue's); `kind` the Python types that it is
    about. `exact` says that the keywords say all of it, so that whatever fits the schema fits the rule.
    """

    key: ClassVar[str]
    kind: ClassVar[type | tuple[type, ...]] = str
    exact: ClassVar[bool] = False

    def keywords(self) -> Mapping[str, Any]:
        """What the rule adds to a JSON Schema (2020-12)."""
        raise NotImplementedError

    def holds(self, value: Any) -> bool:
        """Whether a value of the rule's kind keeps it."""
        raise NotImplementedError

    def facts(self) -> Mapping[str, object]:
        """What fills the placeholders of the message."""
        return {}

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong with a value; nothing where it is of another kind."""
        if isinstance(value, self.kind) and not self.holds(value):
            yield Fault((), self.key, self.facts())

    def check(self, value: Any) -> Any:
        """The value itself.

        Raises:
            Broken: It breaks the rule.
        """
        if faults := tuple(self.faults(value)):
            raise Broken(faults)
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema  # noqa: PLC0415 -- a plugin that is only imported pays nothing for it

        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return joined(handler(core), self.keywords())


def literal(text: str) -> str:
    """A pattern for a text as it stands, in the syntax that JSON Schema's readers share."""
    return _SPECIAL.sub(r"\\\g<0>", text)


_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def joined(schema: dict[str, Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that also demands `keywords`; one that is taken already stands beside it in `allOf`."""
    nullable = any(branch.get("type") == "null" for branch in schema.get("anyOf", ()))
    for key, value in keywords.items():
        if nullable and key in ("enum", "const"):
            # Null is the type's business: a choice among other values does not take it away.
            key, value = "enum", [*(value if key == "enum" else [value]), None]  # noqa: PLW2901 -- this branch's form
        if schema.get(key, value) != value:
            schema.setdefault("allOf", []).append({key: value})
        else:
            schema[key] = value
    return schema
