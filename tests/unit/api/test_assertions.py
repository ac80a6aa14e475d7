"""Our rules: each is enforced and documented, by one and the same object."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

import jsonschema
import pytest
from pydantic import TypeAdapter

import rpcgw as rpc
from rpcgw.api.assertions import RULES, Zoned
from rpcgw.api.rules import Broken, Rule, joined

UUID = "0189f7e2-3f6a-7c1e-9b1a-0123456789ab"
NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC).replace(tzinfo=None)

# A rule, what it adds to a schema, what it takes, what it refuses, and whether the keywords alone refuse that too.
ROWS = [
    pytest.param(rpc.NotBlank(), {"minLength": 1, "pattern": r"\S"}, ["a", " a "], ["", " \t\n"], True, id="NotBlank"),
    pytest.param(rpc.NotNull(), {"not": {"type": "null"}}, [0, "", False], [None], True, id="NotNull"),
    pytest.param(rpc.Email(), {"format": "email"}, ["a@b.co", "a.b+c@d-e.example", "ї@їжак.укр"], ["a", "a@b", "@b.co", "a@.co", "a b@c.de", ".a@b.co", "a..b@c.de", "a@-b.co", "a@b.co\n", "x" * 65 + "@b.co", "a@" + "b." * 130 + "co"], False, id="Email"),
    pytest.param(rpc.Url(), {"format": "uri", "pattern": "^(http|https)://"}, ["http://a", "https://a.b:80/c?d#e", "http://[::1]/"], ["a", "ftp://a", "javascript:alert(1)", "//a"], True, id="Url"),
    pytest.param(rpc.Url(schemes=("ftp",)), {"format": "uri", "pattern": "^(ftp)://"}, ["ftp://a/b"], ["ftp:///b", "ftp://a b", "ftp://a:99999999/"], False, id="Url of another scheme, without a host, with a space, with no port"),
    pytest.param(rpc.Ip(), {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, ["127.0.0.1", "::1"], ["a", "1.2.3", "1.2.3.4/8"], False, id="Ip"),
    pytest.param(rpc.Ip(4), {"format": "ipv4"}, ["127.0.0.1"], ["::1"], False, id="Ip of version 4"),
    pytest.param(rpc.Ip(6), {"format": "ipv6"}, ["::1"], ["127.0.0.1"], False, id="Ip of version 6"),
    pytest.param(rpc.Uuid(), {"format": "uuid", "minLength": 36, "maxLength": 36}, [UUID, UUID.upper()], ["", UUID[1:], UUID.replace("-", "")], True, id="Uuid"),
    pytest.param(rpc.Uuid(), {"format": "uuid", "minLength": 36, "maxLength": 36}, [], ["x" + UUID[1:], "{" + UUID[2:] + "}"], False, id="Uuid of other letters"),
    pytest.param(rpc.Date(), {"format": "date"}, ["2026-11-30", "2024-02-29"], ["", "2026-02-29", "20261130", "2026-W01-1", "tomorrow"], False, id="Date"),
    pytest.param(rpc.DateTime(), {"format": "date-time"}, ["2026-11-30T12:00:00Z", "2026-11-30t12:00:00.5+02:00"], ["", "2026-11-30", "2026-11-30T12:00:00", "2026-13-01T00:00:00Z", "now"], False, id="DateTime"),
    pytest.param(rpc.Json(), {"contentMediaType": "application/json"}, ["1", '{"a": []}'], ["", "{", "[" * 100_000], False, id="Json"),
    pytest.param(rpc.Regex("^[a-z]+$"), {"pattern": "^[a-z]+$"}, ["a"], ["", "A", "a1"], True, id="Regex"),
    pytest.param(rpc.Choice("a", 2), {"enum": ["a", 2]}, ["a", 2, 2.0], ["b", 1, True], True, id="Choice"),
    pytest.param(rpc.EqualTo(1), {"const": 1}, [1, 1.0], [2, True, "1"], True, id="EqualTo"),
    pytest.param(rpc.NotEqualTo("a"), {"not": {"const": "a"}}, ["b", None], ["a"], True, id="NotEqualTo"),
    pytest.param(rpc.Unique(), {"uniqueItems": True}, [[], [1, True, "1"], [{"a": 1}, {"a": 2}]], [[1, 1.0], ["a", "a"], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]], True, id="Unique"),
    pytest.param(rpc.Each(rpc.NotBlank(), rpc.NotEqualTo("x")), {"items": {"minLength": 1, "pattern": r"\S", "not": {"const": "x"}}}, [[], ["a"]], [["a", " "], ["x"]], True, id="Each"),
    pytest.param(rpc.Fields({"a": rpc.NotBlank(), "b": [rpc.NotNull()]}, optional=["b"]), {"properties": {"a": {"minLength": 1, "pattern": r"\S"}, "b": {"not": {"type": "null"}}}, "required": ["a"]}, [{"a": "x"}, {"a": "x", "b": 1, "c": 2}], [{}, {"a": ""}, {"a": "x", "b": None}], True, id="Fields"),
    pytest.param(Zoned(), {"pattern": r"([Zz]|[+-]\d\d:?\d\d)$"}, [NOON.replace(tzinfo=dt.UTC)], [NOON], False, id="Zoned"),
    pytest.param(Zoned(None), {"pattern": r"[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?$"}, [NOON], [NOON.replace(tzinfo=dt.UTC)], False, id="Zoned without"),
    pytest.param(Zoned(dt.timedelta(hours=2)), {"pattern": r"([Zz]|[+-]\d\d:?\d\d)$"}, [NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))], [NOON, NOON.replace(tzinfo=dt.UTC)], False, id="Zoned by an offset"),
]  # fmt: skip


def keeps(rule: Rule, value: Any) -> bool:
    return not list(rule.faults(value))


def fits(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@pytest.mark.parametrize(("rule", "keywords", "taken", "refused", "said"), ROWS)
def test_check_and_schema_say_the_same(
    rule: Rule, keywords: Any, taken: list[Any], refused: list[Any], said: bool
) -> None:
    """What the check takes the keywords take, and where they can say it they refuse what the check refuses."""
    assert rule.keywords() == keywords
    jsonschema.Draft202012Validator.check_schema(keywords)
    assert [value for value in taken if not (keeps(rule, value) and fits(keywords, value))] == []
    assert [value for value in refused if keeps(rule, value)] == []
    if said:
        assert [value for value in refused if fits(keywords, value)] == []


def test_every_rule_is_shown() -> None:
    """A rule without a row above would be one that nobody has seen refuse anything."""
    assert {type(row.values[0]) for row in ROWS} == set(RULES)


@pytest.mark.parametrize(("rule", "keywords", "taken", "refused", "said"), ROWS)
def test_every_exact_rule_is_said_in_full(
    rule: Rule, keywords: Any, taken: list[Any], refused: list[Any], said: bool
) -> None:
    """An exact rule's refusals are its keywords' refusals."""
    assert not rule.exact or not any(fits(keywords, value) for value in refused)


@pytest.mark.parametrize(
    "rule", [rpc.NotBlank(), rpc.Email(), rpc.Unique(), rpc.Each(rpc.Email()), rpc.Fields({"a": rpc.Email()})], ids=str
)
@pytest.mark.parametrize("value", [None, 1, True])
def test_values_of_another_kind_are_another_rules_business(rule: Rule, value: Any) -> None:
    """As in JSON Schema; null is refused by NotNull alone."""
    assert keeps(rule, value)
    assert fits(rule.keywords(), value)


def test_places_are_told() -> None:
    """Each broken rule is told where it is broken."""
    rule = rpc.Fields({"items": rpc.Each(rpc.Fields({"sku": rpc.NotBlank()})), "note": []})
    with pytest.raises(Broken) as broken:
        rule.check({"items": [{"sku": "a"}, {"sku": " "}, {}]})
    assert [(fault.steps, fault.key) for fault in broken.value.faults] == [
        (("items", 1, "sku"), "not_blank"),
        (("items", 2, "sku"), "missing"),
        (("note",), "missing"),
    ]


@pytest.mark.parametrize(
    ("schema", "keywords", "both"),
    [
        pytest.param({"type": "string"}, {"minLength": 1}, {"type": "string", "minLength": 1}, id="beside the type"),
        pytest.param({"pattern": "a"}, {"pattern": "b"}, {"pattern": "a", "allOf": [{"pattern": "b"}]}, id="both patterns hold"),
        pytest.param({"pattern": "a"}, {"pattern": "a"}, {"pattern": "a"}, id="the same twice is once"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"enum": ["a"]}, {"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a", None]}, id="a choice does not take null away"),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"const": "a"}, {"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a", None]}, id="nor does one value"),
    ],
)  # fmt: skip
def test_keywords_never_replace_each_other(schema: Any, keywords: Any, both: Any) -> None:
    """Several rules on one value all hold."""
    assert joined(schema, keywords) == both


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (rpc.Choice, "at least one"),
        (lambda: rpc.Each(str), "Each takes rules"),  # type: ignore[arg-type]  # the mistake
        (lambda: rpc.Fields({"a": [1]}), "Fields takes rules"),  # type: ignore[list-item]  # the mistake
        (lambda: TypeAdapter(Annotated[str, rpc.Regex("(?=a)")]), "look-around"),
    ],
    ids=["no choice", "no rule for items", "no rule for fields", "a pattern that is not linear"],
)  # fmt: skip
def test_mistakes_are_found_before_a_call(make: Any, said: str) -> None:
    """A rule that cannot be used says so when it is made, or when its method is compiled."""
    with pytest.raises(Exception, match=said):
        make()
