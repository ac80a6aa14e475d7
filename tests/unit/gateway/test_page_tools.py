"""The tools of a site when a configuration is compiled, and when a page is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.api.errors import ConfigError
from rpcgw.api.webmcp import Call, Manifest, Navigate, Option, PageContext, Primitive, StaticList
from rpcgw.testing import open_gateway
from rpcgw.testing.compiling import compile_plugin

LIST = StaticList([{"title": "a"}])


@rpc.procedure("Shop", groups=["public", "staff"], with_default=False)
class Shop:
    """A shop."""

    @rpc.tool(read_only=True)
    def find(self, query: str) -> list[str]:
        """Find products."""
        return [query]


class Tool:
    """A tool that is the same on every page."""

    def __init__(self, name: str = "tool", primitive: Primitive = LIST, description: str = "What it does.") -> None:
        self.name = name
        self._manifest = Manifest(name, description, primitive)

    def manifest(self, page: PageContext, data: Mapping[str, Any]) -> Manifest | None:
        """Itself."""
        del page, data
        return self._manifest


class NeedsData(Tool):
    """A tool that cannot be tried without data."""

    def manifest(self, page: PageContext, data: Mapping[str, Any]) -> Manifest | None:
        """One option for each entry of the menu."""
        return Manifest(self.name, "Go.", Navigate([Option(name, name, page.url(f"/{name}")) for name in data["menu"]]))


class Renamed(Tool):
    """A tool whose manifest has another name."""

    def manifest(self, page: PageContext, data: Mapping[str, Any]) -> Manifest | None:
        """Somebody else."""
        del page, data
        return Manifest("other", "What.", LIST)


class NoManifest(Tool):
    """A tool that gives something else."""

    def manifest(self, page: PageContext, data: Mapping[str, Any]) -> Any:
        """A mapping."""
        del page, data
        return {}


class Menu:
    """What tools need."""

    def process(self, page: PageContext) -> Mapping[str, Any]:
        """A menu."""
        return {"menu": ["a", "b"], "path": page.path}


class NeedsArguments(Tool):
    """A tool that cannot be made."""

    def __init__(self, store: object) -> None:
        super().__init__()
        self.store = store


class Fails(Tool):
    """A tool whose constructor fails."""

    def __init__(self) -> None:
        raise OSError("no disk")


def problems(plugin: rpc.Plugin, tmp_path: Path, **settings: Any) -> list[tuple[str, str, str]]:
    """The code, level and text of each problem."""
    given = {"name": "shop", "config": None, "environment": "prod", "state_dir": str(tmp_path)}
    try:
        found = compile_plugin(plugin, settings=settings, **given).warnings  # type: ignore[arg-type]  # as named
    except ConfigError as error:
        found = tuple(error.problems)
    return [(each.code, each.level, each.text) for each in found if each.code.startswith(("webmcp", "unknown"))]


def site(**own: Any) -> dict[str, Any]:
    return {"webmcp": {"sites": {"main": own}}}


CALL = Call("Shop.find", "public")
TABLE = [
    pytest.param([Tool()], {}, [], id="a tool that is fine"),
    pytest.param([Tool], {}, [], id="a class that is fine"),
    pytest.param([Tool(primitive=CALL, description="")], {}, [], id="a call that its method describes"),
    pytest.param([Tool("a"), Tool("a")], {}, [("webmcp-duplicate", "error")], id="two of one name"),
    pytest.param([Tool(description="")], {}, [("webmcp-description", "error")], id="no description"),
    pytest.param([Renamed("tool")], {}, [("webmcp-name", "error")], id="another name"),
    pytest.param([NoManifest()], {}, [("webmcp-provider", "error")], id="no manifest"),
    pytest.param([NeedsData("x")], {}, [("webmcp-provider", "warning")], id="data that nobody looks up"),
    pytest.param([NeedsArguments], {}, [("webmcp-provider", "error")], id="a class that needs arguments"),
    pytest.param([Fails], {}, [("webmcp-provider", "error")], id="a class that fails"),
    pytest.param([object()], {}, [("webmcp-provider", "error")], id="no tool at all"),
    pytest.param([Tool(primitive=Call("Shop.none", "public"))], {}, [("webmcp-call", "error")], id="a method that there is not"),
    pytest.param([Tool(primitive=Call("Shop.find", "public", 2))], {}, [("webmcp-call", "error")], id="a version that there is not"),
    pytest.param([Tool(primitive=Call("Shop.find", "none"))], {}, [("webmcp-call", "error")], id="a group that there is not"),
    pytest.param(
        [Tool(primitive=Call("Shop.find", "staff"))],
        {"ufo_json_rpc": {"security": {"clients_tokens": ["t"], "providers": {"staff": {"protected_api": True}}}}},
        [("webmcp-call", "warning")],
        id="a group that asks for a token",
    ),
    pytest.param(
        [Tool(primitive=CALL, description="")],
        {"methods": {"Shop.find": {"scopes": ["staff"]}}},
        [("webmcp-call", "warning")],
        id="a method that asks for scopes",
    ),
    pytest.param([Tool(f"t{number}") for number in range(51)], {}, [("webmcp-budget", "warning")], id="too many tools"),
    pytest.param([Tool(), Tool("x" * 31)], site(disabled=["x" * 31]), [("webmcp-budget", "warning")], id="what is off is looked at, too"),
    pytest.param([Tool()], site(disabled=["nothing"]), [("webmcp-unknown-tool", "warning")], id="switching off what there is not"),
    pytest.param([Tool()], site(plugins=["nobody"]), [("unknown-plugin", "error")], id="a plugin that there is not"),
    pytest.param([Tool("x" * 31)], {"webmcp": {"strict": True}}, [("webmcp-budget", "error")], id="a warning, strictly"),
]  # fmt: skip


@pytest.mark.parametrize(("tools", "settings", "expected"), TABLE)
def test_compile_time(
    tools: list[object], settings: dict[str, Any], expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    """Every mistake that can be seen before a page is asked for is seen then, and named by its class."""
    found = problems(rpc.Plugin(procedures=[Shop], page_tools=tools), tmp_path, **settings)
    assert [(code, level) for code, level, _ in found] == expected, found


def test_a_tool_that_needs_data_is_only_noted(tmp_path: Path) -> None:
    """Where a data processor stands, a tool that cannot be tried without data is no mistake."""
    found = problems(rpc.Plugin(page_tools=[NeedsData("x")], page_data=[Menu]), tmp_path)
    assert [(code, level) for code, level, _ in found] == [("webmcp-provider", "note")]


def test_a_page(tmp_path: Path) -> None:
    """Authors look at their pages in their tests: with the data of processors, and in the page's language."""
    plugin = rpc.Plugin(page_tools=[NeedsData("go")], page_data=[Menu()])
    with open_gateway(plugin, tmp_path, name="shop", settings=site(url="https://www.example.org")) as gateway:
        page = gateway.page("/x/", locale="uk")
    assert (page["site"], page["locale"], page["messages"]["decline"]) == ("main", "uk", "Скасувати")
    (tool,) = page["tools"]
    assert [option["url"] for option in tool["data"]["options"]] == [
        "https://www.example.org/a",
        "https://www.example.org/b",
    ]


class Leads(Tool):
    """A tool that leads to where the page says."""

    def manifest(self, page: PageContext, data: Mapping[str, Any]) -> Manifest | None:
        """To the path, as an address."""
        del data
        return Manifest(self.name, "Go.", Navigate([Option("x", "X", page.query.get("to", "/"))]))


def test_what_is_wrong_on_a_page_is_left_out_of_it(tmp_path: Path) -> None:
    """What was fine when it was tried is looked at again on each page."""
    plugin = rpc.Plugin(page_tools=[Leads("go"), Tool("stays")])
    with open_gateway(plugin, tmp_path, name="shop") as gateway:
        assert [tool["name"] for tool in gateway.page("/?to=/a")["tools"]] == ["go", "stays"]
        assert [tool["name"] for tool in gateway.page("/?to=javascript:x")["tools"]] == ["stays"]
        (event,) = gateway.events("webmcp.omitted")
    assert event.fields["tool"] == "go"
    assert "primitive.options.0.url has the scheme javascript" in event.fields["reason"]
