"""What the catalogue is about. Plain values."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Len, MinLen


class Category(StrEnum):
    """The shelves of the shop."""

    BOOKS = "books"
    GARDEN = "garden"
    KITCHEN = "kitchen"
    MUSIC = "music"
    TOOLS = "tools"
    TOYS = "toys"


@dataclass(frozen=True, slots=True)
class Product:
    """One product; `price` is in euros."""

    id: int
    sku: str
    name: str
    category: Category
    price: Decimal
    stock: int
    tags: list[str]
    added: date


@dataclass(frozen=True, slots=True)
class NewProduct:
    """A product that has no id yet; `price` is in euros."""

    sku: Annotated[str, Len(3, 32)]
    name: Annotated[str, MinLen(1)]
    category: Category
    price: Annotated[Decimal, Ge(0)]
    stock: Annotated[int, Ge(0)] = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the products found; `total` counts all of them."""

    total: int
    products: list[Product]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Figures of one category: how many products, how many pieces, what they are worth in euros."""

    category: Category
    products: int
    pieces: int
    worth: Decimal
