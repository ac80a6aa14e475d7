"""The method table as the gateway gets it."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Annotated, Any

import pytest
from typing_extensions import Doc

import rpcgw as rpc
from rpcgw.kernel.builtin import Ping
from rpcgw.kernel.method import ErrorDoc
from rpcgw.kernel.table import MethodTable, Registration, compile_methods


class Colour(enum.StrEnum):
    RED = "red"


@dataclasses.dataclass
class Product:
    """A product."""

    id: int
    colour: Colour = Colour.RED


class OutOfStock(rpc.ApplicationError):
    code = 4010
    default_message = "Out of stock"


@rpc.procedure("Catalog", groups=["mcp", "internal"], with_default=False)
class Catalog:
    @rpc.tool(title="Search", read_only=True)
    @rpc.cache(ttl=60)
    async def search(self, query: str, limit: Annotated[int, Doc("At most so many.")] = 10) -> list[Product]:  # noqa: D417 -- Doc says it
        """Find products by name.

        Args:
            query: Words to look for.
            limit:

        Returns:
            The best first.

        Raises:
            rpc.DataNotFound: Nothing fits.
            OutOfStock: Sold.
            KeyError: Broken.
            ValueError: Broken too.
        """
        return []

    @rpc.invalidates("Catalog.search")
    @rpc.lock(by="product")
    def rename(self, product: Product) -> Product:
        return product


@rpc.procedure("Admin", groups=["internal"], with_default=False)
class Admin:
    def wipe(self) -> None: ...


@rpc.procedure("Catalog", groups=["mcp"], with_default=False, version=2, removed=["rename"])
class Catalog2:
    def count(self) -> int:
        return 0


@rpc.procedure("Bad")
class Bad:
    @rpc.invalidates("Catalog.nosuch")
    def method(self, c: complex, *args: int) -> int:
        return 1


def compiled(*procedures: type | object) -> MethodTable:
    table, problems = compile_methods([Registration(procedure, "shop") for procedure in procedures])
    assert problems == []
    return table


def names(table: MethodTable, group: str, version: int = 1) -> list[str]:
    return list(table.methods(group, version) or {})


def test_groups_and_versions() -> None:
    """C-18, C-20: each group has its own methods, and the versions that its procedures declare."""
    table = compiled(Catalog, Admin, Catalog2)
    assert table.groups == ("general", "internal", "mcp")
    assert table.versions("mcp") == (1, 2)
    assert table.versions("internal") == (1,)
    assert names(table, "mcp") == ["Catalog.rename", "Catalog.search"]
    assert names(table, "internal") == ["Admin.wipe", "Catalog.rename", "Catalog.search"]
    assert names(table, "mcp", 2) == ["Catalog.count", "Catalog.search"]
    assert table.methods("mcp", 3) is None
    assert table.methods("nosuch", 1) is None
    assert table.versions("nosuch") == ()


def test_ping_is_in_general_alone() -> None:
    """C-20: the built-in ping belongs to `general`, whose version 1 is always there."""
    table = compiled()
    assert names(table, "general") == ["ping"]
    assert table.groups == ("general",)
    (ping,) = (table.methods("general", 1) or {}).values()
    assert (ping.procedure, ping.call(Ping().ping, {}, None)) == (Ping, "PONG")  # type: ignore[arg-type]  # no context is taken


def test_a_method_is_compiled_once() -> None:
    """Groups and versions that share a method share the compiled one."""
    table = compiled(Catalog, Admin, Catalog2)
    places = [("mcp", 1), ("mcp", 2), ("internal", 1)]
    assert len({id((table.methods(*place) or {})["Catalog.search"]) for place in places}) == 1


def test_what_a_method_says_of_itself() -> None:
    """Texts, marks, kinds and documents come from where the author wrote them."""
    method = (compiled(Catalog).methods("mcp", 1) or {})["Catalog.search"]
    assert method.title == "Search"
    assert method.description == "Find products by name."
    assert (method.is_async, method.plugin, method.attribute, method.version) == (True, "shop", "search", 1)
    assert method.tool.read_only is True
    assert method.cache == rpc.cache(ttl=60)(lambda: None).__dict__["__rpcgw_marks__"].popitem()[1]
    assert [(p.name, p.description, p.required) for p in method.params] == [
        ("query", "Words to look for.", True),
        ("limit", "At most so many.", False),
    ]
    assert [p.schema for p in method.params] == [b'{"type":"string"}', b'{"type":"integer","default":10}']
    assert (method.result.name, method.result.description) == ("list[Product]", "The best first.")
    assert method.result.schema == b'{"type":"array","items":{"$ref":"#/components/schemas/Product"}}'
    assert method.errors == (
        ErrorDoc(-32404, rpc.DataNotFound.default_message, "Nothing fits."),
        ErrorDoc(4010, "Out of stock", "Sold."),
        ErrorDoc(-32603, rpc.InternalError.default_message, "Broken."),
    )


def test_tool_schemas() -> None:
    """T-07, T-10: what MCP publishes."""
    method = (compiled(Catalog).methods("mcp", 1) or {})["Catalog.search"]
    assert json.loads(method.input_schema) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for."},
            "limit": {"type": "integer", "description": "At most so many.", "default": 10},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert method.output_schema is not None
    assert json.loads(method.output_schema)["properties"] == {
        "result": {"type": ["array", "object"], "items": {"$ref": "#/$defs/Product"}}
    }


def test_components_are_what_the_document_needs() -> None:
    """An OpenRPC document has the components that its methods reach, and no others."""
    table = compiled(Catalog, Admin)
    components = table.components("mcp", 1)
    assert list(components) == ["Colour", "Product"]
    assert components["Colour"]["x-ufo-enum"] == {"name": "Colour", "values": {"RED": "red"}}
    assert components["Product"]["properties"]["colour"]["$ref"] == "#/components/schemas/Colour"
    assert table.components("general", 1) == {}


def test_an_instance_is_registered_like_its_class() -> None:
    """A plugin may bring an object that is ready."""
    assert names(compiled(Catalog()), "mcp") == ["Catalog.rename", "Catalog.search"]


def test_the_same_procedure_twice_is_one() -> None:
    """A procedure that is named twice is no conflict with itself."""
    assert len(compiled(Catalog, Catalog).procedures) == 2


@pytest.mark.parametrize(
    "said",
    [
        "error[no-schema] Bad.method: parameter 'c': complex has no JSON form",
        "error[variadic] Bad.method: *args cannot be part of an API",
        "error[invalidates] Bad.method: @rpc.invalidates names 'Catalog.nosuch', which is no method",
    ],
)
def test_every_problem_is_found_in_one_go(said: str) -> None:
    """One compile lists all mistakes, sorted by place; the rest of the table is there."""
    table, problems = compile_methods([Registration(Bad), Registration(Catalog)])
    assert said in [f"{p.level}[{p.code}] {p.text}" for p in problems]
    assert problems == sorted(problems)
    assert names(table, "mcp") == ["Catalog.rename", "Catalog.search"]


def test_another_plugin_does_not_change_a_tool() -> None:
    """A class of the same name elsewhere leaves a tool's bytes alone, and gets a longer name in OpenRPC."""

    @rpc.procedure("Other")
    class Other:
        def method(self, product: other_product()) -> None: ...  # type: ignore[valid-type]  # what is tested

    alone = (compiled(Catalog).methods("mcp", 1) or {})["Catalog.rename"]
    table, problems = compile_methods([Registration(Catalog), Registration(Other)])
    together = (table.methods("mcp", 1) or {})["Catalog.rename"]
    assert [problem for problem in problems if problem.level == "error"] == []
    assert together.input_schema == alone.input_schema
    assert list(table.components("mcp", 1)) == ["Colour", "Product"]


def test_names_of_components_are_those_of_one_document() -> None:
    """Two classes of one name are told apart where they stand in one document, and only there."""

    @rpc.procedure("Other", groups=["internal"])
    class Other:
        def get(self, product: other_product()) -> None: ...  # type: ignore[valid-type]  # what is tested

    table, _ = compile_methods([Registration(Catalog), Registration(Other)])
    alone = table.documented("general", 1)["Other.get"]
    assert list(table.components("general", 1)) == ["Product"]
    assert alone.params[0].schema == b'{"$ref":"#/components/schemas/Product"}'
    assert table.documented("mcp", 1)["Catalog.search"].result.schema.endswith(b'/schemas/Product"}}')
    together = table.documented("internal", 1)["Other.get"]
    named = json.loads(together.params[0].schema)["$ref"].rpartition("/")[2]
    assert [name for name in table.components("internal", 1) if name.endswith("_Product")] == sorted(
        [f"{__name__.replace('.', '_')}_Product", named]
    )


def other_product() -> Any:
    @dataclasses.dataclass
    class Product:
        sku: str

    return Product
