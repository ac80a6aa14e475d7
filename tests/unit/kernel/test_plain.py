"""Types whose values need no conversion."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Annotated, Any, Literal, NewType

import pytest
from annotated_types import Interval, MinLen, MultipleOf
from pydantic import AfterValidator, Field
from typing_extensions import Doc

from rpcgw.kernel.plain import is_plain, number_of

UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "hint",
    [
        *(int, float, str, bool, None, list, dict, Any, object, UserId),
        *(int | None, str | bool, Literal["a"] | None, list[str], dict[str, list[bool]], str | list[str]),
        *(
            Annotated[int, Interval(ge=1)],
            Annotated[str, MinLen(1), Doc("d")],
            Annotated[str, Field(pattern="a")] | None,
        ),
    ],
    ids=str,
)
def test_plain_types(hint: Any) -> None:
    """What the schema accepts is what the procedure takes."""
    assert is_plain(hint)


@pytest.mark.parametrize(
    "hint",
    [
        *(Colour, dt.date, bytes, tuple[str, str], set[str], dict[int, str]),
        *(list[int], list[UserId], dict[str, float], int | str, int | float, Literal[1], list[int] | None),
        *(Annotated[int, MultipleOf(2)], Annotated[int, AfterValidator(abs)], Annotated[int, Field(strict=True)]),
        *(Annotated[int, Field(default=3)], list[Annotated[int, MinLen(1)]]),
    ],
    ids=str,
)
def test_types_that_are_converted(hint: Any) -> None:
    """A number inside of others, a form to choose from, or a check that no schema has: pydantic decides."""
    assert not is_plain(hint)


@pytest.mark.parametrize(
    ("hint", "number"),
    [(int, int), (float | None, float), (UserId, int), (Annotated[float, Interval(ge=1)], float), (str, None), (bool, None)],
    ids=str,
)  # fmt: skip
def test_numbers(hint: Any, number: type | None) -> None:
    """An int stays an int and a float a float, through NewType, Annotated and None."""
    assert number_of(hint) is number
