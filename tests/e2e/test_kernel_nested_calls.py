"""Calls that procedures make out of calls: the same trace, the same group, and every check that a client would meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Stateless

PLUGIN = """
import asyncio
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

import rpcgw as rpc


@dataclass
class Order:
    item: str
    count: Annotated[int, Ge(1)] = 1


@rpc.procedure("Shop", groups=["shop"], with_default=False)
class Shop:
    runs = 0

    async def seen(self, ctx: rpc.CallContext) -> list[object]:
        return [ctx.ray_id, ctx.principal.name, ctx.group, ctx.version, ctx.locale, ctx.surface, ctx.method]

    async def order(self, order: Order) -> str:
        return f"{order.count} {order.item}"

    @rpc.cache(ttl=60)
    async def kept(self, key: str) -> int:
        Shop.runs += 1
        return Shop.runs

    @rpc.lock()
    async def locked(self, ctx: rpc.CallContext) -> object:
        return await ctx.call("Shop.locked")

    async def slow(self) -> None:
        await asyncio.sleep(60)

    async def endless(self, ctx: rpc.CallContext) -> object:
        return await ctx.call("Shop.endless")

    async def pass_on(self, ctx: rpc.CallContext, method: str, params: object = None) -> object:
        return await ctx.call(method, params)

    async def orders(self, ctx: rpc.CallContext) -> object:
        return [await ctx.call("Shop.order", {"order": Order("pot", 2)}), await ctx.call("Shop.order", [Order("pan")])]

    async def forgiving(self, ctx: rpc.CallContext) -> object:
        try:
            await ctx.call("Shop.order", {"order": {"count": 0}})
        except rpc.InvalidParams as error:
            return error.extra


@rpc.procedure("Shop", version=2, groups=["shop"], with_default=False)
class Shop2:
    async def order(self, order: Order) -> str:
        return f"{order.count} {order.item}, v2"


@rpc.procedure("Inner", groups=["inner"], with_default=False)
class Inner:
    async def secret(self) -> str:
        return "secret"


@rpc.listens(rpc.RequestReceived)
async def see(event):
    if event.context.method == "Shop.slow" and event.params:
        raise rpc.LogicError("refused by a listener")


plugin = rpc.Plugin(procedures=[Shop, Shop2, Inner], listeners=[see])
"""
CONFIG: dict[str, Any] = {
    "ufo_json_rpc": {
        "security": {"protected_api": False, "providers": {"shop": {"protected_api": True, "clients_tokens": ["tok"]}}}
    },
    "methods": {"Shop.pass_on": {"deadline": 0.5}},
    "environment": "prod",
}
ROUTES = {
    "shop": {"resource": "rpc", "prefix": "/shop", "defaults": {"api_group": "shop"}},
    "tools": {"resource": "mcp", "prefix": "/tools", "defaults": {"api_group": "shop"}},
    "inner": {"resource": "rpc", "prefix": "/inner", "defaults": {"api_group": "inner"}},
}
TOKEN = {"Ufo-RPC-Token": "tok"}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def ask(served: Daemon, method: str, params: Any = None, path: str = "/shop") -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": "one", "method": f"Shop.{method}", "params": params}
    answer: dict[str, Any] = served.post(path, message, TOKEN).json()
    return answer


def test_a_call_out_of_a_call_is_of_the_same_trace(served: Daemon) -> None:
    """A-RPC-30: it has the ray id, the caller, the group, the version and the surface of the call that made it, and its own log line."""
    before = len(served.calls("/shop", TOKEN))
    seen = ask(served, "pass_on", {"method": "Shop.seen", "$rpc": {"rayId": "ray-7"}})["result"]
    assert seen == ["ray-7", *ask(served, "seen")["result"][1:6], "Shop.seen"]
    lines = served.calls("/shop", TOKEN)[before:]
    assert [(line["ray_id"], line["method"]) for line in lines[:2]] == [
        ("ray-7", "Shop.seen"),
        ("ray-7", "Shop.pass_on"),
    ]
    assert lines[0]["id"] != lines[1]["id"]


def test_a_tool_call_makes_calls_too(served: Daemon) -> None:
    """A-RPC-30, A-RPC-60: over MCP as over `/rpc`."""
    result = Stateless(served, "/tools", headers=TOKEN).result("Shop.orders")
    assert result["structuredContent"] == {"result": ["2 pot", "1 pan"]}


def test_it_stays_in_its_version(served: Daemon) -> None:
    """A-RPC-30: a call of version 2 calls what version 2 serves, inherited methods and its own."""
    assert ask(served, "orders", path="/shop/v2")["result"] == ["2 pot, v2", "1 pan, v2"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        pytest.param("Inner.secret", None, -32601, id="a method of another group"),
        pytest.param("ping", None, -32601, id="a method of the group general"),
        pytest.param("Shop.nothing", None, -32601, id="no method at all"),
        pytest.param("Shop.order", None, -32602, id="a missing parameter"),
        pytest.param("Shop.order", {"order": {"item": "pot", "count": 0}}, -32602, id="a rule that is broken"),
        pytest.param("Shop.order", "pot", -32602, id="parameters that are none"),
        pytest.param("Shop.slow", {"a": 1}, -32400, id="a listener that refuses"),
        pytest.param("Shop.slow", None, -32300, id="a deadline of the call that made it"),
        pytest.param("Shop.locked", None, -32400, id="a lock that is held"),
        pytest.param("Shop.endless", None, -32500, id="calls without end"),
    ],
)
def test_nothing_is_let_through_that_a_client_could_not_have(
    served: Daemon, method: str, params: Any, code: int
) -> None:
    """A-RPC-30: groups, checks, rules, listeners, locks and deadlines hold for it as for any call."""
    given = {"method": method} if params is None else {"method": method, "params": params}
    assert ask(served, "pass_on", given)["error"]["code"] == code


def test_an_error_can_be_caught(served: Daemon) -> None:
    """A-RPC-30: the error of a call out of a call is the error that a client would have had."""
    assert ask(served, "forgiving")["result"] == {"order.item": ["is required"]}


def test_its_result_is_kept(served: Daemon) -> None:
    """A-RPC-30: the cache answers it, as it would answer a client."""
    first = ask(served, "pass_on", {"method": "Shop.kept", "params": {"key": "a"}})["result"]
    assert ask(served, "kept", {"key": "a"})["result"] == first
    assert ask(served, "pass_on", {"method": "Shop.kept", "params": ["a"]})["result"] == first
