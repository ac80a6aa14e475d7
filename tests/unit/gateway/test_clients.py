"""What `rpcgw check` says of tools that clients would not take as they are."""

from __future__ import annotations

from typing import Any

import pytest

import rpcgw as rpc
from rpcgw.config.loading import compile_settings
from rpcgw.config.sources import Sources
from rpcgw.discovery.found import Candidate, LoadedPlugin
from rpcgw.gateway.clients import client_problems
from rpcgw.gateway.compile import compile_gateway
from rpcgw.gateway.plugins import Imported

ROUTES = """\
shop: {resource: mcp, prefix: /shop, defaults: {api_group: shop}}
office: {resource: mcp, prefix: /office, defaults: {api_group: office}}
"""
OPEN = "ufo_json_rpc: {security: {protected_api: false}}\n"
BUDGET_ROUTES = "many: {resource: mcp, prefix: /many, defaults: {api_group: many}}\n"
NODE: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
TREE = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}}


@rpc.procedure("Shop", groups=["shop", "office"], with_default=False)
class Shop:
    def find(self, query: str) -> str:
        """Find what is sold."""
        return query

    def bare(self) -> str:
        return ""


@rpc.procedure("Shop", version=2, groups=["shop"], with_default=False)
class ShopV2:
    def count(self) -> int:
        """Count what is sold."""
        return 0


@rpc.procedure("Tree", groups=["office"], with_default=False)
class Tree:
    @rpc.tool(input_schema=TREE)
    def walk(self, root: Any) -> str:
        """Walk a tree."""
        return str(root)


def many() -> type:
    def one(self: object) -> str:
        """Do one thing."""
        return ""

    members = {f"m{number}": one for number in range(41)}
    return rpc.procedure("Many", groups=["many"], with_default=False)(type("Many", (), members))


def said(gateway: str, *procedures: type, routes: str = ROUTES) -> list[str]:
    texts = {"gateway.yaml": f"{gateway}\n{OPEN}", "routes.yaml": routes}
    loaded = compile_settings(Sources("gateway.yaml", "/srv", texts), env={})
    candidate = Candidate("p", "p:plugin", "p", "1", "file", "p.py")
    plugin = LoadedPlugin(candidate, rpc.Plugin(procedures=procedures))
    compiled = compile_gateway(loaded, Imported((plugin,)))
    return [f"{problem.place.file}:{problem.place.line}: {problem.level}[{problem.code}] {problem.text} ({problem.hint})" for problem in client_problems(compiled)]  # fmt: skip


UNDERSCORE = "groups: {shop: {tools: {naming: underscore}}, office: {tools: {naming: underscore}}}"
BARE = (
    "warning[client-no-description] 1 tool has no description beyond the name: Shop_bare; clients leave the model to "
    "guess from the name (write a docstring, or a text in a catalogue)"
)


def test_a_choice_is_a_note_for_each_group() -> None:
    """What a setting mends is said once for a group, over all its versions, at its route."""
    shop, office, *rest = said("", Shop, ShopV2)
    assert shop == (
        "routes.yaml:1: note[client-dotted-name] shop: 3 tools have a dot in the name: Shop.bare, Shop.count, "
        "Shop.find; claude.ai, Claude Desktop, OpenAI Responses API, ChatGPT and Codex take letters, digits, _ and - "
        "only, and may drop the whole server (groups: {shop: {tools: {naming: underscore}}} mends it; to write naming: "
        "dotted says that it is meant)"
    )
    assert office.startswith("routes.yaml:2: note[client-dotted-name] office: 2 tools have a dot in the name")
    assert len(rest) == 1


@pytest.mark.parametrize(
    "gateway",
    [
        pytest.param("defaults: {tools: {naming: dotted}}", id="for all"),
        pytest.param("groups: {shop: {tools: {naming: dotted}}, office: {tools: {naming: dotted}}}", id="by group"),
        pytest.param(UNDERSCORE, id="mended"),
    ],
)
def test_what_is_written_down_is_meant(gateway: str) -> None:
    """Nobody is told of a choice that he has made."""
    assert [line for line in said(gateway, Shop) if "dotted-name" in line] == []


def test_authors_are_told_once() -> None:
    """What a tool's author can mend is a warning at the tool, said once for all groups."""
    (line,) = said(UNDERSCORE, Shop)
    assert line.endswith(BARE)
    assert line.startswith(__file__)


def test_what_a_setting_does_not_mend() -> None:
    """A schema that names itself stays a reference: then it is the author's."""
    gateway = "groups: {office: {tools: {naming: underscore, refs: inline}}}"
    lines = said(gateway, Tree)
    assert [line.partition(": ")[2].partition("]")[0] for line in lines] == ["warning[client-references"]


def test_budget() -> None:
    """A list that some clients cut is a note at the route."""
    (line,) = said("defaults: {tools: {naming: underscore}}", many(), routes=BUDGET_ROUTES)
    assert line == (
        "routes.yaml:1: note[client-several-tools] many: 41 tools, and Cursor may send only the first 40 to the model "
        "(split the group in two)"
    )
