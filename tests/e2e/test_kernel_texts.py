"""Texts of methods, each by itself from catalogue to catalogue down to the code, in every document alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Stateless

METHODS = ("first", "second", "third", "fourth", "marked", "nothing")
METHOD = '''
    async def NAME(self, word: str) -> str:
        """Code description.

        Args:
            word: Code word

        Returns:
            Code result
        """
        return word
'''
PLUGIN = f"""
import rpcgw as rpc


@rpc.procedure("Shop", groups=["shop"], with_default=False)
class Shop:
{"".join(METHOD.replace("NAME", name) for name in METHODS)}

rpc.tool(title="Code title")(Shop.marked)

plugin = rpc.Plugin(procedures=[Shop])
"""
STEPS = {
    "translations/rpc/shop.uk.yaml": ("group uk", ("first",)),
    "translations/rpc/shop.en.yaml": ("group en", ("first", "second")),
    "translations/rpc.uk.yaml": ("base uk", ("first", "second", "third")),
    "translations/rpc.en.yaml": ("base en", ("first", "second", "third", "fourth")),
}
"""The catalogues in the order in which a Ukrainian client's texts are looked for, and which methods each speaks of."""

TEXTS = ("title", "description", "result", "word")


def catalogue(source: str, names: tuple[str, ...]) -> str:
    """A catalogue that says of each text where it comes from."""
    entry = "{{title: {0} title, description: {0} description, result: {0} result, params: {{word: {0} word}}}}"
    return "".join(f"Shop.{name}: {entry.format(source)}\n" for name in names)


FILES = {path: catalogue(source, names) for path, (source, names) in STEPS.items()}
ROUTES = {kind: {"resource": kind, "prefix": f"/{kind}", "defaults": {"api_group": "shop"}} for kind in ("rpc", "mcp")}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    with daemon(routes=ROUTES, plugins={"shop.py": PLUGIN}, files=FILES) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def in_openrpc(served: Daemon, name: str, language: str) -> dict[str, str]:
    """What the OpenRPC document says of a method."""
    document = served.get("/rpc", {"Accept-Language": language}).json()
    [method] = [each for each in document["methods"] if each["name"] == f"Shop.{name}"]
    return {
        "title": method["summary"],
        "description": method["description"].rstrip("."),
        "result": method["result"]["description"].rstrip("."),
        "word": method["params"][0]["description"].rstrip("."),
    }


def in_mcp(served: Daemon, name: str, language: str) -> dict[str, str]:
    """What the list of tools says of it."""
    tool: dict[str, Any] = Stateless(served).tools({"Accept-Language": language})[f"Shop.{name}"]
    return {
        "title": tool["title"],
        "description": tool["description"].rstrip("."),
        # What only the code says of a result is not in the schema.
        "result": tool["outputSchema"]["properties"]["result"].get("description", "Code result"),
        "word": tool["inputSchema"]["properties"]["word"]["description"].rstrip("."),
    }


def of(source: str, **other: str) -> dict[str, str]:
    """Every text from one source, but for some."""
    return {**{text: f"{source} {text}" for text in TEXTS}, **other}


@pytest.mark.parametrize("look", [in_openrpc, in_mcp])
@pytest.mark.parametrize(
    ("name", "language", "texts"),
    [
        pytest.param("first", "uk", of("group uk"), id="the group's, in the client's language"),
        pytest.param("second", "uk", of("group en"), id="then the group's, in the default language"),
        pytest.param("third", "uk", of("base uk"), id="then the base's, in the client's language"),
        pytest.param("fourth", "uk", of("base en"), id="then the base's, in the default language"),
        pytest.param("marked", "uk", of("Code"), id="then the code's"),
        pytest.param("nothing", "uk", of("Code", title="Shop.nothing"), id="and a title at last is the name"),
        pytest.param("first", "uk-UA", of("group uk"), id="a region's language is its language"),
        pytest.param("third", "en", of("base en"), id="another language's texts are none"),
    ],
)
def test_where_a_text_comes_from(served: Daemon, look: Any, name: str, language: str, texts: dict[str, str]) -> None:
    """A-RPC-96: the group's catalogue, then the base, each in the client's language and then in the default one, then the code."""
    assert look(served, name, language) == texts


PARTIAL = {
    "translations/rpc/shop.uk.yaml": "Shop.first: {title: group uk title}\n",
    "translations/rpc/shop.en.yaml": "Shop.first: {params: {word: group en word}}\n",
    "translations/rpc.uk.yaml": "Shop.first: {title: unheard, description: base uk description}\n",
}


@pytest.mark.parametrize("look", [in_openrpc, in_mcp])
def test_each_text_by_itself(record_property: Note, look: Any) -> None:
    """A-RPC-96: a catalogue that has one text of a method does not hide what others have of it."""
    with daemon(routes=ROUTES, plugins={"shop.py": PLUGIN}, files=PARTIAL) as made, noting(record_property, made):
        assert look(made, "first", "uk") == {
            "title": "group uk title",
            "description": "base uk description",
            "word": "group en word",
            "result": "Code result",
        }
