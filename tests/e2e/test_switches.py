"""Methods that a plugin turns off and on while the daemon runs: gone on every surface, in every worker, until turned on."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest

from tests.e2e.test_mcp_subscriptions import CHANGED, TOOLS, acknowledged, listening
from tests.support.daemon import Daemon, daemon, folder, serving, wait_until
from tests.support.http import Answer, Client, exchange
from tests.support.mcp import Session, Stateless, message_of

PLUGIN = """
import os
import rpcgw as rpc


@rpc.procedure("Desk", groups=["mcp"])
class Desk:
    def __init__(self, switch: rpc.MethodSwitch) -> None:
        self.switch = switch

    async def turn(self, method: str, on: bool) -> int:
        \"\"\"Turn a method on or off.\"\"\"
        await (self.switch.enable if on else self.switch.disable)(method)
        return os.getpid()

    async def who(self) -> int:
        \"\"\"Say which worker this is.\"\"\"
        return os.getpid()

    async def call(self, method: str, ctx: rpc.CallContext) -> str:
        \"\"\"Call another method.\"\"\"
        return await ctx.call(method)


@rpc.procedure("Catalog", groups=["mcp"])
class Catalog:
    async def search(self) -> str:
        \"\"\"Find something.\"\"\"
        return "found"
"""


class Kept(Client):
    """A client that stays on one connection, and so with one worker."""

    def __init__(self, connection: http.client.HTTPConnection, url: str) -> None:
        super().__init__(url)
        self.connection = connection

    def request(self, method: str, path: str, body: bytes | str | None = None, headers: Any = None) -> Answer:
        """As `Client` does, on the one connection."""
        return exchange(self.connection, method, path, body, headers)

    def rpc(self, name: str, /, **params: Any) -> dict[str, Any]:
        """The answer to a JSON-RPC call."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        answer: dict[str, Any] = self.post("/rpc", sent).json()
        return answer


@contextmanager
def both_workers(served: Daemon) -> Iterator[list[Kept]]:
    """A client of each of two workers."""
    with ExitStack() as stack:
        found: dict[int, Kept] = {}

        def find() -> bool:
            client = Kept(served.connect(), served.url)
            stack.callback(client.connection.close)
            found.setdefault(client.rpc("Desk.who")["result"], client)
            return len(found) == 2

        wait_until(find, 20.0, served.stderr)
        yield list(found.values())


ROUTES = """
rpc: {resource: rpc, prefix: /rpc, defaults: {api_group: mcp}}
mcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}
"""


@pytest.fixture
def served() -> Iterator[Daemon]:
    with daemon(routes=ROUTES, plugins={"desk.py": PLUGIN}, arguments=["--workers", "2"]) as running:
        running.wait_log("worker.ready", count=2)
        yield running


def shown(client: Client) -> dict[str, bool]:
    """On which surfaces `Catalog.search` is there."""
    document = client.get("/rpc").json()
    return {
        "stateless list": "Catalog.search" in Stateless(client).tools(),
        "session list": "Catalog.search" in Session(client).tools(),
        "OpenRPC": "Catalog.search" in {method["name"] for method in document["methods"]},
        "Postman": "Catalog.search" in client.get("/rpc/postman").text,
        "console": "Catalog.search" in client.get("/console/mcp").text,
    }


def runs(client: Kept) -> dict[str, bool]:
    """By which ways `Catalog.search` can be called."""
    return {
        "stateless call": "result" in message_of(Stateless(client).call("Catalog.search")),
        "other spelling": "result" in message_of(Stateless(client).call("Catalog_search")),
        "session call": "result" in message_of(Session(client).call("Catalog.search")),
        "rpc": "result" in client.rpc("Catalog.search"),
        "out of another": "result" in client.rpc("Desk.call", method="Catalog.search"),
    }


def test_off_and_on_again(served: Daemon) -> None:
    """On every surface of both workers it is there, then gone, then there; lists at once, calls within 100 ms or so."""
    with both_workers(served) as (one, other):
        whole = [one.get("/rpc").body, Stateless(other).send("tools/list", request_id=1).body]
        for on in (True, False, True):
            one.rpc("Desk.turn", method="Catalog.search", on=on)
            assert set(shown(other).values()) == {on}, shown(other)
            assert set(shown(one).values()) == {on}, shown(one)
            assert set(runs(one).values()) == {on}, runs(one)
            assert set(runs(other).values()) == {on}, runs(other)
        assert [one.get("/rpc").body, Stateless(other).send("tools/list", request_id=1).body] == whole


def test_a_call_of_what_is_off(served: Daemon) -> None:
    """It is refused as a call of what never was."""
    with both_workers(served) as (one, other):
        one.rpc("Desk.turn", method="Catalog.search", on=False)
        Stateless(other).tools()  # whoever shows its list has looked
        for client in (one, other):
            refused = [client.rpc(name)["error"] for name in ("Catalog.search", "Catalog.none")]
            assert [error["code"] for error in refused] == [-32601, -32601]
            tool = [message_of(Stateless(client).call(name))["error"] for name in ("Catalog.search", "Catalog.none")]
            assert [(error["code"], error["message"]) for error in tool] == [
                (-32602, "Unknown tool: Catalog.search"),
                (-32602, "Unknown tool: Catalog.none"),
            ]


def test_workers_hear_of_it_unasked(served: Daemon) -> None:
    """A worker that nobody asks for a list refuses the call too, soon after another worker has turned it off."""
    with both_workers(served) as (one, other):
        for on in (False, True) * 3:
            one.rpc("Desk.turn", method="Catalog.search", on=on)
            wait_until(partial(answers, other, on=on), 1.0, served.stderr)


def answers(client: Kept, *, on: bool) -> bool:
    return ("result" in client.rpc("Catalog.search")) is on


def test_streams_are_told(served: Daemon) -> None:
    """Streams on both workers hear of each change, once, and stay open; one who did not ask hears nothing."""
    with ExitStack() as stack:
        streams = [stack.enter_context(listening(served, TOOLS)) for _ in range(8)]
        quiet = stack.enter_context(listening(served, {"promptsListChanged": True}, 8))
        assert [heard.next() for heard in (*streams, quiet)] == [acknowledged(TOOLS)] * 8 + [acknowledged({}, 8)]
        turning = stack.enter_context(both_workers(served))
        for client, on in zip(turning, (False, True), strict=True):
            client.rpc("Desk.turn", method="Catalog.search", on=on)
            assert [heard.next() for heard in streams] == [CHANGED] * 8
            # Whoever fetches it then finds the new list, at any worker.
            assert {"Catalog.search" in Stateless(each).tools() for each in turning} == {on}
        served.process.terminate()
        assert [[message["id"] for message in heard.rest()] for heard in (*streams, quiet)] == [[7]] * 8 + [[8]]


def test_what_is_off_stays_off() -> None:
    """A reload and a restart turn nothing on."""
    with folder(routes=ROUTES, plugins={"desk.py": PLUGIN}) as place:
        with serving(place) as served:
            served.post("/rpc", turning("Catalog.search", on=False))
            assert "Catalog.search" not in Stateless(served).tools()
            served.hup()
            served.wait_log("reload.done")
            assert not any(shown(served).values())
        with serving(place) as served:
            assert not any(shown(served).values())
            served.post("/rpc", turning("Catalog.search", on=True))
            assert all(shown(served).values())


def turning(method: str, *, on: bool) -> dict[str, Any]:
    params = {"method": method, "on": on}
    return {"jsonrpc": "2.0", "id": 1, "method": "Desk.turn", "params": params}
