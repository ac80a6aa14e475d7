"""T-07, T-08: the schemas of arguments that tools publish."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.types import TYPES
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Session, Stateless, result_of
from tests.support.schemas import Schema, expanded, references, validator

PLUGIN = (
    TYPES
    + '''

@rpc.procedure(groups=["mcp"], with_default=False)
class Demo:
    def greet(self, who: str = "x") -> str:
        """Ping.

        Args:
            who: Who is pinging
        """
        return who


@rpc.procedure("In", groups=["mcp"], with_default=False)
class In:
    def nothing(self) -> None: ...

    def order(
        self,
        part: Part,
        count: Annotated[int, Ge(1)],
        note: str = "none",
        colour: Colour = Colour.BLUE,
        sizes: tuple[int, ...] = (1, 2),
        tree: Node | None = None,
    ) -> None:
        """Order something.

        Args:
            part: What to order.
            count: How many of it,
                at least one.
            colour: In which colour.
        """

    def tree(self, root: Node) -> None:
        """Walk a tree.

        Args:
            root: Where to begin.
        """

    def mutual(self, odd: Odd) -> None: ...

    def many(self, parts: list[Part], sizes: dict[str, Size], pet: Pet, either: int | str | float) -> None: ...
'''
)

EXACT = (
    '{"type":"object","properties":{"who":{"type":"string","description":"Who is pinging","default":"x"}},'
    '"additionalProperties":false}'
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


def input_of(tools: dict[str, Any], name: str) -> Schema:
    schema: Schema = tools[name]["inputSchema"]
    return schema


METHODS = ["Demo.greet", "In.nothing", "In.order", "In.tree", "In.mutual", "In.many"]


@pytest.mark.parametrize("name", METHODS)
def test_properties_are_the_parameters_of_the_document(
    tools: dict[str, Any], document: dict[str, Any], name: str
) -> None:
    """T-07: each parameter of the OpenRPC document is a property, in its order, with its schema, default and text."""
    schema, components = input_of(tools, name), document.get("components", {}).get("schemas", {})
    described = {param["name"]: param for param in document["methods"][name]["params"]}
    assert list(schema["properties"]) == list(described)
    for parameter, shown in expanded(schema["properties"], schema.get("$defs", {})).items():
        meant = expanded(described[parameter]["schema"], components)
        texts = {"description": described[parameter]["description"]} if "description" in described[parameter] else {}
        assert shown == {**meant, **texts}
    assert schema.get("required", []) == [param for param, said in described.items() if said["required"]]


def test_parameters_without_a_default_are_required(tools: dict[str, Any]) -> None:
    """T-07: what has no default is required; where everything has one, nothing is said."""
    assert input_of(tools, "In.order")["required"] == ["part", "count"]
    assert "required" not in input_of(tools, "Demo.greet")
    assert "required" not in input_of(tools, "In.nothing")


def test_defaults_are_shown(tools: dict[str, Any]) -> None:
    """T-07: a default is shown as JSON, null included; a required parameter has none."""
    properties = input_of(tools, "In.order")["properties"]
    shown = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    assert shown == {"note": "none", "colour": "blue", "sizes": [1, 2], "tree": None}


def test_parameter_docs_are_descriptions(tools: dict[str, Any]) -> None:
    """T-07: what the docstring says of a parameter is its description; one that it passes over has none."""
    properties = input_of(tools, "In.order")["properties"]
    said = {name: schema["description"] for name, schema in properties.items() if "description" in schema}
    assert said == {
        "part": "What to order.",
        "count": "How many of it, at least one.",
        "colour": "In which colour.",
    }


def test_references_stay_within_the_tool(tools: dict[str, Any]) -> None:
    """T-07: a tool's `$ref`s point into its own `$defs`, and there is nothing else in these."""
    assert any("$defs" in tool["inputSchema"] or "$defs" in tool.get("outputSchema", {}) for tool in tools.values())
    for tool in tools.values():
        schema = tool["inputSchema"]
        assert references(schema) == {f"#/$defs/{name}" for name in schema.get("$defs", {})}, tool["name"]


def test_dtos_and_enums_are_references(tools: dict[str, Any]) -> None:
    """T-07: DTOs and enums stand in `$defs`, and are referred to where they are used."""
    order, many = input_of(tools, "In.order"), input_of(tools, "In.many")
    assert order["properties"]["part"]["$ref"] == "#/$defs/Part"
    assert order["properties"]["colour"]["$ref"] == "#/$defs/Colour"
    assert order["$defs"]["Part"]["properties"]["colour"]["$ref"] == "#/$defs/Colour"
    assert order["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert many["properties"]["parts"]["items"] == {"$ref": "#/$defs/Part"}
    assert many["properties"]["sizes"]["additionalProperties"] == {"$ref": "#/$defs/Size"}


LEAF = {"name": "leaf", "part": {"name": "wheel", "colour": "red"}}
DEEP = {"name": "a", "children": [{"name": "b", "children": [LEAF]}]}
WRONG_LEAF = {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "part": {"name": "d", "colour": 1}}]}]}

STANDALONE = [
    pytest.param("In.order", {"part": {"name": "wheel"}, "count": 1, "tree": DEEP}, True, id="nested DTOs"),
    pytest.param("In.order", {"part": {"name": "wheel", "colour": "green"}, "count": 1}, False, id="no such member"),
    pytest.param("In.tree", {"root": DEEP}, True, id="a tree"),
    pytest.param("In.tree", {"root": WRONG_LEAF}, False, id="a tree with a wrong leaf"),
    pytest.param("In.mutual", {"odd": {"left": {"right": {"left": None}}}}, True, id="two that refer to each other"),
    pytest.param("In.mutual", {"odd": {"left": {"right": {"left": 1}}}}, False, id="a wrong one deep inside"),
]


@pytest.mark.parametrize(("name", "arguments", "fits"), STANDALONE)
def test_each_tool_stands_alone(tools: dict[str, Any], name: str, arguments: Schema, fits: bool) -> None:
    """T-07: the schema alone tells right from wrong, through references and recursion."""
    assert validator(input_of(tools, name)).is_valid(arguments) is fits


@pytest.mark.parametrize("name", METHODS)
def test_input_schemas_are_closed(tools: dict[str, Any], name: str) -> None:
    """T-07: `additionalProperties` is false, for a method without parameters too."""
    assert input_of(tools, name)["additionalProperties"] is False
    assert input_of(tools, name)["type"] == "object"


@pytest.mark.parametrize("client", [Stateless, Session])
def test_the_schema_to_the_letter(served: Daemon, client: Callable[[Daemon], Stateless | Session]) -> None:
    """T-08: `greet(who: str = "x") -> str` gives exactly this text, its members in this order."""
    answer = client(served).send("tools/list")
    listed = {tool["name"]: tool for tool in result_of(answer)["tools"]}
    assert f'"inputSchema":{EXACT},' in answer.text
    assert json.dumps(listed["Demo.greet"]["inputSchema"], separators=(",", ":")) == EXACT


def test_arrays_are_arrays_in_inputs(tools: dict[str, Any]) -> None:
    """T-11: arguments are not widened."""
    assert input_of(tools, "In.many")["properties"]["parts"]["type"] == "array"
    assert input_of(tools, "In.tree")["$defs"]["Node"]["properties"]["children"]["type"] == "array"
