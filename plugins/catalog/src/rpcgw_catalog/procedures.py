"""The procedures: what agents see (`mcp`), what the intranet sees beside (`internal`), and the second version."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from annotated_types import Ge, Interval, MinLen

import rpcgw as rpc
from rpcgw_catalog.products import Category, NewProduct, Page, Product, Shelf
from rpcgw_catalog.store import DuplicateSkuError, Store

Limit = Annotated[int, Interval(ge=1, le=100)]
Words = Annotated[str, MinLen(1)]


class SkuTakenError(rpc.LogicError):
    """A product with this SKU exists already."""


@rpc.procedure("Catalog", groups=["mcp", "internal"], with_default=False)
class Catalog:
    """Find products and look at them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @rpc.tool(read_only=True, idempotent=True)
    @rpc.cache(ttl=timedelta(minutes=5))
    async def search(self, query: Words, limit: Limit = 10, category: Category | None = None) -> list[Product]:
        """Find products by the words of their names and tags.

        Args:
            query: Words to look for; each may be the beginning of a word.
            limit: How many products to return, most relevant first.
            category: Look on this shelf only.
        """
        return self._store.search(query, limit, category).products

    @rpc.tool(read_only=True, idempotent=True)
    async def get(self, id: int) -> Product:  # noqa: A002 -- the parameter's name is the API's
        """Look at one product.

        Args:
            id: The product's number.

        Raises:
            rpc.DataNotFound: There is no such product.
        """
        return found(self._store.get(id), id)

    @rpc.tool(read_only=True, idempotent=True)
    async def discounted(self, cents: Annotated[int, Ge(0)], percent: Annotated[int, Interval(ge=0, le=100)]) -> int:
        """What a price becomes after a discount, rounded down to whole cents.

        Args:
            cents: The price in cents.
            percent: The discount in percent.
        """
        return cents * (100 - percent) // 100

    @rpc.tool(read_only=True, idempotent=True)
    def shelves(self) -> list[Shelf]:
        """Count products, pieces and their worth on each shelf."""
        return self._store.shelves()

    @rpc.tool(read_only=False, destructive=False)
    @rpc.lock(by="id", ttl=timedelta(seconds=10))
    @rpc.invalidates("Catalog.search")
    async def rename(self, id: int, name: Words, ctx: rpc.CallContext) -> Product:  # noqa: A002 -- the API's
        """Give a product another name.

        Args:
            id: The product's number.
            name: Its new name.

        Raises:
            rpc.DataNotFound: There is no such product.
        """
        return found(self._store.rename(id, name, by=ctx.principal.name), id)


@rpc.procedure("Catalog", version=2, removed=["rename"], groups=["mcp", "internal"], with_default=False)
class CatalogV2:
    """Version 2: a search that tells how much there is, suggestions, and no renaming."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @rpc.tool(read_only=True, idempotent=True)
    @rpc.cache(ttl=timedelta(minutes=5))
    async def search(
        self, query: Words, limit: Limit = 10, offset: Annotated[int, Ge(0)] = 0, category: Category | None = None
    ) -> Page:
        """Find products by the words of their names and tags, a page at a time.

        Args:
            query: Words to look for; each may be the beginning of a word.
            limit: How many products to return, most relevant first.
            offset: How many products to pass over.
            category: Look on this shelf only.
        """
        return self._store.search(query, limit, category, offset)

    @rpc.tool(read_only=True, idempotent=True)
    async def suggest(self, prefix: Words, limit: Limit = 5) -> list[str]:
        """Complete the beginning of a product's name.

        Args:
            prefix: What was typed so far.
            limit: How many names to return.
        """
        return self._store.suggest(prefix, limit)


@rpc.procedure("Admin", groups=["internal"], with_default=False)
class Admin:
    """Keep the catalogue."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @rpc.tool(read_only=False, destructive=False)
    @rpc.invalidates("Catalog.search")
    def add(self, product: NewProduct) -> Product:
        """Add a product.

        Args:
            product: What to add.

        Raises:
            SkuTakenError: A product with this SKU exists already.
        """
        try:
            return self._store.add(product)
        except DuplicateSkuError:
            raise SkuTakenError(f"A product with the SKU {product.sku} exists already.") from None

    @rpc.tool(read_only=False, destructive=True, idempotent=True)
    @rpc.lock(by="id", ttl=timedelta(seconds=10))
    @rpc.invalidates("Catalog.search")
    def set_price(self, id: int, price: Annotated[Decimal, Ge(0)]) -> Product:  # noqa: A002 -- the API's
        """Set a product's price.

        Args:
            id: The product's number.
            price: The new price in euros.

        Raises:
            rpc.DataNotFound: There is no such product.
        """
        return found(self._store.set_price(id, price), id)


def found(product: Product | None, number: int) -> Product:
    """The product, or the error that says that there is none."""
    if product is None:
        raise rpc.DataNotFound(f"There is no product {number}.", extra={"id": number})
    return product
