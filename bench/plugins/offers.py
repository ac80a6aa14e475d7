"""What the daemon serves beside its example while it is measured: the same work as the servers in bench/peers do."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval, MinLen

import rpcgw as rpc

Cents = Annotated[int, Ge(0)]
Percent = Annotated[int, Interval(ge=0, le=100)]


@dataclass(frozen=True, slots=True)
class Item:
    """One product."""

    id: int
    name: str
    cents: int
    in_stock: bool
    tags: list[str]


ITEMS = [
    Item(id=n, name=f"Product number {n}", cents=999 + 137 * n, in_stock=n % 3 != 0, tags=["alpha", "beta"])
    for n in range(200)
]


@rpc.procedure("Offers", groups=["mcp", "general"])
class Offers:
    """Prices and products."""

    @rpc.tool(read_only=True)
    async def discounted(self, cents: Cents, percent: Percent) -> int:
        """What a price becomes after a discount, rounded down to whole cents."""
        return cents * (100 - percent) // 100

    @rpc.tool(read_only=True)
    def in_a_thread(self, cents: Cents, percent: Percent) -> int:
        """The same, sync: in a thread of the pool."""
        return cents * (100 - percent) // 100

    @rpc.tool(read_only=True)
    @rpc.inline
    def inline(self, cents: Cents, percent: Percent) -> int:
        """The same, sync and declared cheap: on the loop."""
        return cents * (100 - percent) // 100

    @rpc.tool(read_only=True)
    async def search(
        self,
        query: Annotated[str, MinLen(1)],  # noqa: ARG002 -- everything is found
        limit: Annotated[int, Interval(ge=1, le=100)] = 10,
    ) -> list[Item]:
        """Find products."""
        return ITEMS[:limit]
