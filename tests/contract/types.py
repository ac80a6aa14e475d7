"""The types that the tools of both tests of schemas take and give, as the beginning of a plugin."""

TYPES = '''
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import rpcgw as rpc


class Colour(Enum):
    """What it looks like."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Part:
    """A part of something."""

    name: str
    colour: Colour = Colour.RED


@dataclass
class Node:
    name: str
    children: "list[Node]" = field(default_factory=list)
    part: Part | None = None


class Odd(BaseModel):
    left: "Even | None" = None


class Even(BaseModel):
    right: Odd | None = None


class Size(TypedDict):
    width: int
    height: int


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int


@dataclass
class Dog:
    kind: Literal["dog"]
    tricks: list[str]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
'''
