"""Settings of tools, as clients see them: names, references, arrays, pages, and how mistakes are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Session, Stateless, error_of, message_of, result_of
from tests.support.refusal import refusal
from tests.support.schemas import parts, references, validator

SHOP = """
from dataclasses import dataclass, field

import rpcgw as rpc


@dataclass
class Size:
    width: int
    height: int = 1


@dataclass
class Node:
    name: str
    size: Size
    children: list["Node"] = field(default_factory=list)


@rpc.procedure("Shop", groups=["plain", "tuned"], with_default=False)
class Shop:
    def fit(self, size: Size, tags: list[str] | None = None, times: int = 1) -> list[Size]:
        \"\"\"Fit a size.\"\"\"
        return [size] * times

    def tree(self, node: Node) -> Node:
        \"\"\"Take what contains itself.\"\"\"
        return node

    def strict(self, size: Size, times: int = 1) -> int:
        \"\"\"Fit nothing.\"\"\"
        return times


def one(self) -> int:
    \"\"\"Tell a number.\"\"\"
    return 1


names = [f"n{number:02}" for number in range(23)]
Many = rpc.procedure("Many", groups=["pages"], with_default=False)(type("Many", (), dict.fromkeys(names, one)))

plugin = rpc.Plugin(procedures=[Shop, Many])
"""
CONFIG = """
ufo_json_rpc:
  security: {protected_api: false}
defaults:
  tools: {page_size: 7}
groups:
  tuned:
    lenient_arguments: true
    validation_errors: tool
    tools: {naming: underscore, refs: inline, output_arrays: exact}
methods:
  Shop.strict: {lenient_arguments: false, validation_errors: protocol}
"""
GROUPS = ("plain", "tuned", "pages")
ROUTES = {group: {"resource": "mcp", "prefix": f"/{group}", "defaults": {"api_group": group}} for group in GROUPS}
SIZE = {"width": 2, "height": 3}

every_group = pytest.mark.parametrize("group", ["plain", "tuned"])


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """Two groups with the same tools, shown in two ways, and one with many."""
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": SHOP}) as running:
        yield running


@pytest.fixture
def plain(served: Daemon) -> Stateless:
    """Tools as they are without settings."""
    return Stateless(served, "/plain")


@pytest.fixture
def tuned(served: Daemon) -> Stateless:
    """Tools with every setting turned."""
    return Stateless(served, "/tuned")


def test_names_are_listed_as_the_group_says(plain: Stateless, tuned: Stateless) -> None:
    """`tools.naming`: dotted, the contract's way, unless underscores are asked for."""
    assert list(plain.tools()) == ["Shop.fit", "Shop.strict", "Shop.tree"]
    assert list(tuned.tools()) == ["Shop_fit", "Shop_strict", "Shop_tree"]


@every_group
@pytest.mark.parametrize("spelling", ["Shop.fit", "Shop_fit"])
def test_both_spellings_can_be_called(served: Daemon, group: str, spelling: str) -> None:
    """A client that rewrites names finds the tool, in either era, whichever of the two is listed."""
    for caller in (Stateless(served, f"/{group}"), Session(served, f"/{group}")):
        assert caller.result(spelling, {"size": SIZE})["structuredContent"] == {"result": [SIZE]}


def test_two_methods_of_one_name_keep_the_daemon_from_starting() -> None:
    """`tools.naming: underscore` where two names become one is refused at the start, with both names and a way out."""
    twice = """
    import rpcgw as rpc


    @rpc.procedure("Shop", groups=["shop"], with_default=False)
    class Dotted:
        def fit(self) -> int:
            return 1


    @rpc.procedure("", groups=["shop"], with_default=False)
    class Plain:
        def Shop_fit(self) -> int:
            return 2


    plugin = rpc.Plugin(procedures=[Dotted, Plain])
    """
    routes = {"shop": {"resource": "mcp", "prefix": "/mcp", "defaults": {"api_group": "shop"}}}
    config = {"ufo_json_rpc": {"security": {"protected_api": False}}, "defaults": {"tools": {"naming": "underscore"}}}
    refused = refusal(config=config, routes=routes, plugins={"shop.py": twice})
    assert refused.code == 78
    assert refused.about("tool-collision", "Shop.fit", "Shop_fit", "shop.py"), refused.said


def test_references_are_written_in_where_nothing_recurs(plain: Stateless, tuned: Stateless) -> None:
    """`tools.refs: inline`: references remain only where a type contains itself, and they are the tool's own."""
    assert references(plain.tools()["Shop.fit"]["inputSchema"]) == {"#/$defs/Size"}
    found = tuned.tools()
    fit, tree = found["Shop_fit"], found["Shop_tree"]
    assert references(fit["inputSchema"]) | references(fit["outputSchema"]) == set()
    assert fit["inputSchema"]["properties"]["size"]["properties"].keys() == {"width", "height"}
    assert references(tree["inputSchema"]) == {"#/$defs/Node"}
    assert tree["inputSchema"]["$defs"].keys() == {"Node"}


def test_inline_schemas_accept_what_the_others_accept(plain: Stateless, tuned: Stateless) -> None:
    """The form changes, not the meaning."""
    node = {"name": "a", "size": SIZE, "children": [{"name": "b", "size": {"width": 1}}]}
    samples = [{"node": node}, {"node": {**node, "size": {}}}, {"node": {**node, "children": [{}]}}, {}]
    given = [
        [validator(tools[name]["inputSchema"]).is_valid(sample) for sample in samples]
        for tools, name in ((plain.tools(), "Shop.tree"), (tuned.tools(), "Shop_tree"))
    ]
    assert given == [[True, False, False, False]] * 2


def test_arrays_are_exact_where_the_group_says_so(plain: Stateless, tuned: Stateless) -> None:
    """`tools.output_arrays`: widened (T-11), or exact; the input is never widened."""
    widened = [part["type"] for part in parts(plain.tools()["Shop.fit"]["outputSchema"]) if "items" in part]
    exact = [part["type"] for part in parts(tuned.tools()["Shop_fit"]["outputSchema"]) if "items" in part]
    assert (widened, exact) == ([["array", "object"]], ["array"])


@every_group
def test_every_array_says_what_it_holds(served: Daemon, group: str) -> None:
    """Several clients refuse a whole server over an array without `items`."""
    tools = Stateless(served, f"/{group}").tools()
    assert any("items" in part for part in parts([*tools.values()])), "there are arrays"
    for tool in tools.values():
        for part in parts([tool["inputSchema"], tool.get("outputSchema", {})]):
            kind = part.get("type")
            assert "items" in part or "array" not in (kind if isinstance(kind, list) else [kind]), tool["name"]


WRONG = {"size": SIZE, "times": "many"}


def test_wrong_arguments_are_a_protocol_error_by_default(plain: Stateless) -> None:
    """`validation_errors: protocol` (T-09)."""
    answer = plain.call("Shop.fit", WRONG)
    assert (answer.status, error_of(answer)["code"]) == (400, -32602)


@pytest.mark.parametrize("caller", [Stateless, Session])
def test_wrong_arguments_can_be_a_tool_error(served: Daemon, caller: Any) -> None:
    """`validation_errors: tool`: the model reads which argument is wrong, in either era."""
    result = caller(served, "/tuned").result("Shop_fit", WRONG)
    assert result["isError"] is True
    assert "structuredContent" not in result
    told = json.loads(result["content"][0]["text"])
    assert (told["code"], list(told["data"]["extra"])) == (-32602, ["times"])


def test_an_unknown_tool_is_a_protocol_error_all_the_same(tuned: Stateless) -> None:
    """There is no tool that could answer."""
    answer = tuned.call("Shop_none", {})
    assert (answer.status, error_of(answer)["code"]) == (400, -32602)


def test_lenient_arguments_mend_what_models_send(tuned: Stateless) -> None:
    """`lenient_arguments`: a null for a parameter with a default, an object that came as text, all of it as text."""
    for arguments in ({"size": json.dumps(SIZE), "times": None}, {"size": SIZE, "times": None}):
        assert tuned.result("Shop_fit", arguments)["structuredContent"] == {"result": [SIZE]}
    answer = tuned.send("tools/call", {"name": "Shop_fit", "arguments": json.dumps({"size": SIZE})})
    assert result_of(answer)["structuredContent"] == {"result": [SIZE]}


def test_arguments_are_taken_as_they_are_by_default(plain: Stateless) -> None:
    """Without the setting, the schema is what holds."""
    for arguments in ({"size": json.dumps(SIZE)}, {"size": SIZE, "times": None}):
        assert error_of(plain.call("Shop.fit", arguments))["code"] == -32602


def test_a_method_can_differ_from_its_group(tuned: Stateless) -> None:
    """`methods.<name>` goes before the group."""
    answer = tuned.call("Shop_strict", {"size": json.dumps(SIZE)})
    assert (answer.status, error_of(answer)["code"]) == (400, -32602)


def pages(caller: Stateless | Session) -> list[list[str]]:
    """Follow the cursors to the end."""
    found, cursor = [], None
    while True:
        result = result_of(caller.send("tools/list", {} if cursor is None else {"cursor": cursor}))
        found.append([tool["name"] for tool in result["tools"]])
        if "nextCursor" not in result:
            return found
        cursor = result["nextCursor"]


@pytest.mark.parametrize("caller", [Stateless, Session])
def test_pages_concatenate_to_the_whole_list(served: Daemon, caller: Any) -> None:
    """`tools.page_size`: each page is full but the last, which names no next one."""
    found = pages(caller(served, "/pages"))
    assert [len(page) for page in found] == [7, 7, 7, 2]
    assert [name for page in found for name in page] == [f"Many.n{number:02}" for number in range(23)]


@pytest.mark.parametrize("cursor", ["", "bogus", 1, "ffffffffffff.1"])
def test_a_cursor_that_nobody_gave_is_refused(served: Daemon, cursor: object) -> None:
    """MCP, Pagination: an invalid cursor is `-32602`."""
    answer = Stateless(served, "/pages").send("tools/list", {"cursor": cursor})
    assert (answer.status, error_of(answer)["code"]) == (400, -32602)
    answer = Session(served, "/pages").send("tools/list", {"cursor": cursor})
    assert (answer.status, message_of(answer)["error"]["code"]) == (200, -32602)
