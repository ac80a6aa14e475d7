"""Rules for `Annotated` that the vocabulary of annotated-types and pydantic's `Field` lacks.

    email: Annotated[str, rpc.Email()]
    tags: Annotated[list[str], rpc.Unique(), rpc.Each(rpc.NotBlank())]

Each rule holds its check, its schema keywords and the key of its message in one place, so that none can be enforced and
not documented. As in JSON Schema a rule is about values of its own kind: one about texts has nothing against a number,
whose type is another's business, and null is refused by `NotNull` alone. Importing this module imports no pydantic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from ipaddress import ip_address
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

Scalar = str | int | float | bool | None


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


@dataclass(frozen=True)
class NotBlank(Rule):
    """A text with something other than white space in it."""

    key = "not_blank"

    def keywords(self) -> Mapping[str, Any]:
        """At least one character that is no white space."""
        return {"minLength": 1, "pattern": r"\S"}

    def holds(self, value: str) -> bool:
        """Whether something is left without white space."""
        return bool(value.strip())


@dataclass(frozen=True)
class NotNull(Rule):
    """Anything but null, where the type would take null."""

    key = "not_null"
    kind = object
    exact = True

    def keywords(self) -> Mapping[str, Any]:
        """All types but one."""
        return {"not": {"type": "null"}}

    def holds(self, value: object) -> bool:
        """Whether there is a value."""
        return value is not None


@dataclass(frozen=True)
class Email(Rule):
    """An address `local@domain`: a dotted domain name, no comments, no quoted local part (a part of RFC 5321)."""

    key = "email"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name."""
        return {"format": "email"}

    def holds(self, value: str) -> bool:
        """Whether it can be an address; nobody is asked whether it exists."""
        local, _, domain = value.rpartition("@")
        return (
            0 < len(local) <= 64
            and len(value) <= 254
            and _LOCAL.fullmatch(local) is not None
            and "." in domain
            and all(_LABEL.fullmatch(label) for label in domain.split("."))
        )


_LOCAL = re.compile(r'[^\s@"(),:;<>\[\\\].\x00-\x1f]+(\.[^\s@"(),:;<>\[\\\].\x00-\x1f]+)*')
_LABEL = re.compile(r"[^\W_]([\w-]{0,61}[^\W_])?")


@dataclass(frozen=True)
class Url(Rule):
    """An absolute URL with a host, of one of the schemes (RFC 3986)."""

    schemes: tuple[str, ...] = ("http", "https")

    key = "url"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name, and how it begins."""
        return {"format": "uri", "pattern": f"^({'|'.join(map(re.escape, self.schemes))})://"}

    def facts(self) -> Mapping[str, object]:
        """Which schemes."""
        return {"schemes": " or ".join(self.schemes)}

    def holds(self, value: str) -> bool:
        """Whether it can be a URL."""
        try:
            parts = urlsplit(value)
            parts.port  # noqa: B018 -- raises where it is none
        except ValueError:
            return False
        return parts.scheme in self.schemes and bool(parts.hostname) and not _SPACE.search(value)


_SPACE = re.compile(r"[\s\x00-\x1f\x7f<>\"{}|\\^`]")


@dataclass(frozen=True)
class Ip(Rule):
    """An IP address, of version 4, 6 or either."""

    version: Literal[4, 6] | None = None

    key = "ip"

    def keywords(self) -> Mapping[str, Any]:
        """The formats' names."""
        if self.version is None:
            return {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
        return {"format": f"ipv{self.version}"}

    def facts(self) -> Mapping[str, object]:
        """Which version."""
        return {"version": "" if self.version is None else f"v{self.version}"}

    def holds(self, value: str) -> bool:
        """Whether it is one."""
        try:
            return self.version in (None, ip_address(value).version)
        except ValueError:
            return False


@dataclass(frozen=True)
class Uuid(Rule):
    """The canonical text of a UUID (RFC 9562), where the parameter stays a text."""

    key = "uuid_parsing"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name, and its length."""
        return {"format": "uuid", "minLength": 36, "maxLength": 36}

    def holds(self, value: str) -> bool:
        """Whether it is one."""
        try:
            return str(UUID(value)) == value.lower()
        except ValueError:
            return False


@dataclass(frozen=True)
class Date(Rule):
    """A date such as 2026-11-30 (RFC 3339 `full-date`), where the parameter stays a text."""

    key = "date_parsing"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name."""
        return {"format": "date"}

    def holds(self, value: str) -> bool:
        """Whether the calendar has it."""
        try:
            return date.fromisoformat(value).isoformat() == value
        except ValueError:
            return False


@dataclass(frozen=True)
class DateTime(Rule):
    """A date, time and offset such as 2026-11-30T12:00:00Z (RFC 3339), where the parameter stays a text."""

    key = "datetime_parsing"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name."""
        return {"format": "date-time"}

    def holds(self, value: str) -> bool:
        """Whether it is one."""
        try:
            return _RFC3339.fullmatch(value) is not None and datetime.fromisoformat(value.upper()).tzinfo is not None
        except ValueError:
            return False


_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


@dataclass(frozen=True)
class Json(Rule):
    """A text that is JSON itself."""

    key = "json"

    def keywords(self) -> Mapping[str, Any]:
        """What the text holds."""
        return {"contentMediaType": "application/json"}

    def holds(self, value: str) -> bool:
        """Whether it can be read."""
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return False
        return True


@dataclass(frozen=True)
class Regex(Rule):
    """A text that a pattern is found in; no look-around and no back-references, since it is matched in linear time."""

    pattern: str

    key = "string_pattern_mismatch"
    exact = True

    def keywords(self) -> Mapping[str, Any]:
        """The pattern."""
        return {"pattern": self.pattern}

    def facts(self) -> Mapping[str, object]:
        """The pattern."""
        return {"pattern": self.pattern}

    def holds(self, value: str) -> bool:
        """Whether the pattern is found."""
        return bool(self._matcher.isinstance_python(value))

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        _ = self._matcher  # a pattern that cannot be used is found when the method is compiled
        return super().__get_pydantic_core_schema__(source, handler)

    @cached_property
    def _matcher(self) -> Any:
        from pydantic_core import SchemaValidator, core_schema  # noqa: PLC0415 -- as above

        return SchemaValidator(core_schema.str_schema(pattern=self.pattern))


@dataclass(frozen=True, init=False)
class Choice(Rule):
    """One of a few values; an enum or a `Literal` says the same in the type."""

    values: tuple[Scalar, ...]

    key = "enum"
    kind = object
    exact = True

    def __init__(self, *values: Scalar) -> None:
        if not values:
            raise ValueError("a choice needs at least one value")
        object.__setattr__(self, "values", values)

    def keywords(self) -> Mapping[str, Any]:
        """The values."""
        return {"enum": list(self.values)}

    def facts(self) -> Mapping[str, object]:
        """The values."""
        return {"expected": " or ".join(map(repr, self.values))}

    def holds(self, value: object) -> bool:
        """Whether it is one of them; null is the type's business."""
        return value is None or any(_same(value, known) for known in self.values)


@dataclass(frozen=True)
class EqualTo(Rule):
    """Exactly this value."""

    value: Scalar

    key = "equal_to"
    kind = object
    exact = True

    def keywords(self) -> Mapping[str, Any]:
        """The value."""
        return {"const": self.value}

    def facts(self) -> Mapping[str, object]:
        """The value."""
        return {"value": repr(self.value)}

    def holds(self, value: object) -> bool:
        """Whether it is the same; null is the type's business."""
        return value is None or _same(value, self.value)


@dataclass(frozen=True)
class NotEqualTo(Rule):
    """Anything but this value."""

    value: Scalar

    key = "not_equal_to"
    kind = object
    exact = True

    def keywords(self) -> Mapping[str, Any]:
        """All but the value."""
        return {"not": {"const": self.value}}

    def facts(self) -> Mapping[str, object]:
        """The value."""
        return {"value": repr(self.value)}

    def holds(self, value: object) -> bool:
        """Whether it is another."""
        return not _same(value, self.value)


def _same(one: object, other: object) -> bool:
    """Equality as JSON has it: 1 is 1.0, and true is no 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Zoned(Rule):
    """A datetime with an offset; without one where `zone` is None; with exactly this offset where it is a timedelta."""

    zone: timedelta | Literal["any"] | None = "any"

    key = "zoned"
    kind = datetime

    def keywords(self) -> Mapping[str, Any]:
        """How such a text ends."""
        return {"pattern": _ZONES.get(self.zone, r"([Zz]|[+-]\d\d:?\d\d)$")}

    def facts(self) -> Mapping[str, object]:
        """Which offset."""
        return {"zone": _ZONE_WORDS.get(self.zone, f"the time zone offset {self.zone}")}

    def holds(self, value: datetime) -> bool:
        """Whether the offset is as said."""
        offset = value.utcoffset()
        return offset is not None if self.zone == "any" else offset == self.zone


_ZONES: Mapping[object, str] = {None: r"[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?$"}
_ZONE_WORDS: Mapping[object, str] = {None: "no time zone", "any": "a time zone"}

RULES: tuple[type[Rule], ...] = (
    NotBlank, NotNull, Email, Url, Ip, Uuid, Date, DateTime, Json, Regex, Choice, EqualTo, NotEqualTo, Unique, Each,
    Fields, Zoned,
)  # fmt: skip
"""Every rule of ours; the registry that tests and documents walk."""
