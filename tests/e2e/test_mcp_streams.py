"""What goes over the wire while a call runs, byte by byte: events, refusals before them, and calls that are given up."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.golden.mcp_requests import ABSENT, META, call, legacy
from tests.support.daemon import Daemon, daemon, wait_until
from tests.support.mcp import Session

PLUGIN = '''
import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import rpcgw as rpc


@rpc.procedure("Slow", groups=["mcp"], with_default=False)
class Slow:
    """Calls that last."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    async def steps(self, ctx: rpc.CallContext, pause: float = 0.0) -> str:
        """Say how far it is."""
        for done in (1, 2):
            await ctx.progress(done, 2, f"step {done}")
            await ctx.progress(done - 1)
            await asyncio.sleep(pause)
        return "done"

    async def talk(self, ctx: rpc.CallContext) -> None:
        """Say something of each level."""
        await ctx.log("debug", "quiet")
        await ctx.log("warning", {"loud": True}, "slow")

    async def ask(self, ctx: rpc.CallContext, first: bool = False) -> str:
        """Need a client that samples."""
        if first:
            await ctx.progress(1)
        ctx.require("sampling")
        return "sampled"

    async def hang(self, ctx: rpc.CallContext, name: str, started: bool = True) -> None:
        """Never end; note when it begins and how it ends."""
        if started:
            await ctx.progress(1)
        self.note(name, "began")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.note(name, "cancelled")
            raise

    async def wait(self, name: str) -> str:
        """End after a moment, whoever is there."""
        self.note(name, "began")
        await asyncio.sleep(0.5)
        self.note(name, "ended")
        return "ended"

    def note(self, name: str, what: str) -> None:
        with (self.notes / name).open("a") as file:
            file.write(what + "\\n")


@rpc.listens(rpc.PostResponse)
def answered(event: rpc.PostResponse) -> None:
    with Path("answered").open("a") as file:
        file.write(event.context.method + "\\n")


@asynccontextmanager
async def opened():
    yield Path.cwd()


plugin = rpc.Plugin(procedures=[Slow], lifespan=opened, listeners=[answered])
'''

CONFIG = """
ufo_json_rpc:
  security:
    protected_api: false
server:
  workers: %d
  timeouts: {grace: 1}
"""
EVENTS = {"Accept": "application/json, text/event-stream"}
TOKEN = META | {"progressToken": "t"}
SERVER = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"ufo-rpc","version":"v1"}}'
DONE = '"content":[{"type":"text","text":"\\"done\\""}],"structuredContent":{"result":"done"},"isError":false'


@pytest.fixture(scope="module")
def slow() -> Iterator[Daemon]:
    """One worker with calls that last."""
    with daemon(config=CONFIG % 1, plugins={"slow.py": PLUGIN}) as running:
        yield running


@pytest.fixture(scope="module")
def pair() -> Iterator[Daemon]:
    """Two workers with the same."""
    with daemon(config=CONFIG % 2, plugins={"slow.py": PLUGIN}) as running:
        yield running


def events(*messages: str) -> bytes:
    """What these messages are as events."""
    return "".join(f"event: message\ndata: {message}\n\n" for message in messages).encode()


def progress(done: int) -> str:
    """A notification of the method `steps`."""
    return (
        '{"jsonrpc":"2.0","method":"notifications/progress","params":'
        f'{{"progressToken":"t","progress":{done},"total":2,"message":"step {done}"}}}}'
    )


def spoken(answer: bytes) -> tuple[list[str], bytes]:
    """The head's lines but for the date, and the body put together from its chunks."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    lines = [line for line in head.decode().split("\r\n") if not line.startswith("Date: ")]
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return lines, body


def closing(fields: Mapping[str, str]) -> dict[str, str | list[str]]:
    """Fields of a request on a connection of its own."""
    return {**fields, "Connection": "close"}


def notes(place: Daemon, name: str) -> list[str]:
    """What a call noted."""
    path = place.folder / name
    return path.read_text().splitlines() if path.exists() else []


def wait_note(place: Daemon, name: str, what: str) -> None:
    """Wait until a call has noted something."""
    wait_until(lambda: what in notes(place, name), 10, lambda: f"{name}: {notes(place, name)}\n{place.stderr()}")


def begin(place: Daemon, request: bytes, until: bytes) -> socket.socket:
    """Send a request and read until a piece of its answer has come; the connection stays open."""
    connection = place.socket()
    connection.sendall(request)
    seen = b""
    while until not in seen:
        piece = connection.recv(65536)
        assert piece, seen
        seen += piece
    return connection


def rest(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


# -- events


def test_a_stateless_call_streams_what_it_says_and_then_its_answer(slow: Daemon) -> None:
    """MCP 2026-07-28, Progress: every byte; what does not rise is not sent; nothing asks proxies to collect."""
    raw = slow.raw(call("Slow.steps", meta=TOKEN, headers=closing(EVENTS)))
    lines, body = spoken(raw)
    assert lines == [
        "HTTP/1.1 200 OK",
        "Content-Type: text/event-stream",
        "Cache-Control: no-cache, no-transform",
        "X-Accel-Buffering: no",
        "Content-Language: en",
        "Vary: Accept-Language, Origin",
        "Server: rpcgw",
        "Connection: close",
        "Transfer-Encoding: chunked",
    ]
    final = f'{{"jsonrpc":"2.0","id":7,"result":{{{DONE},"resultType":"complete",{SERVER}}}}}'
    assert body == events(progress(1), progress(2), final)


def test_a_sessions_call_streams_too(slow: Daemon) -> None:
    """MCP 2025-11-25, Progress: on the answer to the request itself, without anything of the stateless era."""
    session = Session(slow)
    params = {"name": "Slow.steps", "_meta": {"progressToken": "t"}}
    raw = slow.raw(legacy("tools/call", params, session=session.id, headers=closing(EVENTS)))
    lines, body = spoken(raw)
    assert "Content-Type: text/event-stream" in lines
    assert body == events(progress(1), progress(2), f'{{"jsonrpc":"2.0","id":7,"result":{{{DONE}}}}}')


@pytest.mark.parametrize(
    ("accept", "meta"),
    [
        pytest.param("application/json", TOKEN, id="the client does not list event streams"),
        pytest.param("*/*", TOKEN, id="a wildcard is no wish for one"),
        pytest.param("text/event-stream;q=0", TOKEN, id="the client wants none"),
        pytest.param("application/json, text/event-stream", META, id="nobody asks for progress"),
        pytest.param(
            "application/json, text/event-stream",
            META | {"progressToken": True},
            id="the token is neither text nor number",
        ),
    ],
)
def test_otherwise_the_answer_is_plain_json(accept: str, meta: Mapping[str, Any], slow: Daemon) -> None:
    """Nothing to say, or nobody to say it to: one JSON body."""
    raw = slow.raw(call("Slow.steps", meta=dict(meta), headers=closing({"Accept": accept})))
    assert b"\r\nContent-Type: application/json\r\n" in raw
    assert json.loads(raw.partition(b"\r\n\r\n")[2])["result"]["structuredContent"] == {"result": "done"}


@pytest.mark.parametrize(
    ("level", "sent"),
    [
        pytest.param("debug", ["quiet", {"loud": True}], id="everything"),
        pytest.param("warning", [{"loud": True}], id="from a level upwards"),
        pytest.param("error", [], id="nothing so serious"),
        pytest.param(None, [], id="no level, no messages"),
    ],
)
def test_messages_go_to_who_asks_for_their_level(level: str | None, sent: list[Any], slow: Daemon) -> None:
    """MCP 2026-07-28, Logging: by the request's own `logLevel`, and never without."""
    asked = {} if level is None else {"io.modelcontextprotocol/logLevel": level}
    _, body = spoken(slow.raw(call("Slow.talk", meta=META | asked, headers=closing(EVENTS)))) if sent else ([], b"")
    said = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]
    assert [each["params"]["data"] for each in said if each.get("method") == "notifications/message"] == sent
    if not sent:
        raw = slow.raw(call("Slow.talk", meta=META | asked, headers=closing(EVENTS)))
        assert b"notifications/message" not in raw
        assert b"\r\nContent-Type: application/json\r\n" in raw


def test_a_message_names_its_level_and_its_logger(slow: Daemon) -> None:
    """Every byte of one."""
    asked = META | {"io.modelcontextprotocol/logLevel": "warning"}
    _, body = spoken(slow.raw(call("Slow.talk", meta=asked, headers=closing(EVENTS))))
    message = (
        '{"jsonrpc":"2.0","method":"notifications/message",'
        '"params":{"level":"warning","logger":"slow","data":{"loud":true}}}'
    )
    assert body.startswith(events(message))


def test_a_session_gets_no_messages(slow: Daemon) -> None:
    """The capability `logging` is not offered, so nobody can ask for them."""
    session = Session(slow)
    params = {"name": "Slow.talk", "_meta": {"io.modelcontextprotocol/logLevel": "debug"}}
    raw = slow.raw(legacy("tools/call", params, session=session.id, headers=closing(EVENTS)))
    assert b"notifications/message" not in raw


def test_what_listens_after_the_answer_runs_once_the_stream_is_out(slow: Daemon) -> None:
    """T-18: `rpc.post_response` of a streamed call."""
    before = notes(slow, "answered").count("Slow.steps")
    slow.raw(call("Slow.steps", meta=TOKEN, headers=closing(EVENTS)))
    wait_until(lambda: notes(slow, "answered").count("Slow.steps") == before + 1, 10, slow.stderr)


# -- capabilities


def test_a_missing_capability_is_an_error_with_a_status(slow: Daemon) -> None:
    """MCP 2026-07-28, Base Protocol: 400, -32021, and what would be required."""
    raw = slow.raw(call("Slow.ask", headers=closing(EVENTS)))
    assert raw.startswith(b"HTTP/1.1 400 ")
    assert json.loads(raw.partition(b"\r\n\r\n")[2]) == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32021,
            "message": "The client must have the capability sampling",
            "data": {"requiredCapabilities": {"sampling": {}}},
        },
    }


def test_a_declared_capability_lets_the_call_run(slow: Daemon) -> None:
    """`clientCapabilities` of the request itself."""
    declared = META | {"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}
    raw = slow.raw(call("Slow.ask", meta=declared, headers=closing(EVENTS)))
    assert json.loads(raw.partition(b"\r\n\r\n")[2])["result"]["structuredContent"] == {"result": "sampled"}


def test_a_missing_capability_ends_a_stream_that_has_begun(slow: Daemon) -> None:
    """The status is out: the error is the last event."""
    _, body = spoken(slow.raw(call("Slow.ask", {"first": True}, meta=TOKEN, headers=closing(EVENTS))))
    last = json.loads(body.decode().splitlines()[-2].removeprefix("data: "))
    assert (last["id"], last["error"]["code"]) == (7, -32021)


def test_a_missing_capability_is_a_tool_error_in_a_session(slow: Daemon) -> None:
    """Its clients know no -32021: a result that says `isError`, with the kernel's error."""
    result = Session(slow).result("Slow.ask")
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["code"] == -32500


# -- who leaves, and who gives up


@pytest.mark.parametrize("started", [True, False], ids=["a stream", "a silent call"])
def test_a_stateless_client_that_leaves_cancels_its_call(started: bool, slow: Daemon) -> None:
    """MCP 2026-07-28, Cancellation: the procedure is cancelled, and its cleanup runs."""
    name = f"left-{started}"
    connection = slow.socket()
    connection.sendall(call("Slow.hang", {"name": name, "started": started}, meta=TOKEN, headers=dict(EVENTS)))
    wait_note(slow, name, "began")
    connection.close()
    wait_note(slow, name, "cancelled")


def test_a_session_client_that_leaves_does_not(slow: Daemon) -> None:
    """MCP 2025-11-25, Transports: a disconnect is no cancellation."""
    session = Session(slow)
    connection = slow.socket()
    params = {"name": "Slow.wait", "arguments": {"name": "stays"}}
    connection.sendall(legacy("tools/call", params, session=session.id, headers=dict(EVENTS)))
    wait_note(slow, "stays", "began")
    connection.close()
    wait_note(slow, "stays", "ended")


def cancel(place: Daemon, session: str | None, request_id: object) -> bytes:
    """Notify that a request is given up, on a connection of its own."""
    params = {"requestId": request_id, "reason": "no need"}
    notice = legacy("notifications/cancelled", params, ABSENT, session=session, headers=closing({}))
    return place.raw(notice)


def test_a_session_gives_up_a_silent_call(slow: Daemon) -> None:
    """MCP 2025-11-25, Cancellation: the procedure is cancelled; its request gets no answer, only an empty 202."""
    session = Session(slow)
    params = {"name": "Slow.hang", "arguments": {"name": "given-up", "started": False}}
    connection = slow.socket()
    connection.sendall(legacy("tools/call", params, 99, session=session.id, headers=closing(EVENTS)))
    wait_note(slow, "given-up", "began")
    assert cancel(slow, session.id, 99).startswith(b"HTTP/1.1 202 ")
    wait_note(slow, "given-up", "cancelled")
    answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 202 ")
    assert answer.endswith(b"\r\n\r\n")


def test_a_session_gives_up_a_call_that_streams(slow: Daemon) -> None:
    """The stream ends after what was said, without an answer."""
    session = Session(slow)
    params = {"name": "Slow.hang", "arguments": {"name": "cut"}, "_meta": {"progressToken": "t"}}
    raw = legacy("tools/call", params, "x", session=session.id, headers=closing(EVENTS))
    connection = begin(slow, raw, b"notifications/progress")
    cancel(slow, session.id, "x")
    wait_note(slow, "cut", "cancelled")
    assert b'"id"' not in rest(connection)


@pytest.mark.parametrize("other", [pytest.param("7", id="another request"), pytest.param(None, id="another session")])
def test_only_its_own_call_is_given_up(other: object, slow: Daemon) -> None:
    """An id belongs to its session, and a text is no number."""
    mine = Session(slow)
    params = {"name": "Slow.wait", "arguments": {"name": f"kept-{other}"}}
    connection = slow.socket()
    connection.sendall(legacy("tools/call", params, session=mine.id, headers=closing({})))
    wait_note(slow, f"kept-{other}", "began")
    cancel(slow, mine.id if other else Session(slow).id, other or 7)
    assert json.loads(rest(connection).partition(b"\r\n\r\n")[2])["result"]["structuredContent"] == {"result": "ended"}


def test_a_call_is_given_up_whichever_worker_hears_of_it(pair: Daemon) -> None:
    """With two workers, each of many notifications may come to the one that does not run the call."""
    session = Session(pair)
    for number in range(6):
        name = f"far-{number}"
        params = {"name": "Slow.hang", "arguments": {"name": name, "started": False}}
        connection = pair.socket()
        connection.sendall(legacy("tools/call", params, number, session=session.id, headers=closing(EVENTS)))
        wait_note(pair, name, "began")
        cancel(pair, session.id, number)
        wait_note(pair, name, "cancelled")
        connection.close()


# -- the end of the daemon


def test_a_stream_ends_with_an_answer_when_the_daemon_stops() -> None:
    """A call that outlasts the grace is cut off; its client is told, and the chunks end as they should."""
    with daemon(config=CONFIG % 1, plugins={"slow.py": PLUGIN}) as place:
        connection = begin(
            place, call("Slow.hang", {"name": "stopped"}, meta=TOKEN, headers=dict(EVENTS)), b"notifications/progress"
        )
        assert place.stop() == 0
        last = rest(connection)
        assert notes(place, "stopped") == ["began", "cancelled"]
    assert last.endswith(b"\r\n0\r\n\r\n")
    found = re.search(rb"data: (.*)\n", last)
    assert found is not None
    message = json.loads(found[1])
    assert (message["id"], message["error"]["code"]) == (7, -32603)
