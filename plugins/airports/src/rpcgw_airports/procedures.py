"""The procedures, for agents and programs of the group `travel`."""

from datetime import timedelta
from typing import Annotated

from annotated_types import Interval, Len, MaxLen, MinLen

import rpcgw as rpc
from rpcgw_airports.drawing import draw
from rpcgw_airports.places import Airport, Nearby, kilometres
from rpcgw_airports.store import Store

Code = Annotated[str, Len(3, 4)]
Count = Annotated[int, Interval(ge=1, le=100)]


@rpc.procedure("Airports", groups=["travel"], with_default=False)
class Airports:
    """Find airports, measure between them, and draw them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @rpc.tool(read_only=True, idempotent=True)
    def search(self, query: Annotated[str, MinLen(1)], limit: Count = 10) -> list[Airport]:
        """Find airports by name, city, IATA or ICAO code.

        Args:
            query: Words to look for; each may be the beginning of a word. A whole code puts its airport first.
            limit: How many airports to return.
        """
        return self._store.search(query, limit)

    @rpc.tool(read_only=True, idempotent=True)
    def nearest(
        self,
        lat: Annotated[float, Interval(ge=-90, le=90)],
        lon: Annotated[float, Interval(ge=-180, le=180)],
        count: Count = 5,
    ) -> list[Nearby]:
        """Find the airports nearest to a coordinate, nearest first.

        Args:
            lat: Latitude in degrees, north is positive.
            lon: Longitude in degrees, east is positive.
            count: How many airports to return.
        """
        found = self._store.nearest(lat, lon, count)
        return [Nearby(airport, round(kilometres(lat, lon, airport), 1)) for airport in found]

    @rpc.tool(read_only=True, idempotent=True)
    def distance(self, origin: Code, destination: Code) -> float:
        """Measure the great circle between two airports, in kilometres.

        Args:
            origin: IATA or ICAO code of the first airport.
            destination: IATA or ICAO code of the second airport.

        Raises:
            rpc.DataNotFound: There is no airport of this code.
        """
        first, second = self._found(origin), self._found(destination)
        return round(kilometres(first.latitude, first.longitude, second), 1)

    @rpc.tool(read_only=True, idempotent=True)
    @rpc.cache(ttl=timedelta(hours=1))
    def map(
        self,
        marked: Annotated[list[Code], MaxLen(50)] | None = None,
        country: Annotated[str, Len(2, 2)] | None = None,
        width: Annotated[int, Interval(ge=180, le=2160)] = 720,
    ) -> rpc.Image:
        """Draw a map of the world with a dot for each airport.

        Args:
            marked: IATA or ICAO codes of airports that stand out.
            country: Draw the airports of this country only: two letters, as in ISO 3166.
            width: The width in pixels; the map is half as high.

        Raises:
            rpc.DataNotFound: There is no airport of a marked code.
        """
        airports = [self._found(code) for code in marked or []]
        dots = self._store.points((country or "").upper())
        return rpc.Image(draw(dots, [(own.latitude, own.longitude) for own in airports], width), "image/png")

    def _found(self, code: str) -> Airport:
        airport = self._store.by_code(code)
        if airport is None:
            raise rpc.DataNotFound(f"There is no airport {code}.", extra={"code": code})
        return airport
