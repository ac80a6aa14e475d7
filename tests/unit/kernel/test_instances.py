"""How procedures are made of what a lifespan yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NewType, Protocol

import pytest

from rpcgw.kernel.instances import instantiate, provided_values


class Store:
    pass


class SqlStore(Store):
    pass


class Clock:
    def now(self) -> float:
        return 1.0


class Now(Protocol):
    def now(self) -> float: ...


Dsn = NewType("Dsn", str)


class Plain:
    pass


class Typed:
    def __init__(self, store: Store) -> None:
        self.got = store


@dataclass
class AsDataclass:
    got: Store


class Optional:
    def __init__(self, got: Store | None = None) -> None:
        self.got = got


class Marked:
    def __init__(self, *, got: Annotated[Store, "main"]) -> None:
        self.got = got


class Structural:
    def __init__(self, got: Now) -> None:
        self.got = got


class Named:
    def __init__(self, got: Dsn) -> None:
        self.got = got


class Generic:
    def __init__(self, got: Sequence[int]) -> None:
        self.got = got


class Untyped:
    def __init__(self, got) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 -- that is the case
        self.got = got


class Raising:
    def __init__(self) -> None:
        raise ValueError("no disk")


STORE, SQL, CLOCK = Store(), SqlStore(), Clock()


@pytest.mark.parametrize(
    ("procedure", "provided", "got"),
    [
        pytest.param(Typed, [CLOCK, STORE], STORE, id="by the class of the value"),
        pytest.param(Typed, [CLOCK, SQL], SQL, id="by a base of the value's class"),
        pytest.param(Typed, [SQL, STORE], STORE, id="exactly its class wins over a subclass"),
        pytest.param(AsDataclass, [STORE], STORE, id="a dataclass"),
        pytest.param(Optional, [STORE], STORE, id="a member of a union"),
        pytest.param(Optional, [CLOCK], None, id="a default where nothing fits"),
        pytest.param(Marked, [STORE], STORE, id="annotated and keyword-only"),
        pytest.param(Structural, [STORE, CLOCK], CLOCK, id="what has a protocol's members"),
        pytest.param(Named, ["sqlite:"], "sqlite:", id="what a NewType stands for"),
        pytest.param(Generic, [[1, 2]], [1, 2], id="the class behind a generic"),
    ],
)
def test_parameters_are_filled_by_type(procedure: type, provided: list[object], got: object) -> None:
    """Each constructor parameter gets the one provided value that is of its type."""
    made, problems = instantiate([procedure], provided)
    assert problems == []
    assert made[procedure].got == got  # type: ignore[attr-defined]  # every class above has it


def test_instances_stay_as_they_are() -> None:
    """What a plugin made itself is not made again."""
    mine = Plain()
    made, problems = instantiate([mine, Typed], [STORE])
    assert problems == []
    assert made[Plain] is mine


@pytest.mark.parametrize(
    ("procedure", "provided", "code", "text", "hint"),
    [
        pytest.param(
            Typed, [CLOCK], "procedure-parameter",
            "the parameter 'store' of Typed(...) cannot be filled: nothing that is 'Store'", "the lifespan yields Clock",
            id="nothing fits",
        ),
        pytest.param(
            Typed, [], "procedure-parameter",
            "the parameter 'store' of Typed(...) cannot be filled: nothing that is 'Store'", "the lifespan yields nothing",
            id="nothing is there",
        ),
        pytest.param(
            Typed, [SQL, SqlStore()], "procedure-parameter",
            "the parameter 'store' of Typed(...) fits more than one value", "the lifespan yields SqlStore, SqlStore",
            id="two values fit",
        ),
        pytest.param(
            Untyped, [STORE], "procedure-parameter",
            "the parameter 'got' of Untyped(...) has no type", "annotate it: constructor parameters are filled by type",
            id="no type",
        ),
        pytest.param(
            Raising, [], "procedure-constructor", "Raising(...) raised ValueError: no disk", "", id="a constructor that raises"
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_a_problem(
    procedure: type, provided: list[object], code: str, text: str, hint: str
) -> None:
    """The problem names the parameter and what there was, at the constructor's place; nothing is made."""
    made, problems = instantiate([procedure], provided)
    [problem] = problems
    assert (problem.code, problem.text, problem.hint) == (code, text, hint)
    assert problem.place.file == __file__
    assert made == {}


@pytest.mark.parametrize(
    ("yielded", "values"),
    [
        pytest.param(None, (), id="nothing"),
        pytest.param(STORE, (STORE,), id="one value"),
        pytest.param((STORE, CLOCK), (STORE, CLOCK), id="a tuple of values"),
        pytest.param([STORE], (STORE,), id="a list of values"),
        pytest.param({"a": 1}, ({"a": 1},), id="a dict is one value"),
    ],
)
def test_what_a_lifespan_yields(yielded: object, values: tuple[object, ...]) -> None:
    """One value, or each of a tuple or list."""
    assert provided_values(yielded) == values
