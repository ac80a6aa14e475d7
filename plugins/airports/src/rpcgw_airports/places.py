"""Airports and the sphere that they lie on. Plain values and arithmetic."""

from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt

EARTH = 6371.0088
"""The mean radius of the Earth in kilometres (IUGG)."""


@dataclass(frozen=True, slots=True)
class Airport:
    """One airport; latitude and longitude in degrees, `elevation` in feet, `iata` empty where it has none."""

    icao: str
    iata: str
    name: str
    city: str
    country: str
    latitude: float
    longitude: float
    elevation: float
    timezone: str


@dataclass(frozen=True, slots=True)
class Nearby:
    """An airport, and how many kilometres away it is."""

    airport: Airport
    km: float


def kilometres(latitude: float, longitude: float, airport: Airport) -> float:
    """The great circle from a coordinate to an airport, by the haversine formula."""
    phi, theta = radians(latitude), radians(airport.latitude)
    across = sin((theta - phi) / 2) ** 2
    along = sin(radians(airport.longitude - longitude) / 2) ** 2
    return 2 * EARTH * asin(sqrt(min(1.0, across + cos(phi) * cos(theta) * along)))


def direction(latitude: float, longitude: float) -> tuple[float, float, float]:
    """The unit vector to a coordinate: the greater the product of two, the nearer they are."""
    phi, lam = radians(latitude), radians(longitude)
    return cos(phi) * cos(lam), cos(phi) * sin(lam), sin(phi)
