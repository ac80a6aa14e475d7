"""The airports as their callers see them: compiled in this process, asked over rpc and MCP."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpcgw.testing import PluginGateway, open_gateway


@pytest.fixture(name="airports", scope="module")
def _airports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PluginGateway]:
    """One gateway for all tests: nothing here changes it, and the data is read once."""
    with open_gateway("rpcgw_airports", tmp_path_factory.mktemp("state")) as gateway:
        yield gateway


QUERIES = [
    pytest.param("KBP", "UKBB", id="an IATA code"),
    pytest.param("jfk", "KJFK", id="a code in small letters"),
    pytest.param("EGLL", "EGLL", id="an ICAO code"),
    pytest.param("heathrow", "EGLL", id="a word of the name"),
    pytest.param("boryspil", "UKBB", id="a name"),
    pytest.param("Zurich", "LSZH", id="a city, without its accents"),
]


@pytest.mark.parametrize(("query", "icao"), QUERIES)
def test_a_search_begins_with_what_was_meant(airports: PluginGateway, query: str, icao: str) -> None:
    """A code, a name or a city leads to its airport first."""
    assert airports.call("Airports.search", {"query": query, "limit": 3}).result[0]["icao"] == icao


def test_both_protocols_find_the_same(airports: PluginGateway) -> None:
    """A search gives the same airports over rpc and over MCP, sessions included."""
    query = {"query": "london", "limit": 4}
    found = airports.call("Airports.search", query).result
    assert len(found) == 4
    assert airports.tool("Airports.search", query).result == found
    assert airports.tool("Airports.search", query, era="session").result == found


def test_the_nearest_come_first(airports: PluginGateway) -> None:
    """From the middle of Kyiv, Zhuliany is the nearest and distances grow."""
    found = airports.call("Airports.nearest", {"lat": 50.45, "lon": 30.52, "count": 5}).result
    distances = [near["km"] for near in found]
    assert found[0]["airport"]["icao"] == "UKKK"
    assert distances == sorted(distances)


def test_the_date_line_is_no_wall(airports: PluginGateway) -> None:
    """On Taveuni, the airports of both sides of the date line are near."""
    found = airports.call("Airports.nearest", {"lat": -16.8, "lon": 179.99, "count": 10}).result
    assert {near["airport"]["longitude"] > 0 for near in found} == {True, False}
    assert all(near["km"] < 500 for near in found)


def test_a_distance_is_a_great_circle(airports: PluginGateway) -> None:
    """From London Heathrow to New York JFK it is about 5540 km, in either direction."""
    there, back = (
        airports.call("Airports.distance", {"origin": origin, "destination": destination}).result
        for origin, destination in (("LHR", "JFK"), ("KJFK", "EGLL"))
    )
    assert there == back == pytest.approx(5540, abs=10)


def image(airports: PluginGateway, **arguments: Any) -> tuple[int, int, bytes]:
    """Width, height and pixels of a drawn map."""
    (block,) = airports.tool("Airports.map", arguments).content
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    data = base64.b64decode(block["data"])
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"IDAT")
    length = int.from_bytes(data[at - 4 : at])
    raw = zlib.decompress(data[at + 4 : at + 4 + length])
    return width, height, b"".join(raw[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height))


def test_a_map_is_a_picture(airports: PluginGateway) -> None:
    """A map is as wide as asked for, half as high, and has dots."""
    width, height, pixels = image(airports, width=360)
    assert (width, height) == (360, 180)
    assert pixels.count(2) > 1000


def test_marked_airports_stand_out(airports: PluginGateway) -> None:
    """A marked airport is drawn in another colour at its place: Kyiv lies in the north-east quarter."""
    width, _, pixels = image(airports, width=360, marked=["KBP"])
    marks = [divmod(at, width) for at, colour in enumerate(pixels) if colour == 3]
    assert len(marks) == 25
    assert all(row == pytest.approx(39, abs=3) and column == pytest.approx(210, abs=3) for row, column in marks)


def test_a_country_alone_has_fewer_dots(airports: PluginGateway) -> None:
    """A country's map has that country's airports only."""
    assert 10 < image(airports, country="ua")[2].count(2) < 500


REFUSED = [
    pytest.param("Airports.distance", {"origin": "LHR", "destination": "QQQQ"}, -32404, id="no such airport"),
    pytest.param("Airports.map", {"marked": ["QQQQ"]}, -32404, id="marking no airport"),
    pytest.param("Airports.nearest", {"lat": 91, "lon": 0}, -32602, id="beyond the pole"),
    pytest.param("Airports.search", {"query": ""}, -32602, id="no words to look for"),
    pytest.param("Airports.map", {"width": 10}, -32602, id="a map too small to see"),
]


@pytest.mark.parametrize(("method", "params", "code"), REFUSED)
def test_what_is_refused(airports: PluginGateway, method: str, params: dict[str, object], code: int) -> None:
    """Every refusal has the code that the documents name."""
    assert airports.call(method, params).error.code == code


@pytest.mark.parametrize("query", ['"', "NEAR(", "name: x", "* OR 1", "-", "   "])
def test_a_query_is_no_syntax(airports: PluginGateway, query: str) -> None:
    """Whatever is typed, the full-text engine sees words only."""
    assert isinstance(airports.call("Airports.search", {"query": query}).result, list)


def test_the_data_is_read_once(tmp_path: Path) -> None:
    """The first question makes the file; later ones, after a restart too, leave it as it is."""
    path = tmp_path / "airports.sqlite3"
    made: list[int] = []
    for _ in range(2):
        with open_gateway("rpcgw_airports", tmp_path) as gateway:
            assert path.exists() == bool(made)
            gateway.call("Airports.search", {"query": "kyiv"})
            made.append(path.stat().st_mtime_ns)
    assert made[0] == made[1]


def test_nobody_but_travellers_sees_them(airports: PluginGateway) -> None:
    """The group travel has the airports, the group general does not."""
    assert "Airports.search" in airports.methods(group="travel")
    assert "Airports.search" not in airports.methods()


def test_texts_are_complete(airports: PluginGateway) -> None:
    """Every method is described in English and in Ukrainian."""
    airports.assert_texts("en", "uk")


def test_agents_take_every_tool(airports: PluginGateway) -> None:
    """No client of the lint would drop or mangle a tool."""
    airports.assert_clients()
