"""Texts under fields."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from rpcgw.kernel.conversion import Codecs
from rpcgw.kernel.fielddocs import FieldDocs
from rpcgw.kernel.schema import describe


@dataclasses.dataclass
class Base:
    first: int
    """Comes from the
    base class."""


@dataclasses.dataclass
class Data(Base):
    second: Annotated[int, Field(alias="2nd")] = 0
    """Has an alias."""
    third: int = 0


class Model(BaseModel):
    first: int
    """Of a model."""
    second: int = Field(default=0, description="Said in the field.")
    """Said below it."""


class Row(TypedDict):
    first: int
    """Of a TypedDict."""


class Outer:
    @dataclasses.dataclass
    class Inner:  # noqa: D106 -- a helper
        first: int
        """Nested."""


def local() -> type:
    @dataclasses.dataclass
    class Local:
        first: int
        """Inside a function."""

    return Local


@pytest.mark.parametrize(
    ("cls", "descriptions"),
    [
        pytest.param(Data, {"first": "Comes from the base class.", "2nd": "Has an alias.", "third": None}, id="a dataclass, its base, an alias"),
        pytest.param(Model, {"first": "Of a model.", "second": "Said in the field."}, id="a model"),
        pytest.param(Row, {"first": "Of a TypedDict."}, id="a TypedDict"),
        pytest.param(Outer.Inner, {"first": "Nested."}, id="a class in a class"),
        pytest.param(local(), {"first": "Inside a function."}, id="a class in a function"),
    ],
)  # fmt: skip
def test_properties_are_described(cls: Any, descriptions: dict[str, str | None]) -> None:
    """What an author writes under a field reaches agents."""
    codec = Codecs().get(cls)
    (component,) = describe([codec], []).components.values()
    assert {name: made.get("description") for name, made in component.schema["properties"].items()} == descriptions


def test_classes_without_source_have_no_texts() -> None:
    """One that was made at run time is described by its types alone."""
    made = dataclasses.make_dataclass("Made", [("x", int)])
    made.__module__ = "nowhere"
    assert FieldDocs().of(made) == {}
