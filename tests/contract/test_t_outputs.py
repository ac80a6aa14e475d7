"""T-10 to T-12, T-15: the schemas of results that tools publish, and the results that must fit them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.types import TYPES
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Session, Stateless
from tests.support.schemas import Schema, expanded, parts, references, validator

PLUGIN = (
    TYPES
    + """

@rpc.procedure("Out", groups=["mcp"], with_default=False)
class Out:
    def text(self) -> str:
        return "Привіт \\"world\\" \\\\ \\n"

    def whole(self) -> int:
        return -7

    def number(self) -> float:
        return 2.5

    def flag(self) -> bool:
        return False

    def nothing(self) -> None: ...

    def numbers(self) -> list[int]:
        return [1, 2]

    def broken(self) -> list[int]:
        return [1, "two"]

    def empty(self) -> list[str]:
        return []

    def matrix(self) -> list[list[int]]:
        return [[1], []]

    def pair(self) -> tuple[int, str]:
        return 1, "a"

    def part(self) -> Part:
        return Part("wheel", Colour.BLUE)

    def parts(self) -> dict[str, list[Part]]:
        return {"a": [Part("wheel")]}

    def maybe(self) -> Part | None:
        return None

    def tree(self) -> Node:
        return Node("root", [Node("leaf", part=Part("wheel"))])

    def mutual(self) -> Odd:
        return Odd(left=Even(right=Odd()))

    def either(self) -> int | float | str:
        return 3

    def pet(self) -> Pet:
        return Dog("dog", ["sit"])

    def colour(self) -> Colour:
        return Colour.RED

    def day(self) -> date:
        return date(2026, 11, 30)

    def moment(self) -> datetime:
        return datetime(2026, 11, 30, 12, tzinfo=timezone.utc)

    def price(self) -> Decimal:
        return Decimal("9.90")

    def size(self) -> Size:
        return {"width": 1, "height": 2}

    def mapping(self) -> dict:
        return {"a": [1, None]}

    def unannotated(self):
        return 1

    def anything(self) -> Any:
        return [1]

    def whatever(self) -> object:
        return "x"
"""
)

ROUTES = {
    "mcp": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "mcp"}},
    "rpc": {"resource": "rpc", "prefix": "/rpc", "defaults": {"api_group": "mcp"}},
}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(routes=ROUTES, plugins={"schemas.py": PLUGIN}) as running:
        yield running


@pytest.fixture(scope="module")
def tools(served: Daemon) -> dict[str, dict[str, Any]]:
    return Stateless(served).tools()


@pytest.fixture(scope="module")
def document(served: Daemon) -> dict[str, Any]:
    """The OpenRPC document, its methods by name."""
    whole: dict[str, Any] = served.get("/rpc").json()
    return {**whole, "methods": {method["name"]: method for method in whole["methods"]}}


OUTPUTS = [
    pytest.param("text", {"type": "string"}, id="text"),
    pytest.param("whole", {"type": "integer"}, id="a whole number"),
    pytest.param("number", {"type": "number"}, id="a number"),
    pytest.param("flag", {"type": "boolean"}, id="true or false"),
    pytest.param("part", {"$ref": "#/$defs/Part"}, id="a DTO"),
    pytest.param("colour", {"$ref": "#/$defs/Colour"}, id="an enum"),
    pytest.param("maybe", {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}, id="a DTO or null"),
    pytest.param("either", {"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "string"}]}, id="one of three"),
    pytest.param("pet", {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}, id="a tagged union"),
    pytest.param("price", {"type": "string", "format": "decimal"}, id="a decimal"),
]


@pytest.mark.parametrize(("name", "schema"), OUTPUTS)
def test_the_output_is_wrapped_as_the_result_is(tools: dict[str, Any], name: str, schema: Schema) -> None:
    """T-10: the return type stands under `result`, which is required."""
    published = {key: value for key, value in tools[f"Out.{name}"]["outputSchema"].items() if key != "$defs"}
    assert published == {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def test_the_output_is_what_the_document_says(tools: dict[str, Any], document: dict[str, Any]) -> None:
    """T-10: beside the wrapping and the widening of T-11 it is the result of the OpenRPC document, for every tool."""
    components = document["components"]["schemas"]
    outputs = {name: tool["outputSchema"] for name, tool in tools.items() if "outputSchema" in tool}
    assert len(outputs) > 1
    for name, schema in outputs.items():
        shown = expanded(schema["properties"]["result"], schema.get("$defs", {}))
        narrowed = json.loads(json.dumps(shown).replace('["array", "object"]', '"array"'))
        assert narrowed == expanded(document["methods"][name]["result"]["schema"], components), name


def test_references_stay_within_the_tool(tools: dict[str, Any]) -> None:
    """T-10: a tool's `$ref`s point into its own `$defs`, and there is nothing else in these."""
    assert any("$defs" in tool["inputSchema"] or "$defs" in tool.get("outputSchema", {}) for tool in tools.values())
    for tool in tools.values():
        schema = tool.get("outputSchema", {})
        assert references(schema) == {f"#/$defs/{name}" for name in schema.get("$defs", {})}, tool["name"]


def test_no_schema_says_one_of(tools: dict[str, Any]) -> None:
    """T-10: members may overlap, so it is `anyOf` everywhere, and a whole number fits `int | float`."""
    assert [tool["name"] for tool in tools.values() if any("oneOf" in part for part in parts(tool))] == []
    assert validator(tools["Out.either"]["outputSchema"]).is_valid({"result": 3})


@pytest.mark.parametrize(
    ("name", "count"), [("numbers", 1), ("matrix", 2), ("pair", 1), ("parts", 1), ("tree", 1), ("pet", 1)]
)
def test_arrays_may_be_objects_in_outputs(tools: dict[str, Any], name: str, count: int) -> None:
    """T-11: every array of an output may be an object too: at the root, within others, and in `$defs`."""
    types = [part["type"] for part in parts(tools[f"Out.{name}"]["outputSchema"]) if "type" in part]
    assert types.count(["array", "object"]) == count
    assert "array" not in types


@pytest.mark.parametrize("name", ["unannotated", "anything", "whatever"])
def test_nothing_is_published_where_nothing_is_promised(tools: dict[str, Any], name: str) -> None:
    """T-12: no annotation, `Any` and `object` promise nothing, so there is no `outputSchema`."""
    assert "outputSchema" not in tools[f"Out.{name}"]


def test_none_and_dict_are_published(tools: dict[str, Any]) -> None:
    """T-12: `-> None` is null, and `-> dict` an object."""
    assert tools["Out.nothing"]["outputSchema"]["properties"]["result"] == {"type": "null"}
    assert tools["Out.mapping"]["outputSchema"]["properties"]["result"]["type"] == "object"


RESULTS = {
    "text": 'Привіт "world" \\ \n',
    "whole": -7,
    "number": 2.5,
    "flag": False,
    "nothing": None,
    "numbers": [1, 2],
    "empty": [],
    "matrix": [[1], []],
    "pair": [1, "a"],
    "part": {"name": "wheel", "colour": "blue"},
    "parts": {"a": [{"name": "wheel", "colour": "red"}]},
    "maybe": None,
    "tree": {
        "name": "root",
        "children": [{"name": "leaf", "children": [], "part": {"name": "wheel", "colour": "red"}}],
        "part": None,
    },
    "mutual": {"left": {"right": {"left": None}}},
    "either": 3,
    "pet": {"kind": "dog", "tricks": ["sit"]},
    "colour": "red",
    "day": "2026-11-30",
    "moment": "2026-11-30T12:00:00Z",
    "price": "9.90",
    "size": {"width": 1, "height": 2},
    "mapping": {"a": [1, None]},
    "unannotated": 1,
    "anything": [1],
    "whatever": "x",
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_comes_as_text_and_as_structured_content(served: Daemon, name: str) -> None:
    """T-15: success is one text, the JSON of the value, the value itself under `result`, and `isError` false."""
    for client in (Session(served), Stateless(served)):
        result = client.result(f"Out.{name}")
        content = result.pop("content")
        assert [set(block) for block in content] == [{"type", "text"}]
        assert content[0]["type"] == "text"
        assert json.loads(content[0]["text"]) == RESULTS[name]
        shown = {key: value for key, value in result.items() if key not in {"resultType", "_meta"}}
        assert shown == {"structuredContent": {"result": RESULTS[name]}, "isError": False}


def test_a_session_gets_these_members_and_no_others(served: Daemon) -> None:
    """T-15: the result to the letter, for clients of the session revisions."""
    text = '{"content":[{"type":"text","text":"-7"}],"structuredContent":{"result":-7},"isError":false}'
    assert f'"result":{text}}}' in Session(served).call("Out.whole").text


def test_structured_content_fits_the_output_schema(served: Daemon, tools: dict[str, Any]) -> None:
    """T-15: what a tool answers is valid against the `outputSchema` that it publishes."""
    client = Stateless(served)
    published = [name for name in RESULTS if "outputSchema" in tools[f"Out.{name}"]]
    assert len(published) == len(RESULTS) - 3
    for name in published:
        content = client.result(f"Out.{name}")["structuredContent"]
        validator(tools[f"Out.{name}"]["outputSchema"]).validate(content)


def test_a_result_that_is_not_what_was_published_is_none(served: Daemon, tools: dict[str, Any]) -> None:
    """T-15: what a procedure returns against its own return type is never structured content: the call has failed."""
    assert not validator(tools["Out.broken"]["outputSchema"]).is_valid({"result": [1, "two"]})
    for client in (Session(served), Stateless(served)):
        result = client.result("Out.broken")
        assert result["isError"]
        assert "structuredContent" not in result
        assert json.loads(result["content"][0]["text"])["code"] == -32603
