"""The one thing that the site has to ask a server for."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

import rpcgw as rpc

Service = Literal["tune-up", "wheel", "brakes", "gears", "cleaning"]
PRICES: dict[Service, int] = {"tune-up": 1400, "wheel": 600, "brakes": 450, "gears": 500, "cleaning": 350}
SECOND_BICYCLE = 0.8
"""What a further bicycle costs, of the price of the first."""


@dataclass(frozen=True, slots=True)
class Price:
    """What it costs, in hryvnias, and on how many working days it is done."""

    service: Service
    total: int
    days: int


@rpc.procedure("Workshop", groups=["site"], with_default=False)
class Workshop:
    """What the workshop does, and what that costs."""

    @rpc.tool(read_only=True, idempotent=True)
    def price(self, service: Service, bicycles: Annotated[int, Interval(ge=1, le=10)] = 1) -> Price:
        """Say what a service costs.

        Args:
            service: What is to be done.
            bicycles: For how many bicycles; each further one is cheaper.
        """
        first = PRICES[service]
        total = first + round((bicycles - 1) * first * SECOND_BICYCLE)
        return Price(service, total, 1 + bicycles // 3)
