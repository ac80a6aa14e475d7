"""What the fast front answers by itself, what it hands over, and how it holds a connection."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rpcgw.adapters.http import front, heads
from rpcgw.api.context import ANONYMOUS
from rpcgw.exchange import Head, Inbound, Reply, Verdict
from tests.support.certificates import FIRST
from tests.unit.adapters.http.wires import Wire, settle

REQUEST = b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"

WAIT = 10.0
Serve = Callable[..., Any]
Make = Callable[..., Any]


def tally(served: Any) -> tuple[int, int]:
    return served.door.tally.answered, served.door.tally.handed


async def test_an_ordinary_request_is_answered_by_it(serve_fast: Serve, make_entrance: Make) -> None:
    """One connection, as many requests as one likes."""
    served = await serve_fast(make_entrance())
    client = await served.connect()
    for number in range(3):
        assert (await client.ask(body=b"%d" % number)).body == b"%d" % number
    assert tally(served) == (3, 0)


OTHERS = [
    pytest.param({"method": "GET"}, 405, id="another method"),
    pytest.param({"path": "/call?x=1"}, 200, id="a query"),
    pytest.param({"path": "/c%61ll"}, 200, id="an escaped path"),
    pytest.param({"path": "/nowhere"}, 404, id="an unknown path"),
    pytest.param({"path": "/v7"}, 200, id="a path by a pattern"),
    pytest.param({"Transfer_Encoding": "chunked", "body": b"1\r\nx\r\n0\r\n\r\n"}, 200, id="chunks"),
    pytest.param({"body": b"x" * 1001}, 413, id="a body over the limit"),
]


@pytest.mark.parametrize(("asked", "status"), OTHERS)
async def test_anything_else_is_handed_over(
    serve_fast: Serve, make_entrance: Make, asked: dict[str, Any], status: int
) -> None:
    """After requests that were the front's, and for good."""
    served = await serve_fast(make_entrance(), make_entrance(pattern="/{ver}"))
    client = await served.connect()
    assert (await client.ask(body=b"{}")).status == 200
    assert (await client.ask(**asked)).status == status
    assert (await client.ask(body=b"{}")).body == b"{}"
    assert tally(served) == (1, 1)


async def test_a_connection_ends_after_the_request_that_says_so(serve_fast: Serve, make_entrance: Make) -> None:
    """It is answered like any other, and the answer says that it is the last one (RFC 9112, section 9.6)."""
    served = await serve_fast(make_entrance())
    client = await served.connect()
    assert (await client.ask(body=b"{}")).header("Connection") is None
    answer = await client.ask(body=b"{}", Connection="close")
    assert (answer.status, answer.header("Connection")) == (200, "close")
    assert await client.ended()
    assert tally(served) == (2, 0)


async def test_nothing_is_served_after_the_last_request(serve_fast: Serve, make_entrance: Make) -> None:
    """What came with it is no request (RFC 9112, section 9.6)."""
    served = await serve_fast(make_entrance())
    client = await served.connect()
    await client.send(REQUEST.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + REQUEST)
    assert (await client.answer()).body == b"{}"
    assert await client.ended()
    assert (len(served.requests), tally(served)) == (1, (1, 0))


PAGES = [
    pytest.param("https://app.example", "https://app.example", id="a named origin"),
    pytest.param("http://localhost:6274", "http://localhost:6274", id="any port"),
    pytest.param("https://evil.example", None, id="another origin"),
    pytest.param("null", None, id="no origin"),
]


@pytest.mark.parametrize(("origin", "allowed"), PAGES)
async def test_a_pages_request_is_the_fronts(
    serve_fast: Serve, make_entrance: Make, origin: str, allowed: str | None
) -> None:
    """Its answer says who may read it, and with what, as aiohttp's door would say it."""
    entrance = make_entrance(origins=("https://app.example", "http://localhost:*"), expose=("Mcp-Session-Id",))
    served = await serve_fast(replace(entrance, credentials=True))
    answer = await (await served.connect()).ask(body=b"{}", Origin=origin)
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (200, allowed)
    assert answer.header("Access-Control-Allow-Credentials") == ("true" if allowed else None)
    assert answer.header("Access-Control-Expose-Headers") == ("Mcp-Session-Id" if allowed else None)
    assert answer.header("Vary") == "Origin"
    assert tally(served) == (1, 0)


@pytest.mark.parametrize(("length", "kept"), [(100, 3), (7_000, 0)], ids=["short heads", "long heads"])
async def test_what_a_connection_keeps_of_its_last_head(
    serve_fast: Serve, make_entrance: Make, length: int, kept: int
) -> None:
    """Nothing of a long one: clients may have many connections, each with a head of its own."""
    served = await serve_fast(make_entrance())
    for number in range(3):
        client = await served.connect()
        for _ in range(2):
            assert (await client.ask(X_Own=f"{number}" * length)).status == 200
    heads.read.cache_clear()
    gc.collect()
    assert sum(isinstance(each, heads.Fields) for each in gc.get_objects()) == kept
    assert tally(served) == (6, 0)


class Untold(BaseException):
    """What no door makes an answer of."""


@pytest.mark.parametrize("before", [0, 2], ids=["the first request", "a later one"])
async def test_a_connection_ends_on_which_no_answer_will_come(
    serve_fast: Serve, make_entrance: Make, before: int
) -> None:
    """Its client need not wait for one, nor does a drain."""

    def admit(head: Head) -> Verdict:
        if head.headers.get("x-last") is not None:
            raise Untold
        return ANONYMOUS

    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    served = await serve_fast(replace(make_entrance(admit=admit), quick=lambda *_: None))
    client = await served.connect()
    for _ in range(before):
        assert (await client.ask(body=b"{}")).status == 200
    await client.send(REQUEST.replace(b"\r\n\r\n", b"\r\nX-Last: 1\r\n\r\n"))
    assert await client.ended()


async def test_a_request_in_two_packets_is_the_fronts(serve_fast: Serve, make_entrance: Make) -> None:
    """As most clients send it: the head, then the body."""
    served = await serve_fast(make_entrance())
    client = await served.connect()
    for cut in (1, 20, REQUEST.index(b"{"), len(REQUEST) - 1):
        await client.send(REQUEST[:cut])
        await asyncio.sleep(0)
        await client.send(REQUEST[cut:])
        assert (await client.answer()).body == b"{}"
    assert tally(served) == (4, 0)


@pytest.mark.parametrize("cut", [20, len(REQUEST) - 1], ids=["in its head", "in its body"])
async def test_a_request_that_takes_long_is_handed_over(
    serve_fast: Serve, make_entrance: Make, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time limits are: with aiohttp."""
    monkeypatch.setattr(front, "PATIENCE", 0.01)
    served = await serve_fast(make_entrance())
    client = await served.connect()
    await client.send(REQUEST[:cut])
    async with asyncio.timeout(10):
        while tally(served) != (0, 1):
            await asyncio.sleep(0.01)
    await client.send(REQUEST[cut:])
    assert (await client.answer()).body == b"{}"


async def test_further_requests_wait_their_turn(serve_fast: Serve, make_entrance: Make) -> None:
    """However many came: one runs at a time, and answers come in order, aiohttp's among them."""
    running: list[int] = []

    async def answer(inbound: Inbound) -> Reply:
        running.append(1)
        assert len(running) == 1
        await asyncio.sleep(0)
        running.pop()
        return Reply(200, inbound.body)

    served = await serve_fast(make_entrance(answer))
    client = await served.connect()
    own = b"".join(
        b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n%03d" % number for number in range(300)
    )
    odd = b"POST /call?odd HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nodd"
    await client.send(own + odd + REQUEST)
    answers = [(await client.answer()).body for _ in range(302)]
    assert answers == [*(b"%03d" % number for number in range(300)), b"odd", b"{}"]
    assert tally(served) == (300, 1)


async def test_who_keeps_the_task_of_a_request_cannot_cancel_another(serve_fast: Serve, make_entrance: Make) -> None:
    """A task that somebody keeps beyond its request serves no further one; it ends, and others go on as before."""
    kept: list[asyncio.Task[Any]] = []

    async def answer(inbound: Inbound) -> Reply:
        task = asyncio.current_task()
        assert task is not None
        if inbound.body == b"keep":
            kept.append(task)
        else:
            for each in kept:
                each.cancel()
            await asyncio.sleep(0)
        return Reply(200, inbound.body)

    served = await serve_fast(make_entrance(answer))
    client = await served.connect()
    bodies = [(await client.ask(body=body)).body for body in (b"keep", b"next", b"keep", b"keep", b"next")]
    assert bodies == [b"keep", b"next", b"keep", b"keep", b"next"]
    assert tally(served) == (5, 0)
    done, _ = await asyncio.wait(kept, timeout=WAIT)
    assert (len(set(kept)), len(done)) == (3, 3)


async def test_what_comes_while_a_request_runs_is_bounded(serve_fast: Serve, make_entrance: Make) -> None:
    """The front stops reading, and the rest stays with the sender until most of what came has its answer."""
    release = asyncio.Event()

    async def answer(inbound: Inbound) -> Reply:
        await release.wait()
        return Reply(200, b"x")

    served = await serve_fast(make_entrance(answer))
    client = await served.connect()
    many = 500_000
    sending = asyncio.create_task(client.send(REQUEST * many))
    (held,) = await _held(served)
    async with asyncio.timeout(30):
        while not held._stuffed:
            await asyncio.sleep(0.01)
    assert len(held._buffer) < 1_000_000
    assert not sending.done()
    release.set()
    async with asyncio.timeout(60):
        for _ in range(1000):
            assert (await client.answer()).body == b"x"
            assert len(held._buffer) < 1_000_000
    sending.cancel()
    client.writer.transport.abort()


LAST = [
    pytest.param(REQUEST, (b"{}", 0), id="one more"),
    pytest.param(REQUEST.replace(b"/call", b"/nowhere"), (None, 1), id="aiohttp's"),
    pytest.param(
        REQUEST.replace(b"Length: 2", b"Length: 900000").replace(b"{}", b"x" * 900_000),
        (b"x" * 900_000, 0),
        id="a large one",
    ),
]


@pytest.mark.parametrize(("last", "expected"), LAST)
async def test_a_sender_that_had_to_wait_has_all_of_its_answers(
    serve_fast: Serve, make_entrance: Make, last: bytes, expected: tuple[bytes | None, int]
) -> None:
    """Reading goes on, whoever is to read what comes after."""
    served = await serve_fast(replace(make_entrance(), max_body_bytes=1_000_000))
    client = await served.connect()
    many = 5_000
    sending = asyncio.create_task(client.send(REQUEST * many + last))
    async with asyncio.timeout(60):
        for _ in range(many):
            assert (await client.answer()).body == b"{}"
        answer = await client.answer()
        await sending
    assert (answer.body if answer.status == 200 else None, served.door.tally.handed) == expected


class Valve(Wire):
    """A transport that remembers whether it was reading when it was handed over."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True
        self.was_reading: list[bool] = []

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.was_reading.append(self.reading)
        super().set_protocol(protocol)


async def test_a_connection_that_was_not_read_is_read_again_when_aiohttp_takes_over(
    serve_fast: Serve, make_entrance: Make
) -> None:
    """Whatever came while a request ran; what aiohttp makes of its own pauses is its own affair."""
    release = asyncio.Event()

    async def answer(inbound: Inbound) -> Reply:
        await release.wait()
        return Reply(200, inbound.body)

    served = await serve_fast(make_entrance(answer))
    wire, made = Valve(), served.door.protocol()()
    served.door._connections.accepted()
    wire.set_protocol(made)
    made.connection_made(wire)
    made.data_received(REQUEST)
    made.data_received(REQUEST.replace(b"/call", b"/call?odd") * 2_000)
    assert not wire.reading
    release.set()
    await settle()
    assert wire.was_reading == [True, True]
    wire.closed = True
    wire.get_protocol().connection_lost(None)


async def test_a_slow_reader_is_waited_for(serve_fast: Serve, make_entrance: Make) -> None:
    """No further request is begun while answers pile up."""
    begun: list[int] = []

    def answer(_: Inbound) -> Reply:
        begun.append(1)
        return Reply(200, bytes(300_000))

    served = await serve_fast(make_entrance(answer))
    client = await served.connect()
    await client.send(REQUEST * 100)
    (held,) = await _held(served)
    async with asyncio.timeout(30):
        while held._unread is None:
            await asyncio.sleep(0.01)
    count = len(begun)
    await asyncio.sleep(0.05)
    assert len(begun) == count < 100
    for _ in range(100):
        assert len((await client.answer()).body) == 300_000
    assert tally(served) == (100, 0)


async def test_a_slow_reader_of_a_stream_is_waited_for(serve_fast: Serve, make_entrance: Make) -> None:
    """A stream makes no pieces that nobody takes."""
    made: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            made.append(1)
            yield bytes(300_000)

    served = await serve_fast(make_entrance(lambda _: Reply(200, pieces())))
    client = await served.connect()
    await client.send(REQUEST)
    (held,) = await _held(served)
    async with asyncio.timeout(30):
        while held._unread is None:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert len(made) < 100
    assert len((await client.answer()).body) == 30_000_000


async def test_an_idle_connection_ends_after_its_time(serve_fast: Serve, make_entrance: Make) -> None:
    """One that was never used, and one that was; a request that runs is no idleness."""

    async def answer(_: Inbound) -> Reply:
        await asyncio.sleep(0.5)
        return Reply(200, b"late")

    served = await serve_fast(make_entrance(answer), keep_alive=0.2)
    silent, used = await served.connect(), await served.connect()
    assert (await used.ask()).body == b"late"
    assert await silent.ended()
    assert await used.ended()


async def test_requests_over_tls_are_the_fronts(serve_fast: Serve, make_entrance: Make) -> None:
    """And what is handed over goes on over TLS."""
    ours, theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    ours.load_cert_chain(FIRST.cert, FIRST.key)
    theirs.load_verify_locations(FIRST.cert)
    served = await serve_fast(make_entrance(), tls=ours)
    client = await served.connect(tls=theirs)
    assert (await client.ask(body=b"{}")).body == b"{}"
    assert (await client.ask(path="/call?odd", body=b"{}")).body == b"{}"
    assert tally(served) == (1, 1)


async def test_requests_over_a_unix_socket_are_the_fronts(
    serve_fast: Serve, make_entrance: Make, tmp_path: Path
) -> None:
    """The head says that it came over one, and from no address."""
    heads: list[tuple[str, bool]] = []

    def answer(inbound: Inbound) -> Reply:
        heads.append((inbound.head.peer, inbound.head.unix))
        return Reply(200, b"x")

    served = await serve_fast(make_entrance(answer), path=tmp_path / "socket")
    client = await served.connect(path=tmp_path / "socket")
    assert (await client.ask(body=b"{}")).body == b"x"
    assert (await client.ask(path="/call?odd", body=b"{}")).body == b"x"
    assert heads == [("", True)] * 2
    assert tally(served) == (1, 1)


async def test_it_is_turned_off_where_handing_over_does_not_work(
    serve_fast: Serve, make_entrance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start-up test sees it, the log says it, and aiohttp answers everything."""
    monkeypatch.setattr("rpcgw.adapters.http.selftest.PATIENCE", 0.5)
    transport: Any = asyncio.selector_events._SelectorTransport  # type: ignore[attr-defined]
    first = transport.set_protocol

    def only_first(self: Any, protocol: asyncio.BaseProtocol) -> None:
        if getattr(self, "_protocol", None) is None:
            first(self, protocol)

    monkeypatch.setattr(transport, "set_protocol", only_first)
    served = await serve_fast(make_entrance())
    assert [name for name, _ in served.events] == ["front.off"]
    assert (await served.ask(body=b"{}")).body == b"{}"
    assert tally(served)[0] == 0


async def _held(served: Any) -> list[Any]:
    """The connections of a door, once there is one with a request."""
    async with asyncio.timeout(10):
        while not any(connection.task for connection in served.door._connections):
            await asyncio.sleep(0.01)
    return list(served.door._connections)
