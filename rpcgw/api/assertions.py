"""Rules for `Annotated` that the vocabulary of annotated-types and pydantic's `Field` lacks.

    email: Annotated[str, rpc.Email()]
    tags: Annotated[list[str], rpc.Unique(), rpc.Each(rpc.NotBlank())]

A rule has nothing against a value of another kind than its own, and null is refused by `NotNull` alone. Importing this
module imports no pydantic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from rpcgw.api.containers import Each, Fields, Unique
from rpcgw.api.records import record
from rpcgw.api.rules import Rule, literal

Scalar = str | int | float | bool | None


@record(frozen=True)
class NotBlank(Rule):
    """A text with something other than white space in it."""

    key = "not_blank"

    def keywords(self) -> Mapping[str, Any]:
        """At least one character that is no white space."""
        return {"minLength": 1, "pattern": r"\S"}

    def holds(self, value: str) -> bool:
        """Whether something is left without white space."""
        return bool(value.strip())


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
class Url(Rule):
    """An absolute URL with a host, of one of the schemes (RFC 3986)."""

    schemes: tuple[str, ...] = ("http", "https")

    key = "url"

    def keywords(self) -> Mapping[str, Any]:
        """The format's name, and how it begins."""
        return {"format": "uri", "pattern": f"^({'|'.join(map(literal, self.schemes))})://"}

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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
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
