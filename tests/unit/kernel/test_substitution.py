"""Plugins' converters and resolvers in the place of classes."""

from __future__ import annotations

import dataclasses
import decimal
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

import rpcgw as rpc
from rpcgw.kernel.conversion import Codec, Codecs
from rpcgw.kernel.schema import describe
from rpcgw.kernel.substitution import PENDING, Resolution, compile_substitutes
from rpcgw.kernel.table import Registration, compile_methods


@dataclasses.dataclass(frozen=True)
class Money:
    amount: decimal.Decimal
    currency: str

    @classmethod
    def parse(cls, text: str) -> Money:
        amount, _, currency = text.partition(" ")
        return cls(decimal.Decimal(amount), currency)

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


class User:
    """No type that pydantic knows."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, User) and other.number == self.number

    __hash__ = None  # type: ignore[assignment]  # nobody needs it


@dataclasses.dataclass
class Order:
    total: Money
    buyer: User | None = None
    parts: list[Order] = dataclasses.field(default_factory=list)


MONEY = rpc.Converter(Money, wire=Annotated[str, rpc.Regex(r"^[0-9.]+ [A-Z]{3}$")], load=Money.parse, dump=str)
EUR = Money(decimal.Decimal("1.50"), "EUR")


class InModel(BaseModel):
    total: Annotated[Money, MONEY]


class Loose(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    total: Money


@rpc.resolver(User, by=int, dump=lambda user: user.number)
def find_user(number: int) -> User | None:
    raise NotImplementedError


@rpc.resolver(User, by=int)
def find_without_dump(number: int) -> User | None:
    raise NotImplementedError


SUBSTITUTES, _ = compile_substitutes([MONEY, find_user])


def codec(hint: Any) -> Codec:
    return Codecs(SUBSTITUTES).get(hint)


@pytest.mark.parametrize(
    ("hint", "wire", "value"),
    [
        pytest.param(Money, "1.50 EUR", EUR, id="a class"),
        pytest.param(Money | None, None, None, id="nullable"),
        pytest.param(list[Money], ["1.50 EUR"], [EUR], id="items"),
        pytest.param(dict[str, Money], {"a": "1.50 EUR"}, {"a": EUR}, id="values"),
        pytest.param(Order, {"total": "1.50 EUR", "buyer": None, "parts": [{"total": "1.50 EUR", "buyer": None, "parts": []}]}, Order(EUR, None, [Order(EUR)]), id="fields of a recursive class"),
        pytest.param(InModel, {"total": "1.50 EUR"}, InModel(total=EUR), id="a field of a model, annotated"),
        pytest.param(int | Money, "1.50 EUR", EUR, id="a member of a union"),
    ],
)  # fmt: skip
def test_there_and_back(hint: Any, wire: Any, value: Any) -> None:
    """A converter holds wherever its class is named."""
    made = codec(hint)
    assert made.convert(wire) == value
    assert json.loads(made.encode(value)) == wire


def test_the_schema_is_the_wires() -> None:
    """Callers see the JSON form, rules included; no component is made for the class."""
    made = codec(Order)
    description = describe([made], [made])
    (order,) = description.components.values()
    assert order.schema["properties"]["total"] == {"type": "string", "pattern": r"^[0-9.]+ [A-Z]{3}$"}
    assert order.schema["properties"]["buyer"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}


@pytest.mark.parametrize(
    ("load", "said"),
    [
        pytest.param(int, "must be|invalid literal", id="a ValueError's own words"),
        pytest.param(decimal.Decimal, "cannot be read", id="arithmetic"),
        pytest.param({}.__getitem__, "cannot be read", id="a look-up"),
    ],
)
def test_a_load_that_fails(load: Callable[[Any], Any], said: str) -> None:
    """Whatever parsing code raises is the caller's mistake, told at its place."""
    substitutes, _ = compile_substitutes([rpc.Converter(Money, wire=str, load=load, dump=str)])
    made = Codecs(substitutes).get(list[Money])
    with pytest.raises(ValidationError) as refused:
        made.convert(["x"])
    (path, words), *_ = made.errors("m", ["x"], refused.value).items()
    assert path == "m[0]"
    assert words[0].startswith(said.rpartition("|")[2])


def test_ids_are_noted_and_then_found() -> None:
    """The first run says what is wanted; the second puts it in place."""
    made = codec(list[User])
    resolution = Resolution()
    assert made.resolving
    assert made.convert([1, 2, 1], resolution) == [PENDING] * 3
    assert resolution.open == [(find_user, 1), (find_user, 2)]
    resolution.found.update({(find_user, 1): User(1), (find_user, 2): User(2)})
    assert made.convert([1, 2, 1], resolution) == [User(1), User(2), User(1)]


def test_an_id_that_is_not_found() -> None:
    """None for a nullable place; "not found" for any other."""
    resolution = Resolution(found={(find_user, 1): None})
    assert codec(User | None).convert(1, resolution) is None
    made = codec(User)
    with pytest.raises(ValidationError) as refused:
        made.convert(1, resolution)
    assert made.errors("user", 1, refused.value) == {"user": ["not found"]}


def test_directions_are_apart_where_a_resolver_has_no_dump() -> None:
    """An object that comes in as an id goes out as its class says."""

    @dataclasses.dataclass
    class Item:
        id: int
        name: str

    @rpc.resolver(Item, by=int)
    def find(number: int) -> Item | None:
        raise NotImplementedError

    codecs = Codecs(compile_substitutes([find])[0])
    coming, going = codecs.get(Item), codecs.get(Item, output=True)
    description = describe([coming], [going])
    assert description.inputs[coming] == {"type": "integer"}
    assert "$ref" in description.outputs[going]
    assert going.encode(Item(1, "a")) == b'{"id":1,"name":"a"}'


def test_types_without_parts_are_as_ever() -> None:
    """Plugins' parts cost nothing where they have no use."""
    made = codec(list[int])
    assert (made.parts, made.resolving) == ({}, False)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param([MONEY, rpc.Converter(Money, wire=str, load=str, dump=str)], "Money is converted by more than one", id="two for a class"),
        pytest.param([find_user, find_without_dump], "User is converted by more than one", id="two resolvers"),
        pytest.param([Money], "'Money' among a plugin's converters is neither", id="something else"),
    ],
)  # fmt: skip
def test_parts_that_cannot_be_used(parts: list[object], said: str) -> None:
    """What a plugin brings is checked when it is compiled."""
    _, problems = compile_substitutes(parts)
    assert [problem.code for problem in problems] == ["converter"]
    assert said in problems[0].text
    assert problems[0].place.file == __file__


@rpc.procedure("Shop")
class Shop:
    def pay(self, total: Money, fee: Money = EUR) -> Money:
        return total

    def loose(self, order: Loose) -> int:
        return 1


def test_problems_of_a_compile() -> None:
    """A model's field that pydantic has read already, and a part without use."""
    unknown = rpc.Converter(User, wire=int, load=User, dump=str)
    table, problems = compile_methods([Registration(Shop)], [MONEY, unknown])
    said = {(problem.code, problem.level): problem.text for problem in problems}
    assert set(said) == {("type", "error"), ("converter-unused", "warning")}
    assert "Loose is a pydantic model with a Money: write Annotated[Money, <converter>]" in said["type", "error"]
    assert "User" in said["converter-unused", "warning"]
    pay = (table.methods("general", 1) or {})["Shop.pay"]
    assert pay.defaults == {"fee": "1.50 EUR"}
    assert json.loads(pay.input_schema)["properties"]["fee"]["default"] == "1.50 EUR"
