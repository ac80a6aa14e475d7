"""Dates and times in formats of the author's choice."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pydantic
import pytest

import rpcgw as rpc
from rpcgw.api.rules import Broken

KYIV = ZoneInfo("Europe/Kyiv")
DAY = rpc.DateFormat("%d.%m.%Y", "%Y%m%d")
ZONED = rpc.DateFormat("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M%z", zone="Europe/Kyiv")
CLOCK = rpc.DateFormat("%I:%M %p")


@pytest.mark.parametrize(
    ("hint", "text", "value", "shown"),
    [
        pytest.param(Annotated[dt.date, DAY], "30.11.2026", dt.date(2026, 11, 30), "30.11.2026", id="a date"),
        pytest.param(Annotated[dt.date, DAY], "20261130", dt.date(2026, 11, 30), "30.11.2026", id="in its second format, written in the first"),
        pytest.param(Annotated[dt.datetime, ZONED], "2026-07-01 12:00", dt.datetime(2026, 7, 1, 12, tzinfo=KYIV), "2026-07-01 12:00", id="a datetime gets the zone"),
        pytest.param(Annotated[dt.datetime, ZONED], "2026-07-01 12:00+0000", dt.datetime(2026, 7, 1, 15, tzinfo=KYIV), "2026-07-01 15:00", id="another offset is turned into the zone's"),
        pytest.param(Annotated[dt.datetime, rpc.DateFormat("%d.%m.%y %H:%M")], "30.11.26 12:00", dt.datetime.fromisoformat("2026-11-30T12:00"), "30.11.26 12:00", id="without a zone it is naive"),
        pytest.param(Annotated[dt.time, CLOCK], "03:04 PM", dt.time(15, 4), "03:04 PM", id="a time"),
        pytest.param(Annotated[dt.date | None, DAY], None, None, None, id="null where the type takes it"),
        pytest.param(Annotated[dt.date, DAY] | None, "30.11.2026", dt.date(2026, 11, 30), "30.11.2026", id="a union with null"),
    ],
)  # fmt: skip
def test_there_and_back(hint: Any, text: Any, value: Any, shown: Any) -> None:
    """A text becomes the value, and the value goes out in the first format, in the zone."""
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(hint)
    assert adapter.validate_python(text) == value
    assert adapter.dump_python(value, mode="json") == shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("31.02.2026", "must be written as|date_format", id="not in the calendar"),
        pytest.param("2026-11-30", "pattern", id="another format"),
        pytest.param("1.1.2026", "pattern", id="digits are left out"),
        pytest.param("tomorrow", "pattern", id="a relative word"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    """Only the formats, and only days that there are."""
    with pytest.raises(pydantic.ValidationError, match=said):
        pydantic.TypeAdapter(Annotated[dt.date, DAY]).validate_python(text)


def test_the_schema_says_the_format() -> None:
    """A pattern for machines, and an example for everybody."""
    schema = pydantic.TypeAdapter(Annotated[dt.date, rpc.DateFormat("%d.%m.%Y")]).json_schema()
    assert schema == {
        "type": "string",
        "pattern": r"^((0[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])\.\d{4})$",
        "examples": ["30.11.2026"],
    }


def test_the_message_shows_how() -> None:
    """An example says more than a format."""
    with pytest.raises(Broken) as broken:
        DAY.read("31.02.2026", dt.date)
    assert broken.value.faults[0].facts == {"example": "30.11.2026"}


def test_a_timestamp_in_the_format() -> None:
    """What lenient surfaces make of a Unix time."""
    assert ZONED.from_timestamp(0) == "1970-01-01 03:00"


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (Annotated[int, DAY], "for date, datetime and time"),
        (Annotated[dt.date | int, DAY], "for date, datetime and time"),
        (Annotated[dt.date, rpc.DateFormat()], "needs a format"),
        (Annotated[dt.date, rpc.DateFormat("%d %B %Y")], "%B"),
        (Annotated[dt.date, rpc.DateFormat("%d.%m.%Y", "%d.%m")], "'%d.%m' does not say which day of which year"),
        (Annotated[dt.datetime, rpc.DateFormat("%H:%M")], "does not say which day of which year"),
        (Annotated[dt.datetime, rpc.DateFormat("%Y-%m-%d", zone="Europe/Atlantis")], "no time zone 'Europe/Atlantis'"),
    ],
)
def test_formats_that_cannot_be_used(hint: Any, said: str) -> None:
    """An author's mistake is found when the method is compiled."""
    with pytest.raises(TypeError, match=said):
        pydantic.TypeAdapter(hint)
