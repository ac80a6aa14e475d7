"""How raw arguments become values."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from rpcgw.kernel.arguments import Arguments, Refused
from rpcgw.kernel.conversion import Codecs
from rpcgw.kernel.messages import MESSAGES


@dataclasses.dataclass
class Point:
    x: int


def refuse(value: int) -> int:
    raise ValueError("never")


CODECS = Codecs()


def arguments(*, gated: bool = True, defaults: dict[str, Any] | None = None, **hints: Any) -> Arguments:
    return Arguments({name: CODECS.get(hint) for name, hint in hints.items()}, defaults or {}, gated=gated)


@pytest.mark.parametrize(
    ("hints", "defaults", "raw", "values"),
    [
        pytest.param({"a": int}, {}, {"a": 1.0}, {"a": 1}, id="a whole float for an int"),
        pytest.param({"a": float}, {}, {"a": 1}, {"a": 1.0}, id="an int for a float"),
        pytest.param({"a": int | None}, {"a": None}, {}, {"a": None}, id="a default"),
        pytest.param({"a": float}, {"a": 1}, {}, {"a": 1.0}, id="a default of the other number"),
        pytest.param({"p": Point, "d": dt.date}, {}, {"p": {"x": 1}, "d": "2026-11-30"}, {"p": Point(1), "d": dt.date(2026, 11, 30)}, id="types of the author's"),
        pytest.param({"a": str}, {}, {"a": "x"}, {"a": "x"}, id="nothing to do"),
    ],
)  # fmt: skip
def test_values(hints: dict[str, Any], defaults: dict[str, Any], raw: dict[str, Any], values: dict[str, Any]) -> None:
    """Values are what the annotations say, defaults filled in."""
    made = arguments(defaults=defaults, **hints).convert(raw)
    assert repr(made) == repr(values)


def test_every_refusal_is_listed() -> None:
    """All parameters are converted before any is refused."""
    made = arguments(d=dt.date, e=Annotated[int, AfterValidator(refuse)], f=float)
    with pytest.raises(Refused) as refused:
        made.convert({"d": "x", "e": 1, "f": 10**400})
    assert refused.value.errors == {
        "d": ["must be a date such as 2026-11-30"],
        "e": ["never"],
        "f": ["is too large"],
    }


@pytest.mark.parametrize("default", [[1], {"a": [1]}, Point(1), ({},)], ids=["a list", "a dict", "a dataclass", "a tuple that holds a dict"])  # fmt: skip
def test_a_default_that_can_be_changed_is_a_copy(default: Any) -> None:
    """One call cannot change the default of the next."""
    made = arguments(defaults={"a": default}, a=Any)
    value = made.convert({})["a"]
    assert value == default
    assert value is not default


def test_the_types_words_do_not_run_the_authors_code() -> None:
    """T-09: asking why something is refused runs nothing of the author's."""
    made = arguments(mine=Annotated[int, AfterValidator(refuse)], other=dt.date)
    assert made.explain({"mine": "x", "other": "x"}, None, MESSAGES) == {"other": ["must be a date such as 2026-11-30"]}


def test_behind_a_schema_by_hand_everything_is_checked() -> None:
    """A schema that the author wrote proves nothing of the types."""
    with pytest.raises(Refused) as refused:
        arguments(gated=False, a=int).convert({"a": "x"})
    assert refused.value.errors == {"a": ["must be an integer"]}
