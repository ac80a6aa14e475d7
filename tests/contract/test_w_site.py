"""W-01 to W-03, W-11 and W-12 as far as the daemon goes: tools are declared, sent to pages, and counted."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon

ROUTES = "pages: {resource: webmcp, prefix: /webmcp}\n"
SITE = """
import rpcgw as rpc
from rpcgw.api.webmcp import Manifest, Module, Navigate, Option


class Menu:
    def process(self, page):
        return {"menu": ["blog", "shop"]}


class Goto:
    name = "site_goto"

    def manifest(self, page, data):
        options = [Option(name, name.title(), f"/{name}/") for name in data["menu"]]
        return Manifest("site_goto", "Open a section.", Navigate(options, extra={"own": {"kept": True}}))


class Theme:
    name = "site_theme"

    def manifest(self, page, data):
        if page.path == "/print/":
            return None
        return Manifest("site_theme", "Switch the theme.", Module("/theme.mjs", {"key": "t"}), {"type": "object"})


plugin = rpc.Plugin(page_tools=[Goto, Theme], page_data=[Menu])
"""
OTHER = """
import rpcgw as rpc
from rpcgw.api.webmcp import Manifest, StaticList


class Hours:
    name = "shop_hours"

    def manifest(self, page, data):
        return Manifest("shop_hours", "When the shop is open.", StaticList([{"day": data["menu"][0]}]))


plugin = rpc.Plugin(page_tools=[Hours()])
"""
OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def d() -> Iterator[Daemon]:
    with daemon(routes=ROUTES, plugins={"own_site.py": SITE, "another.py": OTHER}) as running:
        yield running


def page(d: Daemon, path: str = "/") -> dict[str, Any]:
    """The configuration of a page."""
    told: dict[str, Any] = d.get(f"/webmcp/config.json?path={path}").json()
    return told


def tools(d: Daemon, path: str = "/") -> dict[str, dict[str, Any]]:
    """The tools of a page by name."""
    return {tool["name"]: tool for tool in page(d, path)["tools"]}


def rows(d: Daemon) -> list[tuple[Any, ...]]:
    """What the usage log of a daemon holds."""
    with contextlib.closing(sqlite3.connect(d.folder / "var" / "usage.db")) as log:
        return log.execute("SELECT tool, outcome, ms FROM webmcp_uses ORDER BY id").fetchall()


def test_tools_of_any_plugin(d: Daemon) -> None:
    """W-01: whatever plugins are there bring their tools, by being there, as classes or instances."""
    assert tools(d).keys() == {"site_goto", "site_theme", "shop_hours"}


def test_a_tool_is_left_out_of_a_page(d: Daemon) -> None:
    """W-02: None leaves a tool out of this page and of no other."""
    assert tools(d, "/print/").keys() == {"site_goto", "shop_hours"}


def test_what_processors_found(d: Daemon) -> None:
    """W-02: `data` carries what data processors put there, to the tools of every plugin."""
    assert [option["match"] for option in tools(d)["site_goto"]["data"]["options"]] == ["blog", "shop"]
    assert tools(d)["shop_hours"]["data"]["items"] == [{"day": "blog"}]


RENAMED = SITE.replace('Manifest("site_goto"', 'Manifest("goto"').replace('data["menu"]', '["blog"]')


def test_the_name_is_the_manifest_s() -> None:
    """W-02: a tool whose manifest has another name keeps the daemon from starting."""
    with pytest.raises(AssertionError, match="webmcp-name"), daemon(routes=ROUTES, plugins={"own_site.py": RENAMED}):
        pass


def test_the_whitelist_holds_tools_that_are_left_out() -> None:
    """W-02, W-11: beacons of every tool are counted, on whatever page it stands; of others none is."""
    with daemon(routes=ROUTES, plugins={"own_site.py": SITE}) as running:
        for number, tool in enumerate(("site_theme", "shop_hours", "site_goto")):
            beacon = {"tool": tool, "client": "ChatGPT", "call": f"{number:016}"}
            assert running.post("/webmcp/event", beacon, OURS).status == 204
        assert rows(running) == [("site_theme", None, None), ("site_goto", None, None)]


def test_a_call_is_counted_once_and_completed() -> None:
    """W-11: the first beacon counts the call, the second completes its row."""
    with daemon(routes=ROUTES, plugins={"own_site.py": SITE}) as running:
        assert page(running)["endpoint"] == "/webmcp/event"
        running.post("/webmcp/event", {"tool": "site_goto", "client": "", "call": "0123456789abcdef"}, OURS)
        assert rows(running) == [("site_goto", None, None)]
        running.post("/webmcp/event", {"call": "0123456789abcdef", "outcome": "ok", "ms": 12}, OURS)
        assert rows(running) == [("site_goto", "ok", 12)]


def test_a_manifest_on_the_wire(d: Daemon) -> None:
    """W-03: a primitive and its data are one value, and `moduleUrl` stands beside the data of a module."""
    theme = tools(d)["site_theme"]
    assert theme.pop("annotations")
    assert theme == {
        "name": "site_theme",
        "description": "Switch the theme.",
        "inputSchema": {"type": "object"},
        "primitive": "module",
        "data": {"key": "t"},
        "moduleUrl": "/theme.mjs",
    }
    goto = tools(d)["site_goto"]
    assert "moduleUrl" not in goto
    assert (goto["primitive"], goto["data"]["own"], goto["data"]["param"]) == ("navigate", {"kept": True}, "value")


DECLARED = {
    "ufo_json_rpc": {"security": {"protected_api": False}},
    "webmcp": {
        "sites": {
            "main": {
                "tools": {
                    "goto": {
                        "description": "Go.",
                        "navigate": {"options": [{"match": "a", "label": "A", "url": "/a"}]},
                    },
                    "find": {
                        "description": "Find.",
                        "search": {"index_url": "/i.json", "search_fields": ["t"], "result_fields": ["t"]},
                    },
                    "write": {
                        "description": "Write.",
                        "mailto": {"to": "info@example.org", "subject_template": "Hello"},
                    },
                    "list": {"description": "List.", "static": {"items": [{"title": "a"}]}},
                }
            }
        }
    },
}


def test_nobody_writes_javascript() -> None:
    """W-12: the four primitives are declared, in YAML too; all that runs in the page is the one script."""
    with daemon(config=DECLARED, routes=ROUTES) as running:
        found = {name: tool["primitive"] for name, tool in tools(running).items()}
        assert found == {"goto": "navigate", "find": "search", "write": "mailto", "list": "static"}
        assert all("moduleUrl" not in tool for tool in tools(running).values())
        assert running.get("/webmcp/webmcp.js").status == 200
