"""How dates and times are written where ISO 8601 is not wanted: an annotation with formats and a time zone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from types import NoneType
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rpcgw.api.records import record
from rpcgw.api.rules import Broken, Fault, literal

_DIRECTIVES: Mapping[str, str] = {
    "d": r"(0[1-9]|[12]\d|3[01])",
    "m": r"(0[1-9]|1[0-2])",
    "Y": r"\d{4}",
    "y": r"\d{2}",
    "H": r"([01]\d|2[0-3])",
    "I": r"(0[1-9]|1[0-2])",
    "M": r"[0-5]\d",
    "S": r"[0-5]\d",
    "f": r"\d{6}",
    "j": r"\d{3}",
    "p": r"(AM|PM)",
    "z": r"[+-]\d{2}:?\d{2}",
    "%": "%",
}
"""What may stand in a format. Names of days and months are left out: they depend on the process's locale."""

_SAMPLE = datetime(2026, 11, 30, 15, 4, 5, tzinfo=UTC)


@dataclass(frozen=True, init=False)
class DateFormat:
    """Read and write a `date`, `datetime` or `time` by formats of `strptime`.

        due: Annotated[date, rpc.DateFormat("%d.%m.%Y")]
        at: Annotated[datetime, rpc.DateFormat("%Y-%m-%d %H:%M", zone="Europe/Kyiv")]

    Args:
        formats: What is accepted; the first is how results are written.
        zone: The IANA time zone of datetimes whose text names none; they are written in it too. Without a zone such
            datetimes are naive.
    """

    formats: tuple[str, ...]
    zone: str | None

    def __init__(self, *formats: str, zone: str | None = None) -> None:
        object.__setattr__(self, "formats", formats)
        object.__setattr__(self, "zone", zone)

    @property
    def pattern(self) -> str:
        """A pattern that the texts match."""
        return f"^({'|'.join(map(_pattern, self.formats))})$"

    def example(self, kind: type) -> str:
        """A text as it is wanted."""
        return self.show(_of_kind(_SAMPLE.replace(tzinfo=self._zone or UTC), kind))

    def show(self, value: date | time) -> str:
        """The text of a value."""
        zone = self._zone
        if isinstance(value, datetime) and zone is not None and value.tzinfo is not None:
            value = value.astimezone(zone)
        return value.strftime(self.formats[0])

    def from_timestamp(self, seconds: float) -> str:
        """The text of a Unix time."""
        return self.show(datetime.fromtimestamp(seconds, self._zone or UTC))

    def read(self, text: str, kind: type) -> date | time:
        """The value of a text.

        Raises:
            Broken: It is not written as it should be, or the calendar does not have it.
        """
        for form in self.formats:
            try:
                found = datetime.strptime(text, form)  # noqa: DTZ007 -- the zone comes next
            except ValueError:
                continue
            return _of_kind(self._in_zone(found), kind)
        raise Broken([Fault((), "date_format", {"example": self.example(kind)})])

    def _in_zone(self, found: datetime) -> datetime:
        zone = self._zone
        if zone is None:
            return found
        return found.replace(tzinfo=zone) if found.tzinfo is None else found.astimezone(zone)

    @property
    def _zone(self) -> ZoneInfo | None:
        return None if self.zone is None else ZoneInfo(self.zone)

    def _checked_kind(self, source: Any) -> type:
        """The class that the annotation stands on.

        Raises:
            TypeError: The annotation cannot be used as it is; found when the method is compiled.
        """
        kinds = [part for part in get_args(source) or (source,) if part is not NoneType]
        if len(kinds) != 1 or kinds[0] not in (date, datetime, time):
            raise TypeError("DateFormat is for date, datetime and time")
        if not self.formats:
            raise TypeError("DateFormat needs a format")
        for form in self.formats:
            _pattern(form)
        try:
            _ = self._zone
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise TypeError(f"DateFormat: there is no time zone {self.zone!r}") from None
        kind: type = kinds[0]
        if kind is not time and (vague := [form for form in self.formats if not _names_day(form)]):
            raise TypeError(f"DateFormat: {vague[0]!r} does not say which day of which year")
        return kind

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema  # noqa: PLC0415 -- a plugin that is only imported pays nothing for it

        del handler
        kind = self._checked_kind(source)
        text = core_schema.str_schema(pattern=self.pattern)
        made: Any = core_schema.no_info_after_validator_function(
            Reading(self, kind),
            text,
            serialization=core_schema.plain_serializer_function_ser_schema(self.show, return_schema=text),
            metadata={"pydantic_js_extra": {"examples": [self.example(kind)]}},
        )
        return core_schema.nullable_schema(made) if NoneType in get_args(source) else made


@record(frozen=True)
class Reading:
    """The step from text to value; knows its format, so that lenient surfaces can write other forms in it."""

    format: DateFormat
    kind: type

    def __call__(self, text: str) -> date | time:
        """The value of a text."""
        return self.format.read(text, self.kind)


def _names_day(form: str) -> bool:
    return ("%Y" in form or "%y" in form) and ("%j" in form or ("%d" in form and "%m" in form))


def _of_kind(value: datetime, kind: type) -> date | time:
    if kind is date:
        return value.date()
    return value.timetz() if kind is time else value


def _pattern(form: str) -> str:
    """A regular expression for a format.

    Raises:
        TypeError: It holds what no format of ours may.
    """

    def translate(found: re.Match[str]) -> str:
        directive = found[1]
        if directive is None:
            return literal(found[0])
        if directive not in _DIRECTIVES:
            known = " ".join(f"%{known}" for known in _DIRECTIVES)
            raise TypeError(f"DateFormat: {form!r} holds %{directive}; only {known} mean the same everywhere")
        return _DIRECTIVES[directive]

    return re.sub(r"%(.)|[^%]", translate, form)
