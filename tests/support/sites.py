"""A small site for tests of its pages: a plugin with tools, a method that pages call, and what is asked of them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from tests.support.daemon import Daemon
from tests.support.http import Answer

PLUGIN = '''
import rpcgw as rpc
from rpcgw.api.webmcp import Manifest, Navigate, Option, StaticList


@rpc.procedure("Catalog", groups=["public", "staff"], with_default=False)
class Catalog:
    @rpc.tool(read_only=True)
    def find(self, query: str, limit: int = 3) -> list[str]:
        """Find products by name.

        Args:
            query: Words to look for.
        """
        return [f"{query} {number}" for number in range(1, limit + 1)]

    def order(self, name: str) -> str:
        """Order a product."""
        return f"ordered {name}"

    def who(self, ctx: rpc.CallContext) -> dict[str, str]:
        """Say who calls."""
        return {"principal": ctx.principal.name, "surface": ctx.surface, "group": ctx.group}

    def broken(self) -> str:
        """Fail."""
        raise OSError("the disk of the shop is full")


class Menu:
    """What later processors and tools know of the site."""

    order = 1

    def process(self, page):
        return {"menu": ["blog", "shop"]}


class Counted:
    """Comes first, though it is brought later."""

    order = 0

    async def process(self, page):
        return {"first": not page.data}


class Goto:
    name = "site_goto"

    def manifest(self, page, data):
        return Manifest(
            "site_goto",
            "Open a section of the site.",
            Navigate([Option(name, name.title(), f"/{name}/") for name in data["menu"]]),
        )


class Hours:
    name = "site_hours"

    def manifest(self, page, data):
        if page.path != "/contact/":
            return None
        return Manifest("site_hours", "When the shop is open.", StaticList([{"day": "Monday", "first": data["first"]}]))


plugin = rpc.Plugin(procedures=[Catalog], page_tools=[Goto(), Hours], page_data=[Menu, Counted])
'''
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {
            "protected_api": False,
            "clients_tokens": ["staff-token"],
            "providers": {"staff": {"protected_api": True}},
        }
    },
    "webmcp": {
        "sites": {
            "main": {
                "url": "https://www.example.org/",
                "origins": ["https://www.example.org"],
                "targets": ["https://shop.example.org"],
                "tools": {
                    "shop_find": {"call": {"method": "Catalog.find", "group": "public"}},
                    "shop_order": {"call": {"method": "Catalog.order", "group": "public"}},
                    "shop_who": {
                        "read_only": True,
                        "call": {"method": "Catalog.who", "group": "public"},
                    },
                    "shop_broken": {"read_only": True, "call": {"method": "Catalog.broken", "group": "public"}},
                    "staff_who": {"read_only": True, "call": {"method": "Catalog.who", "group": "staff"}},
                },
            }
        }
    },
}
ROUTES = """\
rpc: {resource: rpc, prefix: /rpc, defaults: {api_group: public}}
staff: {resource: rpc, prefix: /staff, defaults: {api_group: staff}}
pages: {resource: webmcp, prefix: /webmcp}
"""
OURS = {"Origin": "https://www.example.org", "Sec-Fetch-Site": "same-origin"}
CALL = "0123456789abcdef0123456789abcdef"


def configured(**changes: Any) -> dict[str, Any]:
    """The configuration with other settings of `webmcp`, and of its site under `site`."""
    changed: dict[str, Any] = json.loads(json.dumps(CONFIG))
    changed["webmcp"]["sites"]["main"] |= changes.pop("site", {})
    changed["webmcp"] |= changes
    return changed


def tools(d: Daemon, path: str = "/", prefix: str = "/webmcp") -> dict[str, dict[str, Any]]:
    """The tools of a page, by name."""
    answer = d.get(f"{prefix}/config.json?path={path}")
    assert answer.status == 200, answer.text
    return {tool["name"]: tool for tool in answer.json()["tools"]}


def send(d: Daemon, beacon: Any, headers: Mapping[str, str] = OURS, path: str = "/webmcp/event") -> Answer:
    """Send a beacon, from one of the site's own pages unless `headers` say otherwise."""
    return d.post(path, beacon, headers)


def begin(tool: str = "site_goto", client: str = "ChatGPT", call: str = CALL) -> dict[str, str]:
    """The beacon of a call that begins."""
    return {"tool": tool, "client": client, "call": call}


def stored(d: Daemon) -> list[tuple[Any, ...]]:
    """What the usage log holds: site, tool, client, outcome and milliseconds of each call, in order."""
    path = d.folder / "var" / "usage.db"
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(path)) as log:
        try:
            return log.execute("SELECT site, tool, client, outcome, ms FROM webmcp_uses ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            return []


def call(d: Daemon, tool: str, arguments: Any = None, headers: Mapping[str, str] = OURS, **more: Any) -> Answer:
    """Call a method as a page would: with the token of the page."""
    token = tools(d)[tool]["data"]["token"]
    return d.post("/webmcp/call", {"tool": tool, "token": token, "arguments": arguments or {}, **more}, headers)
