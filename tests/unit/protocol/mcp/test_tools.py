"""Tools: names, spellings, collisions, schemas in the form that a group asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

import rpcgw as rpc
from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp.tools import ToolSettings, build

Compile = Callable[..., Mapping[str, Method]]


@dataclass
class Point:
    """Where."""

    x: int
    y: int


def procedure(alias: str, *names: str) -> type:
    """A class with methods of these names, none of which takes anything."""

    def method(self: object) -> list[int]:
        """Do nothing."""
        return []

    return rpc.procedure(alias, groups=["demo"], with_default=False)(type("Made", (), dict.fromkeys(names, method)))


@rpc.procedure("Map", groups=["demo"], with_default=False)
class Map:
    """Points."""

    def place(self, point: Point) -> list[Point]:
        """Place a point."""
        return [point]

    @rpc.tool(input_schema={"type": "object", "properties": {"anything": {"$ref": "#/$defs/X"}}, "$defs": {"X": {}}})
    def verbatim(self, anything: Any = None) -> Any:
        """Take anything."""


def test_tools_are_sorted_and_named_like_their_methods(methods: Compile) -> None:
    """T-01, T-02: dotted names, in the order of names whatever the order of classes."""
    toolbox, problems = build(methods(procedure("Z", "b", "a"), procedure("A", "z")), ToolSettings())
    assert [tool.name for tool in toolbox.listed] == ["A.z", "Z.a", "Z.b"]
    assert problems == []


def test_either_spelling_may_be_called(methods: Compile) -> None:
    """`Catalog_search` finds `Catalog.search`, whichever of the two is listed."""
    found = methods(procedure("Catalog", "search"))
    for naming, name in (("dotted", "Catalog.search"), ("underscore", "Catalog_search")):
        toolbox, _ = build(found, ToolSettings(naming=naming))  # type: ignore[arg-type]  # two of its literals
        assert [tool.name for tool in toolbox.listed] == [name]
        assert toolbox.by_name["Catalog_search"] is toolbox.by_name["Catalog.search"] is toolbox.listed[0]


def test_a_name_of_its_own_comes_before_another_spelling(methods: Compile) -> None:
    """Where `a_b` is a method, it is not taken for `a.b`."""
    toolbox, problems = build(methods(procedure("a", "b"), procedure("", "a_b")), ToolSettings())
    assert problems == []
    assert toolbox.by_name["a_b"].method.name == "a_b"


def test_two_methods_of_one_tool_name_are_a_problem(methods: Compile) -> None:
    """`tools.naming: underscore` where two names become one: the problem names both and the way out."""
    _, problems = build(methods(procedure("a", "b"), procedure("", "a_b")), ToolSettings(naming="underscore"))
    (problem,) = problems
    assert problem.code == "tool-collision"
    assert "a.b" in problem.text
    assert "a_b" in problem.text


def test_a_name_that_some_clients_refuse_is_a_warning(methods: Compile) -> None:
    """Over 64 characters several clients drop a tool, or the whole server."""
    for alias, codes in (("X" * 61, []), ("X" * 62, [("tool-name-long", "warning")])):
        _, problems = build(methods(procedure(alias, "go")), ToolSettings())
        assert [(problem.code, problem.level) for problem in problems] == codes


def test_schemas_are_sent_as_the_kernel_made_them(methods: Compile) -> None:
    """T-07, T-10, T-11: by default not a byte is changed."""
    found = methods(Map)
    tool = build(found, ToolSettings())[0].by_name["Map.place"]
    assert tool.input_schema is found["Map.place"].input_schema
    assert tool.output_schema is found["Map.place"].output_schema
    assert b'["array","object"]' in (tool.output_schema or b"")


def test_definitions_can_stand_where_they_are_used(methods: Compile) -> None:
    """`tools.refs: inline`: no reference is left where nothing is recursive; a schema of the author's own stays."""
    toolbox = build(methods(Map), ToolSettings(refs="inline"))[0]
    tool = toolbox.by_name["Map.place"]
    assert b"$ref" not in tool.input_schema + (tool.output_schema or b"")
    assert json.loads(tool.input_schema)["properties"]["point"]["properties"].keys() == {"x", "y"}
    assert json.loads(toolbox.by_name["Map.verbatim"].input_schema)["$defs"] == {"X": {}}


def test_output_arrays_can_be_exact(methods: Compile) -> None:
    """`tools.output_arrays: exact` takes T-11's widening back."""
    tool = build(methods(Map), ToolSettings(output_arrays="exact"))[0].by_name["Map.place"]
    assert json.loads(tool.output_schema or b"")["properties"]["result"]["type"] == "array"


def test_an_annotation_that_clients_refuse_is_a_problem(methods: Compile) -> None:
    """A tool whose `x-mcp-header` breaks the rules would be left out by every client."""

    @rpc.procedure("Bad", groups=["demo"], with_default=False)
    class Bad:
        """A header of a kind that no header can carry."""

        def go(self, price: Annotated[float, Field(json_schema_extra={"x-mcp-header": "Price"})] = 0.0) -> None:
            """Go."""

    _, problems = build(methods(Bad), ToolSettings())
    (problem,) = problems
    assert problem.code == "mcp-header"
    assert problem.text.startswith("Bad.go: price: ")
    assert problem.place.line > 0
