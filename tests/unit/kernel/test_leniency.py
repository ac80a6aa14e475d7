"""Forms that only lenient surfaces take."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, NaiveDatetime
from typing_extensions import TypedDict

import rpcgw as rpc
from rpcgw.kernel.conversion import Codec


class Colour(enum.Enum):
    RED = "red"
    Blue = "BLUE"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Case(enum.Enum):
    a = "one"
    A = "two"


@dataclasses.dataclass
class Node:
    colour: Annotated[Colour, Field(alias="color")]
    kids: list[Node] = dataclasses.field(default_factory=list)


class Model(BaseModel):
    level: Level


class Row(TypedDict):
    at: dt.datetime


class Dog(TypedDict):
    kind: Literal["dog"]
    colour: Colour


class Cat(TypedDict):
    kind: Literal["cat"]


@pytest.mark.parametrize(
    ("hint", "given", "mended"),
    [
        pytest.param(Colour, "RED", "red", id="a name"),
        pytest.param(Colour, "Red", "red", id="a name in another case"),
        pytest.param(Colour, "blue", "BLUE", id="a value in another case is a name in another case"),
        pytest.param(Colour, "red", "red", id="a value stays"),
        pytest.param(Colour, "green", "green", id="what is neither stays"),
        pytest.param(Colour, 1, 1, id="a number stays"),
        pytest.param(Case, "A", "two", id="names that differ in case alone, exactly"),
        pytest.param(Level, "2", 2, id="a numeric text of an integer"),
        pytest.param(Level, "3", "3", id="a numeric text that is no value"),
        pytest.param(Level, "high", 2, id="an integer's name"),
        pytest.param(dt.datetime, 1.5, "1970-01-01T00:00:01.500000Z", id="a timestamp"),
        pytest.param(NaiveDatetime, 0, "1970-01-01T00:00:00", id="a timestamp without a zone"),
        pytest.param(dt.datetime, 1e300, 1e300, id="a timestamp beyond time"),
        pytest.param(dt.datetime, True, True, id="true is no timestamp"),
        pytest.param(dt.datetime, None, None, id="null is not now"),
        pytest.param(Annotated[dt.datetime, rpc.DateFormat("%d.%m.%Y")], 0, "01.01.1970", id="a timestamp in the author's format"),
        pytest.param(Colour | None, "RED", "red", id="nullable"),
        pytest.param(list[Colour], ["RED", "red", 1], ["red", "red", 1], id="items"),
        pytest.param(set[Colour], ["RED"], ["red"], id="items of a set"),
        pytest.param(dict[str, Colour], {"RED": "RED"}, {"RED": "red"}, id="values of a mapping"),
        pytest.param(tuple[int, Colour], [1, "RED"], [1, "red"], id="positions"),
        pytest.param(tuple[Colour, ...], ["RED", "RED"], ["red", "red"], id="any number of positions"),
        pytest.param(tuple[int, Colour], [1], [1], id="too few positions stay"),
        pytest.param(Node, {"color": "RED", "kids": [{"color": "RED", "kids": []}]}, {"color": "red", "kids": [{"color": "red", "kids": []}]}, id="a recursive class, by its field's alias"),
        pytest.param(Model, {"level": "HIGH", "more": 1}, {"level": 2, "more": 1}, id="a model"),
        pytest.param(Row, {"at": 0}, {"at": "1970-01-01T00:00:00Z"}, id="a TypedDict"),
        pytest.param(Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "dog", "colour": "RED"}, {"kind": "dog", "colour": "red"}, id="a discriminated union"),
        pytest.param(Colour | str, "RED", "RED", id="what another member of a union takes stays"),
        pytest.param(Colour | int, "RED", "red", id="what no other member takes"),
        pytest.param(list[Colour], "RED", "RED", id="not an array"),
        pytest.param(Node, "RED", "RED", id="not an object"),
    ],
)  # fmt: skip
def test_what_is_made(hint: Any, given: Any, mended: Any) -> None:
    """The advertised form, or the value as it was."""
    mend = Codec(hint).leniency
    assert mend is not None
    made = mend(given)
    assert (made, type(made)) == (mended, type(mended))


@pytest.mark.parametrize("hint", [int, str, list[str], uuid.UUID, dt.date, dict[str, int], tuple[int, str]], ids=str)
def test_most_types_have_no_lenient_forms(hint: Any) -> None:
    """Nothing is coerced: "5" is no integer."""
    assert Codec(hint).leniency is None
