"""One codec per type: JSON values in, results out."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pydantic
import pytest
from annotated_types import MinLen, Predicate
from pydantic import AfterValidator, Field, PlainSerializer

from rpcgw.kernel.codec import NoJsonForm, decode
from rpcgw.kernel.conversion import Codec, Codecs, TypeFailure, explain_type


class Colour(enum.Enum):
    RED = "red"


class Numbered(enum.Enum):
    A = enum.auto()
    B = enum.auto()


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


@dataclasses.dataclass
class Renamed:
    number: Annotated[int, Field(serialization_alias="n")] = 1


@dataclasses.dataclass
class Hidden:
    x: int = 1
    made: int = dataclasses.field(init=False, default=2)


@dataclasses.dataclass
class Checked:
    x: int

    def __post_init__(self) -> None:
        self.x += 1


class Rule(pydantic.BaseModel):
    even: int

    @pydantic.field_validator("even")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


Text = Annotated[int, PlainSerializer(lambda value: f"<{value}>", return_type=str)]


@pytest.mark.parametrize(
    ("hint", "value", "converted"),
    [
        pytest.param(Colour, "red", Colour.RED, id="an enum by its value"),
        pytest.param(dt.datetime, "2026-11-30T12:00:00Z", dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC), id="a date and time"),
        pytest.param(uuid.UUID, str(uuid.UUID(int=1)), uuid.UUID(int=1), id="a UUID"),
        pytest.param(decimal.Decimal, "1.10", decimal.Decimal("1.10"), id="a Decimal from digits"),
        pytest.param(bytes, "//4=", b"\xff\xfe", id="bytes from base64"),
        pytest.param(set[int], [1, 2], {1, 2}, id="a set"),
        pytest.param(tuple[int, str], [1, "a"], (1, "a"), id="a tuple"),
        pytest.param(Sequence[int], [1], [1], id="a sequence"),
        pytest.param(Point, {"x": 1}, Point(1), id="a dataclass with a default"),
        pytest.param(list[Point], [{"x": 1, "y": 2}], [Point(1, 2.0)], id="a list of dataclasses"),
        pytest.param(dict[int, str], {"1": "a"}, {1: "a"}, id="integer keys"),
        pytest.param(dt.datetime | str, "2026-11-30T12:00:00Z", dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC), id="the better branch of a union"),
        pytest.param(int | dt.date, "2026-11-30", dt.date(2026, 11, 30), id="a text is no integer"),
        pytest.param(float, 1, 1.0, id="an integer for a float"),
        pytest.param(int, 2**70, 2**70, id="an integer beyond 64 bits"),
        pytest.param(list[int], [1.0, 2, 3.0], [1, 2, 3], id="whole floats for integers"),
        pytest.param(list[int], [1e20], [10**20], id="a whole float beyond 64 bits"),
        pytest.param(Point, {"x": 3.0, "y": -0.0}, Point(3, -0.0), id="only where an integer is wanted"),
        pytest.param(dict[str, list[int | None]], {"a": [1.0, None]}, {"a": [1, None]}, id="deep inside"),
    ],
)  # fmt: skip
def test_conversion(hint: Any, value: Any, converted: Any) -> None:
    """JSON values become what the type says, type and value."""
    made = Codec(hint).convert(value)
    assert (type(made), made) == (type(converted), converted)
    assert repr(made).replace("TzInfo(0)", "datetime.timezone.utc") == repr(converted)


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        pytest.param(int, "5", {"p": ["must be an integer"]}, id="a text is no integer"),
        pytest.param(int, True, {"p": ["must be an integer"]}, id="true is no integer"),
        pytest.param(list[int], [1.5, 2.0], {"p[0]": ["must be an integer"]}, id="a broken float among whole ones"),
        pytest.param(Point, {"x": "a", "y": "b"}, {"p.x": ["must be an integer"], "p.y": ["must be a number"]}, id="every field at once"),
        pytest.param(Point, {}, {"p.x": ["is required"]}, id="a missing field"),
        pytest.param(dt.datetime, "2024-02-30", {"p": ["must be a date and time such as 2026-11-30T12:00:00Z"]}, id="a date that is none"),
        pytest.param(Rule, {"even": 3}, {"p.even": ["must be even"]}, id="the author's own words"),
        pytest.param(Colour, "green", {"p": ["must be 'red'"]}, id="not of the enum"),
        pytest.param(Annotated[int, Predicate(lambda n: n > 1)], 0, {"p": ["is not allowed"]}, id="a predicate"),
        pytest.param(Literal["a"] | Annotated[str, MinLen(3)], "b", {"p": ["must be 'a'", "must have at least 3 character(s)"]}, id="the reason of each branch"),
    ],
)  # fmt: skip
def test_refusals_in_words(hint: Any, value: Any, said: dict[str, list[str]]) -> None:
    """What a type refuses is said by path."""
    assert Codec(hint).explain("p", value) == said


@pytest.mark.parametrize(
    ("hint", "value", "text"),
    [
        pytest.param(Point, Point(1), '{"x":1,"y":0.0}', id="a dataclass by the fast encoder"),
        pytest.param(Renamed, Renamed(), '{"n":1}', id="a dataclass with an alias"),
        pytest.param(list[Renamed], [Renamed(2)], '[{"n":2}]', id="a list of them"),
        pytest.param(Hidden, Hidden(), '{"x":1,"made":2}', id="a field that the constructor does not take"),
        pytest.param(Text, 3, '"<3>"', id="a serializer of the author's"),
        pytest.param(Any, Point(1), '{"x":1,"y":0.0}', id="anything"),
    ],
)
def test_results_are_written_as_their_type_says(hint: Any, value: Any, text: str) -> None:
    """A type that the author configured goes through its own serializer, every other through msgspec."""
    assert Codec(hint).encode(value).decode() == text


@pytest.mark.parametrize(
    ("hint", "value", "reason"),
    [
        pytest.param(float, float("nan"), "it is not a finite number", id="the result itself"),
        pytest.param(list[Point], [Point(1), Point(1, float("inf"))], "[1].y is not a finite number", id="a field"),
        pytest.param(Renamed | float, float("-inf"), "it is not a finite number", id="behind a serializer"),
    ],
)
def test_nan_where_a_number_is_promised(hint: Any, value: Any, reason: str) -> None:
    """NaN and infinity in a result are an error that names the path."""
    codec = Codec(hint)
    codec.finite = True
    with pytest.raises(NoJsonForm) as refused:
        codec.encode(value)
    assert refused.value.reason == reason


def test_null_is_no_nan() -> None:
    """A null that is meant stays a null."""
    codec = Codec(list[float | None])
    codec.finite = True
    assert decode(codec.encode([1.0, None])) == [1.0, None]


@pytest.mark.parametrize(
    ("hint", "authored"),
    [(Rule, True), (Checked, True), (Annotated[int, AfterValidator(lambda n: n)], True), (Point, False), (Colour, False), (Sequence[int], False), (dt.datetime | None, False)],
)  # fmt: skip
def test_whether_a_check_runs_the_authors_code(hint: Any, authored: bool) -> None:
    """Validators and constructors of the author's are known, so that the gate can leave them alone."""
    assert Codec(hint).authored is authored


def test_enums_that_are_seen_as_numbers() -> None:
    """An enum whose values are 1, 2, ... is found, wherever it stands."""
    assert Codec(list[Numbered] | None).numbered == (Numbered,)
    assert Codec(Colour).numbered == ()


def test_one_codec_per_type() -> None:
    """Equal types share a codec; types that only compare equal do not."""
    codecs = Codecs()
    assert codecs.get(list[Point]) is codecs.get(list[Point])
    assert codecs.get(Literal[1]) is not codecs.get(Literal[True])
    field = Annotated[int, Field(ge=1)]
    assert codecs.get(field) is codecs.get(field)


@pytest.mark.parametrize(
    ("hint", "code", "text"),
    [
        pytest.param(Annotated[str, Field(pattern="(?=a)b")], "constraint", "regex parse error: (?=a)b ^^^ error: look-around, including look-ahead and look-behind, is not supported", id="a pattern with look-around"),
        pytest.param(print, "type", "<built-in function print> is not a type that rpcgw can describe", id="no type at all"),
    ],
)  # fmt: skip
def test_types_that_cannot_be_read(hint: Any, code: str, text: str) -> None:
    """A type that pydantic refuses becomes a problem in our words."""
    with pytest.raises(TypeFailure) as failure:
        Codec(hint)
    assert explain_type(failure.value, hint)[:2] == (code, text)
