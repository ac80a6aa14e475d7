"""Records: whatever one can see of them is what `dataclasses.dataclass` makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from rpcgw.api.records import record

Make = Callable[..., Any]


def point(make: Make) -> Any:
    @make(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        y: int = 0
        names: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="", repr=False)
        made: list[int] = field(default_factory=lambda: [1], init=False, compare=False)
        kind: ClassVar[str] = "place"

        @property
        def sum(self) -> int:
            return self.x + self.y

    return Point


def counter(make: Make) -> Any:
    @make(slots=True)
    class Counter:
        """It counts."""

        count: int = 0

        def __post_init__(self) -> None:
            self.count += 1

    return Counter


def version(make: Make) -> Any:
    @make(frozen=True, slots=True, order=True)
    class Version:
        """A version."""

        major: int
        minor: int = 0

    return Version


def named(make: Make) -> Any:
    @make(frozen=True, slots=True, kw_only=True)
    class Named:
        """Names alone."""

        first: int
        second: int = 2

    return Named


def same(make: Make) -> Any:
    @make(frozen=True, eq=False)
    class Same:
        """Equal to itself alone."""

        value: int = 0

    return Same


def own(make: Make) -> Any:
    @make(frozen=True)
    class Own:
        """Has words of its own."""

        value: int = 0

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    return Own


def empty(make: Make) -> Any:
    @make(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    return Empty


def heir(make: Make) -> Any:
    @make(frozen=True, slots=True)
    class Parent:
        """One."""

        one: int

    @make(frozen=True, slots=True)
    class Heir(Parent):
        """Two."""

        two: int = 2

    return Heir


def self_named(make: Make) -> Any:
    @make(slots=True)
    class Loop:
        """It may hold itself."""

        inner: Any = None

    return Loop


def holding_itself(cls: Any) -> object:
    loop = cls()
    loop.inner = loop
    return loop


def set_anew(cls: Any) -> object:
    counted = cls()
    counted.count = 5
    return counted


def told(cls: Any, look: Callable[[Any], object]) -> object:
    """What a look at a class finds, or with which words it fails."""
    try:
        return repr(look(cls))
    except Exception as error:  # noqa: BLE001 -- compared
        return type(error), str(error)


LOOKS = [
    pytest.param(point, lambda cls: cls(1), id="one of defaults"),
    pytest.param(point, lambda cls: cls(1, 2, ["a"], "s"), id="one by position"),
    pytest.param(point, lambda cls: cls(y=1, x=2), id="one by names"),
    pytest.param(point, lambda cls: cls(1).made, id="a default that is made"),
    pytest.param(point, lambda cls: cls(1).names is cls(1).names, id="defaults that are made are not shared"),
    pytest.param(point, lambda cls: cls(1, 2).sum, id="a property"),
    pytest.param(point, lambda cls: (cls.kind, cls.__slots__, cls.__match_args__, cls.__doc__), id="what the class says"),
    pytest.param(point, lambda cls: [f.name for f in dataclasses.fields(cls)], id="the fields"),
    pytest.param(point, lambda cls: dataclasses.replace(cls(1, 2), y=3), id="replace"),
    pytest.param(point, lambda cls: (dataclasses.asdict(cls(1)), dataclasses.astuple(cls(1))), id="asdict and astuple"),
    pytest.param(point, lambda cls: (cls(1) == cls(1, 0, ["b"]), cls(1) == cls(2), cls(1) == 1, cls(1) != cls(1)), id="equality"),
    pytest.param(point, lambda cls: hash(cls(1, 2)) == hash(cls(1, 2, ["a"])), id="the hash"),
    pytest.param(point, lambda cls: copy.copy(cls(1, 2, ["a"])), id="a copy"),
    pytest.param(point, lambda cls: copy.deepcopy(cls(1, 2, ["a"])), id="a deep copy"),
    pytest.param(point, lambda cls: setattr(cls(1), "x", 2), id="a field is set"),
    pytest.param(point, lambda cls: delattr(cls(1), "x"), id="a field is deleted"),
    pytest.param(point, lambda cls: cls(1) < cls(2), id="no order was asked for"),
    pytest.param(point, lambda cls: cls(), id="an argument is missing"),
    pytest.param(point, lambda cls: cls(1, made=[2]), id="an argument that there is not"),
    pytest.param(counter, inspect.signature, id="the signature"),
    pytest.param(counter, lambda cls: inspect.signature(type("Heir", (cls,), {"__init__": lambda self, more: None})), id="the signature of an heir with its own"),
    pytest.param(counter, lambda cls: (cls().count, cls(4).count), id="after it is made"),
    pytest.param(counter, lambda cls: hash(cls()), id="what may change has no hash"),
    pytest.param(counter, set_anew, id="a field that may be set"),
    pytest.param(version, lambda cls: sorted([cls(2), cls(1, 5), cls(1)]), id="sorted"),
    pytest.param(version, lambda cls: (cls(1) < cls(2), cls(1) <= cls(1), cls(1) > cls(2), cls(1) >= cls(1)), id="the order"),
    pytest.param(version, lambda cls: cls(1) < 2, id="the order of others"),
    pytest.param(named, lambda cls: cls(first=1), id="names alone"),
    pytest.param(named, lambda cls: cls(1), id="a position where names are asked for"),
    pytest.param(same, lambda cls: (cls() == cls(), len({cls(), cls()})), id="identity"),
    pytest.param(own, lambda cls: (repr(cls()), cls() == 3, hash(cls())), id="methods of its own"),
    pytest.param(empty, lambda cls: (cls(), cls() == cls(), hash(cls()) == hash(cls()))[1:], id="no fields"),
    pytest.param(heir, lambda cls: cls(1), id="fields of a parent come first"),
    pytest.param(heir, lambda cls: setattr(cls(1), "one", 2), id="fields of a parent are frozen"),
    pytest.param(self_named, holding_itself, id="one that holds itself"),
]  # fmt: skip


@pytest.mark.parametrize(("define", "look"), LOOKS)
def test_as_the_standard_library(define: Callable[[Make], Any], look: Callable[[Any], object]) -> None:
    """A class made by `record` and one made by `dataclass` cannot be told apart, at first use and later."""
    ours, theirs = define(record), define(dataclass)
    for _ in range(2):
        assert told(ours, look) == told(theirs, look)


@record(frozen=True, slots=True)
class Kept:
    """One that a pickle finds again."""

    value: int


def test_pickled() -> None:
    """A frozen record with slots comes back out of a pickle."""
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_subclass_of_other_kind() -> None:
    """A plain subclass whose instance is the first of all gets the parent's `__init__`, and so does the parent."""

    @record(frozen=True)
    class Parent:
        """One."""

        one: int = 1

    class Child(Parent):
        """Nothing of its own."""

    assert (Child(5).one, Parent(6).one, Child().one) == (5, 6, 1)


def test_written_when_first_made() -> None:
    """Until then a class has no `__init__` of its own: that is what makes it cheap."""
    cls = point(record)
    before = cls.__init__
    cls(1)
    assert cls.__init__ is not before
    assert str(inspect.signature(cls.__init__)).startswith("(self, x: 'int', y: 'int' = 0, names: ")
