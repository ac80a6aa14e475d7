"""`subscriptions/listen` at a real daemon: what a client hears, in which order, and how it ends."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.mcp import ACCEPT, MODERN, Stateless, result_of

PLUGIN = """
import rpcgw as rpc


@rpc.procedure("Catalog", groups=["mcp"], with_default=False)
class Catalog:
    def search(self, query: str) -> str:
        \"\"\"Find something.\"\"\"
        return query
"""
MORE = (
    PLUGIN
    + """
    def add(self, name: str) -> str:
        \"\"\"Add something.\"\"\"
        return name
"""
)
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
TOOLS = {"toolsListChanged": True}


class Listening:
    """An open stream; `next()` is its next message."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.answer = connection.getresponse()
        self.connection = connection

    def next(self) -> dict[str, Any] | None:
        """The next message; None at the end of the stream. Comments that show life are skipped."""
        while line := self.answer.readline():
            if line.startswith(b"data: "):
                message: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
                return message
        return None

    def rest(self) -> list[dict[str, Any]]:
        """All messages to the end of the stream."""
        return list(iter(self.next, None))


@contextmanager
def listening(
    served: Daemon,
    notifications: Mapping[str, Any],
    request_id: int | str = 7,
    headers: Mapping[str, str] | None = None,
) -> Iterator[Listening]:
    """Ask to be told of something."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    params = {"_meta": meta, "notifications": notifications}
    message = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
    fields = {"Accept": ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"}
    connection = served.connect()
    try:
        body = json.dumps(message)
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json", **fields, **(headers or {})})
        yield Listening(connection)
    finally:
        connection.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    with daemon(plugins={"catalog.py": PLUGIN}) as running:
        yield running


def acknowledged(notifications: Mapping[str, Any], request_id: int | str = 7) -> dict[str, Any]:
    params = {"_meta": {SUBSCRIPTION: request_id}, "notifications": notifications}
    return {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}


CHANGED = {
    "jsonrpc": "2.0",
    "method": "notifications/tools/list_changed",
    "params": {"_meta": {SUBSCRIPTION: 7}},
}


def test_it_is_advertised_where_it_works(served: Daemon) -> None:
    """`listChanged` in the stateless era; in a session nobody could listen (GET is 405)."""
    assert Stateless(served).discover()["capabilities"] == {"tools": {"listChanged": True}}
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}
    assert result_of(served.post("/mcp", asked, {"Accept": ACCEPT}))["capabilities"] == {"tools": {}}


@pytest.mark.parametrize(
    ("wanted", "honoured"),
    [
        pytest.param(TOOLS, TOOLS, id="tools"),
        pytest.param({"promptsListChanged": True}, {}, id="prompts, which there are none of"),
        pytest.param({"toolsListChanged": False}, {}, id="tools, but not now"),
        pytest.param({**TOOLS, "resourceSubscriptions": ["x:y"]}, TOOLS, id="tools and more"),
        pytest.param({}, {}, id="nothing"),
    ],
)
def test_the_first_message_says_what_is_honoured(
    served: Daemon, wanted: Mapping[str, Any], honoured: Mapping[str, Any]
) -> None:
    """An acknowledgement with the subset, tagged with the request's id."""
    with listening(served, wanted, "mine") as heard:
        assert heard.answer.status == 200
        assert heard.answer.getheader("Content-Type") == "text/event-stream"
        assert heard.next() == acknowledged(honoured, "mine")


@pytest.mark.parametrize(
    ("notifications", "headers", "status", "code"),
    [
        pytest.param(TOOLS, {"Accept": "application/json"}, 406, -32600, id="a client that takes no stream"),
        pytest.param([], {}, 400, -32602, id="notifications that are no object"),
        pytest.param(None, {}, 400, -32602, id="no notifications"),
    ],
)
def test_what_is_no_subscription(
    served: Daemon, notifications: Any, headers: Mapping[str, str], status: int, code: int
) -> None:
    """It is refused with the request's id, and no stream begins."""
    with listening(served, notifications, headers=headers) as heard:
        answer = json.loads(heard.answer.read())
        assert (heard.answer.status, answer["error"]["code"], answer["id"]) == (status, code, 7)


def test_a_caller_has_so_many_at_a_time(served: Daemon) -> None:
    """The seventeenth is refused with a time to try again; one that is closed makes room."""
    streams = [listening(served, TOOLS) for _ in range(17)]
    opened = [stream.__enter__() for stream in streams]
    try:
        assert [heard.answer.status for heard in opened] == [200] * 16 + [503]
        assert int(opened[-1].answer.getheader("Retry-After") or 0) in {30, 31}
    finally:
        for stream in streams:
            stream.__exit__(None, None, None)
    wait_until(lambda: is_let_in(served), 30.0, served.stderr)


def is_let_in(served: Daemon) -> bool:
    with listening(served, TOOLS) as heard:
        return heard.answer.status == 200


def test_a_reload_that_changes_tools() -> None:
    """The old worker says that the list changed, answers, and ends the stream; one that did not ask hears no more."""
    with (
        daemon(plugins={"catalog.py": PLUGIN}) as served,
        listening(served, TOOLS) as heard,
        listening(served, {"promptsListChanged": True}, 8) as other,
    ):
        assert heard.next() == acknowledged(TOOLS)
        assert other.next() == acknowledged({}, 8)
        served.write({"plugins/catalog.py": MORE})
        served.hup()
        changed, closing = heard.rest()
        assert changed == CHANGED
        assert (closing["id"], closing["result"]["resultType"]) == (7, "complete")
        assert closing["result"]["_meta"][SUBSCRIPTION] == 7
        assert [message["id"] for message in other.rest()] == [8]
        assert "Catalog.add" in Stateless(served).tools()


def test_a_reload_that_changes_no_tool() -> None:
    """The stream ends with its answer alone: the client listens anew and has nothing to fetch."""
    with daemon(plugins={"catalog.py": PLUGIN}) as served, listening(served, TOOLS) as heard:
        assert heard.next() == acknowledged(TOOLS)
        served.write({"plugins/catalog.py": PLUGIN.replace("return query", "return query.strip()")})
        served.hup()
        assert [message["id"] for message in heard.rest()] == [7]


def test_the_end_of_the_daemon() -> None:
    """SIGTERM: the stream has its closing answer at once, and the daemon ends well."""
    with daemon(plugins={"catalog.py": PLUGIN}) as served, listening(served, TOOLS) as heard:
        assert heard.next() == acknowledged(TOOLS)
        served.process.terminate()
        assert [message["id"] for message in heard.rest()] == [7]
        assert served.stop() == 0
