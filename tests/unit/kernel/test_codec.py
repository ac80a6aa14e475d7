"""Bytes to values and back."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import ipaddress
import json
import pathlib
import types
import uuid
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcgw.kernel.codec import MAX_DEPTH, NoJsonForm, NotJson, decode, encode, find_non_finite, is_transparent

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


class Colour(enum.Enum):
    RED = "red"


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Blob(bytes):
    pass


@dataclasses.dataclass(slots=True)
class Point:
    x: int
    tags: set[int] = dataclasses.field(default_factory=set)


class Plain(pydantic.BaseModel):
    a: int = 1
    b: list[float] = []

    @functools.cached_property
    def remembered(self) -> int:
        return self.a


class Aliased(pydantic.BaseModel):
    a: int = pydantic.Field(1, alias="A")


class Computed(pydantic.BaseModel):
    a: int = 1

    @pydantic.computed_field
    def twice(self) -> int:
        return self.a * 2


class Roots(pydantic.RootModel[list[int]]):
    pass


def nested(depth: int, opening: bytes, closing: bytes) -> bytes:
    return opening * depth + b"1" + closing * depth


def looped() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"a":', id="a truncated body"),
        pytest.param(b'\xef\xbb\xbf{"a":1}', id="a byte order mark"),
        pytest.param('{"a":1}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'"\xff"', id="bytes that are not UTF-8"),
        pytest.param(b'{"\xff":1}', id="a key that is not UTF-8"),
        pytest.param(b'"\xed\xa0\x80"', id="a surrogate encoded as UTF-8"),
        pytest.param(b'"\\ud800"', id="half of a surrogate pair"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"[Infinity]", id="Infinity"),
        pytest.param(b"-Infinity", id="minus infinity"),
        pytest.param(b"1e400", id="a number beyond every float"),
        pytest.param(b"1" * 5000, id="an integer of 5,000 digits"),
        pytest.param(b"[1,]", id="a trailing comma"),
        pytest.param(b"01", id="a leading zero"),
        pytest.param(b"{} x", id="something after the value"),
        pytest.param(nested(201, b"[", b"]"), id="201 arrays"),
        pytest.param(nested(201, b'{"a":', b"}"), id="201 objects"),
        pytest.param(b"[" * 100_000, id="100,000 opening brackets"),
        pytest.param(b"[1," * 150 + b'{"a":' * 60 + b"1" + b"}" * 60 + b"]" * 150, id="arrays and objects mixed"),
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    """Whatever is wrong with the bytes, there is one exception, and it says why."""
    with pytest.raises(NotJson) as refused:
        decode(body)
    assert refused.value.reason


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param(b"12345678901234567890123456789", 12345678901234567890123456789, id="an integer beyond 64 bits"),
        pytest.param(b"9" * 4300, int("9" * 4300), id="an integer of 4,300 digits"),
        pytest.param(b"1.0", 1.0, id="a whole float stays a float"),
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="the last of equal keys wins"),
        pytest.param('"é\u2028"'.encode(), "é\u2028", id="text beyond ASCII"),
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="a surrogate pair"),
        pytest.param(b"[" + b"[],{}," * 300 + b"1]", [*([[], {}] * 300), 1], id="many brackets that are not deep"),
    ],
)
def test_values_are_exact(body: bytes, value: object) -> None:
    """What JSON says is what comes out, type included."""
    decoded = decode(body)
    assert (type(decoded), decoded) == (type(value), value)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_deepest_value_that_is_read(opening: bytes, closing: bytes) -> None:
    """200 levels are read, and no more."""
    assert decode(nested(MAX_DEPTH, opening, closing))


@given(st.binary())
def test_decode_raises_nothing_else(body: bytes) -> None:
    """Any bytes give a value or NotJson."""
    try:
        decode(body)
    except NotJson:
        return


@given(JSON)
def test_decode_reads_what_another_encoder_wrote(value: object) -> None:
    """The standard library's JSON comes back as the value that it was."""
    assert decode(json.dumps(value).encode()) == value


@given(JSON)
def test_encode_and_decode_are_inverse(value: object) -> None:
    """JSON values survive the way out and in."""
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Point(1, {2}), '{"x":1,"tags":[2]}', id="a dataclass"),
        pytest.param(Plain(), '{"a":1,"b":[]}', id="a model"),
        pytest.param(Aliased(A=1), '{"A":1}', id="a model with an alias"),
        pytest.param(Computed(), '{"a":1,"twice":2}', id="a model with a computed field"),
        pytest.param(Roots([1]), "[1]", id="a root model"),
        pytest.param([Plain(a=2)], '[{"a":2,"b":[]}]', id="a list of models"),
        pytest.param(Colour.RED, '"red"', id="an enum by its value"),
        pytest.param({Colour.RED: 1}, '{"red":1}', id="an enum as a key"),
        pytest.param(Text("x"), '"x"', id="a subclass of str"),
        pytest.param({Text("k"): Number(3)}, '{"k":3}', id="a subclass of int, a subclass of str as a key"),
        pytest.param(Blob(b"\xff\xfe"), '"//4="', id="a subclass of bytes, in base64"),
        pytest.param(2**70, str(2**70), id="an integer beyond 64 bits"),
        pytest.param(decimal.Decimal("1.10"), '"1.10"', id="a Decimal keeps its digits"),
        pytest.param(dt.datetime(2026, 11, 30, tzinfo=dt.UTC), '"2026-11-30T00:00:00Z"', id="a date and time"),
        pytest.param(dt.timedelta(hours=1), '"PT3600S"', id="a duration"),
        pytest.param(uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"', id="a UUID"),
        pytest.param(types.MappingProxyType({"a": 1}), '{"a":1}', id="a mapping"),
        pytest.param(frozenset({1}), "[1]", id="a frozenset"),
        pytest.param({"a": 1}.keys(), '["a"]', id="the keys of a dict"),
        pytest.param(range(2), "[0,1]", id="a range"),
        pytest.param(collections.deque([1]), "[1]", id="a deque"),
        pytest.param(ipaddress.ip_address("127.0.0.1"), '"127.0.0.1"', id="an address"),
        pytest.param(pathlib.Path("/x"), '"/x"', id="a path"),
        pytest.param({1: "a"}, '{"1":"a"}', id="integer keys"),
        pytest.param(float("nan"), "null", id="NaN, where nothing was promised"),
    ],
)
def test_values_have_one_json_form(value: object, text: str) -> None:
    """The kernel writes what procedures return."""
    assert encode(value).decode() == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(object(), "object has no JSON form", id="an object"),
        pytest.param((n for n in [1]), "generator has no JSON form", id="a generator is not read"),
        pytest.param(map(str, [1]), "map has no JSON form", id="a map is not read"),
        pytest.param({"a": 1}.values(), "dict_values has no JSON form", id="the values of a dict"),
        pytest.param(1j, "complex has no JSON form", id="a complex number"),
        pytest.param({None: 1}, "NoneType is no key of a JSON object", id="None as a key"),
        pytest.param({True: 1}, "bool is no key of a JSON object", id="True as a key"),
        pytest.param({(1, 2): 1}, "tuple is no key of a JSON object", id="a pair as a key"),
        pytest.param("\ud800", "a text in it holds half of a surrogate pair", id="half of a surrogate pair"),
        pytest.param(looped(), "it is nested too deeply, or contains itself", id="a list in itself"),
        pytest.param(print, "builtin_function_or_method has no JSON form", id="a function"),
    ],
)
def test_what_has_no_json_form_is_refused(value: object, reason: str) -> None:
    """There is one exception, and it names the culprit."""
    with pytest.raises(NoJsonForm) as refused:
        encode(value)
    assert refused.value.reason == reason


def test_a_cached_property_stays_inside() -> None:
    """What a model remembers beside its fields is not written."""
    model = Plain()
    assert model.remembered == 1
    assert encode(model) == b'{"a":1,"b":[]}'


@pytest.mark.parametrize(("model", "transparent"), [(Plain, True), (Aliased, False), (Computed, False), (Roots, False)])
def test_transparent_models(model: type[pydantic.BaseModel], transparent: bool) -> None:
    """Only a model whose JSON is its fields goes the fast way."""
    assert is_transparent(model) is transparent


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param({"a": [1.0, {"b": float("nan")}]}, "a[1].b", id="deep inside"),
        pytest.param(Plain(b=[1.0, float("inf")]), "b[1]", id="in a model"),
        pytest.param([Point(1), -float("inf")], "[1]", id="after a dataclass"),
        pytest.param(float("nan"), "", id="the value itself"),
        pytest.param([1.0, None, "nan", 2**70], None, id="nowhere"),
    ],
)
def test_the_path_of_what_is_not_finite(value: object, path: str | None) -> None:
    """NaN and infinity are found and named."""
    assert find_non_finite(value) == path
