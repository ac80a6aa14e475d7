"""The registry of rules: enforced and documented alike, whichever library they come from."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from typing import Annotated, Any

import annotated_types as at
import pytest
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

import rpcgw as rpc
from rpcgw.kernel.assertions import REGISTRY, rules_of, unenforced
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.gate import Assertion, Passed
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import Registration, compile_methods


def is_even(value: int) -> bool:
    return value % 2 == 0


def method_of(hint: Any) -> Method:
    @rpc.procedure("P")
    class P:
        def m(self, v: Any) -> None: ...

    P.m.__annotations__["v"] = hint
    table, problems = compile_methods([Registration(P)])
    assert problems == []
    return (table.methods("general", 1) or {})["P.m"]


def errors(method: Method, value: Any) -> list[str]:
    """What is said against the one parameter; nothing where the value is taken."""
    verdict = method.gate({"v": value})
    if not isinstance(verdict, Passed):
        assert isinstance(verdict, Assertion)
        return [word for words in verdict.errors.values() for word in words]
    try:
        method.convert({"v": value})
    except rpc.AssertionFailed as refused:
        return [word for words in refused.extra.values() for word in words]  # type: ignore[attr-defined]  # lists of texts
    return []


# The rule's class, a hint with one, the keywords in the schema, a value that it takes, one that it refuses, the words.
ROWS = [
    pytest.param(at.Gt, Annotated[int, at.Gt(1)], {"exclusiveMinimum": 1}, 2, 1, "must be more than 1", id="Gt"),
    pytest.param(at.Ge, Annotated[int, at.Ge(1)], {"minimum": 1}, 1, 0, "must be at least 1", id="Ge"),
    pytest.param(at.Lt, Annotated[float, at.Lt(1)], {"exclusiveMaximum": 1}, 0.5, 1, "must be less than 1", id="Lt"),
    pytest.param(at.Le, Annotated[int, at.Le(1)], {"maximum": 1}, 1, 2, "must be at most 1", id="Le"),
    pytest.param(at.Interval, Annotated[int, at.Interval(ge=1, lt=3)], {"minimum": 1, "exclusiveMaximum": 3}, 2, 3, "must be less than 3", id="Interval"),
    pytest.param(at.MultipleOf, Annotated[int, at.MultipleOf(3)], {"multipleOf": 3}, 6, 7, "must be a multiple of 3", id="MultipleOf"),
    pytest.param(at.MinLen, Annotated[str, at.MinLen(2)], {"minLength": 2}, "ab", "a", "must have at least 2 character(s)", id="MinLen of a text"),
    pytest.param(at.MinLen, Annotated[list[str], at.MinLen(1)], {"minItems": 1}, ["a"], [], "must have at least 1 item(s)", id="MinLen of an array"),
    pytest.param(at.MinLen, Annotated[dict[str, str], at.MinLen(1)], {"minProperties": 1}, {"a": "b"}, {}, "must have at least 1 item(s)", id="MinLen of a mapping"),
    pytest.param(at.MaxLen, Annotated[str, at.MaxLen(1)], {"maxLength": 1}, "a", "ab", "must have at most 1 character(s)", id="MaxLen of a text"),
    pytest.param(at.MaxLen, Annotated[dict[str, str], at.MaxLen(0)], {"maxProperties": 0}, {}, {"a": "b"}, "must have at most 0 item(s)", id="MaxLen of a mapping"),
    pytest.param(at.Len, Annotated[list[int], at.Len(1, 2)], {"minItems": 1, "maxItems": 2}, [1], [1, 2, 3], "must have at most 2 item(s)", id="Len"),
    pytest.param(at.Timezone, Annotated[dt.datetime, at.Timezone(...)], {"pattern": r"([Zz]|[+-]\d\d:?\d\d)$"}, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "must have a time zone", id="Timezone"),
    pytest.param(at.Timezone, Annotated[dt.datetime, at.Timezone(None)], {"pattern": r"[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?$"}, "2026-01-01T00:00:00", "2026-01-01T00:00:00Z", "must have no time zone", id="no Timezone"),
    pytest.param(at.Timezone, list[Annotated[dt.datetime, at.Timezone(...)]] | None, {}, ["2026-01-01T00:00:00Z"], ["2026-01-01T00:00:00"], "must have a time zone", id="Timezone of items"),
    pytest.param(at.Predicate, Annotated[int, at.Predicate(is_even)], {}, 2, 1, "is not allowed", id="Predicate"),
    pytest.param(at.Not, Annotated[int, at.Not(is_even)], {}, 1, 2, "is not allowed", id="Not"),
    pytest.param(FieldInfo, Annotated[str, Field(pattern="^a", max_length=2)], {"pattern": "^a", "maxLength": 2}, "ab", "b", "must match ^a", id="Field of a text"),
    pytest.param(FieldInfo, Annotated[int, Field(ge=1, multiple_of=2)], {"minimum": 1, "multipleOf": 2}, 2, 3, "must be a multiple of 2", id="Field of a number"),
    pytest.param(rpc.NotBlank, Annotated[str, rpc.NotBlank()], {"minLength": 1, "pattern": r"\S"}, "a", " ", "must not be blank", id="NotBlank"),
    pytest.param(rpc.Email, Annotated[str, rpc.Email()], {"format": "email"}, "a@b.co", "a", "must be an e-mail address", id="Email"),
    pytest.param(rpc.Url, Annotated[str, rpc.Url()], {"format": "uri"}, "https://a/", "https://", "must be a URL that begins with http or https", id="Url"),
    pytest.param(rpc.Ip, Annotated[str, rpc.Ip(4)], {"format": "ipv4"}, "1.1.1.1", "::1", "must be an IPv4 address", id="Ip"),
    pytest.param(rpc.Uuid, Annotated[str, rpc.Uuid()], {"format": "uuid"}, "0189f7e2-3f6a-7c1e-9b1a-0123456789ab", "x" * 36, "must be a UUID", id="Uuid"),
    pytest.param(rpc.Date, Annotated[str, rpc.Date()], {"format": "date"}, "2026-01-31", "2026-02-30", "must be a date such as 2026-11-30", id="Date"),
    pytest.param(rpc.DateTime, Annotated[str, rpc.DateTime()], {"format": "date-time"}, "2026-01-31T00:00:00Z", "2026-01-31", "must be a date and time such as 2026-11-30T12:00:00Z", id="DateTime"),
    pytest.param(rpc.Json, Annotated[str, rpc.Json()], {"contentMediaType": "application/json"}, "{}", "{", "must be JSON", id="Json"),
    pytest.param(rpc.Regex, Annotated[str, rpc.Regex("^a")], {"pattern": "^a"}, "a", "b", "must match ^a", id="Regex"),
    pytest.param(rpc.NotNull, Annotated[str | None, rpc.NotNull()], {"not": {"type": "null"}}, "a", None, "must not be null", id="NotNull"),
    pytest.param(rpc.NotEqualTo, Annotated[str, rpc.NotEqualTo("a")], {"not": {"const": "a"}}, "b", "a", "must not be 'a'", id="NotEqualTo"),
    pytest.param(rpc.Unique, Annotated[list[str], rpc.Unique()], {"uniqueItems": True}, ["a", "b"], ["a", "a"], "must not hold the same item twice", id="Unique"),
    pytest.param(rpc.Each, Annotated[list[str], rpc.Each(rpc.Email())], {"items": {"type": "string", "format": "email"}}, ["a@b.co"], ["a@b.co", "a"], "must be an e-mail address", id="Each"),
    pytest.param(rpc.Fields, Annotated[dict[str, Any], rpc.Fields({"a": rpc.NotBlank()})], {"properties": {"a": {"minLength": 1, "pattern": r"\S"}}}, {"a": "x"}, {"a": " "}, "must not be blank", id="Fields"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "hint", "keywords", "taken", "refused", "said"), ROWS)
def test_rules_are_published_and_enforced(  # noqa: PLR0917 -- a row has six columns
    rule: type, hint: Any, keywords: dict[str, Any], taken: Any, refused: Any, said: str
) -> None:
    """What a rule adds to the schema, and what becomes of a value that keeps it and of one that does not."""
    method = method_of(hint)
    published = json.loads(method.input_schema)["properties"]["v"]
    assert {key: published.get(key) for key in keywords} == keywords
    assert errors(method, taken) == []
    assert said in errors(method, refused)
    assert rule in REGISTRY


@pytest.mark.parametrize(
    ("hint", "taken", "refused", "said"),
    [
        pytest.param(Annotated[str, rpc.Choice("a", "b")], "a", "c", "must be 'a' or 'b'", id="Choice"),
        pytest.param(Annotated[str | None, rpc.Choice("a")], None, "c", "must be 'a' or null", id="Choice or null"),
        pytest.param(Annotated[str, rpc.EqualTo("a")], "a", "c", "must be 'a'", id="EqualTo"),
    ],
)
def test_enumerations_are_shape(hint: Any, taken: str, refused: str, said: str) -> None:
    """`enum` and `const` are part of the type: the answer is the one to a wrong shape."""
    method = method_of(hint)
    assert errors(method, taken) == []
    assert method.gate({"v": refused}).errors == {"v": [said]}  # type: ignore[union-attr]  # a refusal


def test_every_rule_has_a_row() -> None:
    """No rule is enforced that nobody has seen documented."""
    shown = {row.values[0] for row in ROWS} | {rpc.Choice, rpc.EqualTo}
    assert {rule for rule in REGISTRY if rule.__name__ != "Zoned"} == shown


@pytest.mark.parametrize(
    ("hint", "rules"),
    [
        pytest.param(Annotated[str, at.MinLen(1), rpc.Email()], ("MinLen(min_length=1)", "Email()"), id="two"),
        pytest.param(Annotated[str, Field(min_length=1, pattern="a")], ("MinLen(min_length=1)", "Field(pattern='a')"), id="a field's"),
        pytest.param(Annotated[int, at.Predicate(is_even)], ("Predicate(is_even)",), id="a predicate's name"),
        pytest.param(Annotated[str, rpc.NotBlank()] | None, ("NotBlank()",), id="of a member"),
        pytest.param(list[Annotated[str, rpc.NotBlank()]], (), id="items have their own"),
        pytest.param(Annotated[str, "a note"], (), id="no rules"),
    ],
)  # fmt: skip
def test_rules_as_the_author_wrote_them(hint: Any, rules: tuple[str, ...]) -> None:
    """The source of `x-ufo-assertions`."""
    assert rules_of(hint) == rules
    assert method_of(hint).params[0].assertions == rules


@pytest.mark.parametrize(
    "hint",
    [
        pytest.param(Annotated[str, at.MinLen], id="a class for a value"),
        pytest.param(Annotated[str, rpc.NotBlank], id="a class of ours"),
        pytest.param(list[Annotated[str, Field]] | None, id="inside"),
        pytest.param(Annotated[dt.datetime, at.Timezone("Europe/Kyiv")], id="a zone by name"),
    ],
)  # fmt: skip
def test_notes_that_nobody_enforces(hint: Any) -> None:
    """What looks like a rule and is none is a problem, not a surprise."""
    assert len(list(unenforced(hint))) == 1


@dataclasses.dataclass
class Meeting:
    when: Annotated[dt.datetime, at.Timezone(...)]


class Diary(TypedDict):
    meetings: list[Meeting]


class Draft(BaseModel):
    when: Annotated[dt.datetime | None, at.Timezone(None)] = None


@pytest.mark.parametrize("hint", [Meeting, Diary, list[Draft] | None, dict[str, Meeting]])
def test_a_time_zone_on_a_field(hint: Any) -> None:
    """Of a class's field pydantic overlooks `Timezone`, so it is a problem; `rpc.Zoned` holds there."""
    assert len(Codec(hint).ignored) == 1


@dataclasses.dataclass
class Zoned:
    when: Annotated[dt.datetime, rpc.Zoned()]


def test_a_zone_of_ours_on_a_field() -> None:
    """What the problem advises is enforced, and in the schema."""
    assert Codec(Zoned).ignored == ()
    assert Codec(Zoned).explain("v", {"when": "2026-01-01T00:00:00"}) == {"v.when": ["must have a time zone"]}


def test_an_authors_own_rule() -> None:
    """A rule of an author's is enforced, documented, and never asked by the gate."""

    class Odd(rpc.Rule):
        key = "odd"
        kind = int

        def keywords(self) -> dict[str, Any]:
            return {"not": {"multipleOf": 2}}

        def holds(self, value: int) -> bool:
            return value % 2 == 1

    method = method_of(Annotated[int, Odd()])
    assert errors(method, 2) == ["is not allowed"]
    assert errors(method, 1) == []
