"""How long a door waits, for how many, and what it makes of requests that are unusual."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from rpcgw.adapters.http.bounds import Bounds, most_connections
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Head, Inbound, Reply

Serve = Callable[..., Any]
Make = Callable[..., Any]
JSON = (("Content-Type", "application/json"),)
QUICK = Bounds(head=1.0, body=1.0)


def late(served: Any) -> int:
    return sum(name == "connection.late" for name, _ in served.events)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(b"", id="silence"),
        pytest.param(b"POST /call HT", id="half a line"),
        pytest.param(b"POST /call HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\n", id="fields without an end"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: ", id="half of another method's head"),
    ],
)
async def test_a_first_head_that_does_not_come(serve: Serve, make_entrance: Make, words: bytes) -> None:
    """The connection is ended, however long an idle one may be kept."""
    served = await serve(make_entrance(), bounds=QUICK)
    client = await served.connect()
    if words:
        await client.send(words)
    assert await client.ended()
    assert late(served) == 1


async def test_a_head_that_comes_drop_by_drop(serve: Serve, make_entrance: Make) -> None:
    """Each byte is no new beginning."""
    served = await serve(make_entrance(), bounds=QUICK)
    client = await served.connect()
    assert (await client.ask(body=b"{}")).status == 200

    async def drip() -> None:
        for byte in b"POST /call HTTP/1.1\r\n" + b"X-Slow: 1\r\n" * 1000:
            await client.send(bytes([byte]))
            await asyncio.sleep(0.01)

    dripping = asyncio.create_task(drip())
    with suppress(ConnectionResetError):  # what it still sends is not read
        assert await client.ended()
    dripping.cancel()
    await asyncio.wait([dripping])
    assert late(served) == 1


async def test_an_idle_connection_is_kept_for_75_seconds(
    serve: Serve, make_entrance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default, from its last answer on; a call in between begins them anew. The loop's clock is moved on."""
    loop, passed = asyncio.get_running_loop(), 0.0
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + passed)
    served = await serve(make_entrance())
    rested, used = await served.connect(), await served.connect()
    for client in (rested, used):
        assert (await client.ask(body=b"{}")).status == 200
    passed += 70
    assert (await used.ask(body=b"{}")).status == 200, "after 70 s"
    assert not rested.reader.at_eof()
    passed += 6
    assert await rested.ended(), "after 76 s"
    assert (await used.ask(body=b"{}")).status == 200, "6 s after its last call"
    passed += 76
    assert await used.ended()


async def test_an_idle_connection_and_a_long_call_are_left_alone(serve: Serve, make_entrance: Make) -> None:
    """The limit is for heads: a call takes as long as it takes, and a connection that was used may rest."""
    go = asyncio.Event()

    async def answer(_: Inbound) -> Reply:
        await go.wait()
        return Reply(200, b"{}", JSON)

    served = await serve(make_entrance(), make_entrance(answer, pattern="/slow"), bounds=QUICK)
    idle, busy = await served.connect(), await served.connect()
    assert (await idle.ask(body=b"{}")).status == 200
    calling = asyncio.create_task(busy.ask(path="/slow", body=b"{}"))
    silent = await served.connect()
    assert await silent.ended()  # so the door has looked
    go.set()
    assert (await calling).status == 200
    assert (await idle.ask(body=b"{}")).status == 200


async def test_a_body_that_does_not_come(serve: Serve, make_entrance: Make) -> None:
    """408, and the connection is ended."""
    served = await serve(make_entrance(), bounds=QUICK)
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
    answer = await client.answer()
    assert (answer.status, answer.header("Connection")) == (408, "close")


async def test_one_connection_too_many_ends_the_one_that_was_idle_longest(serve: Serve, make_entrance: Make) -> None:
    """Idle connections keep nobody out; those that were used of late stay."""
    served = await serve(make_entrance(), bounds=Bounds(connections=3))
    first, second, third = [await served.connect() for _ in range(3)]
    for client in (second, third, first):
        assert (await client.ask(body=b"{}")).status == 200
    newcomer = await served.connect()
    assert (await newcomer.ask(body=b"{}")).status == 200
    assert await second.ended()
    assert (await first.ask(body=b"{}")).status == 200
    assert [name for name, _ in served.events].count("connection.shed") == 1


async def test_where_all_are_busy_a_newcomer_waits(serve: Serve, make_entrance: Make) -> None:
    """Nothing that runs is ended for somebody who has just come."""
    go, running = asyncio.Event(), asyncio.Event()

    async def answer(_: Inbound) -> Reply:
        running.set()
        await go.wait()
        return Reply(200, b"{}", JSON)

    served = await serve(make_entrance(answer), bounds=Bounds(connections=1))
    calling = asyncio.create_task((await served.connect()).ask(body=b"{}"))
    await running.wait()
    newcomer = asyncio.create_task((await served.connect()).ask(body=b"{}"))
    async with asyncio.timeout(20):
        while not any(name == "accept.full" for name, _ in served.events):
            await asyncio.sleep(0.01)
    go.set()
    assert [(await calling).status, (await newcomer).status] == [200, 200]


def test_some_descriptors_are_left() -> None:
    """A process whose connections take all of them can open no file any more."""
    assert most_connections() > 0


def hosts(served: list[Head]) -> list[str | None]:
    return [head.headers.get("host") for head in served]


async def test_a_whole_url_as_the_target_names_the_host(serve: Serve, make_entrance: Make) -> None:
    """RFC 9112, section 3.2.2: what the target says goes before Host; a guard that sees Host sees that."""
    seen: list[Head] = []

    def admit(head: Head) -> Principal | Reply:
        seen.append(head)
        return ANONYMOUS

    served = await serve(make_entrance(admit=admit))
    client = await served.connect()
    assert (await client.ask(path="http://evil.example:81/call", body=b"{}")).status == 200
    assert (hosts(seen), seen[0].headers.getall("host", []), seen[0].path) == (
        ["evil.example:81"],
        ["evil.example:81"],
        "/call",
    )


UNUSUAL = [
    pytest.param(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 204, id="OPTIONS of the server itself"),
    pytest.param(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 405, id="CONNECT"),
    pytest.param(b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, id="an asterisk for another method"),
    pytest.param(
        b"POST /call HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        501,
        id="a transfer coding that we do not take off",
    ),
    pytest.param(
        b"POST /call HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 9000 + b"\r\n\r\n",
        431,
        id="a field that is too long",
    ),
    pytest.param(b"POST /call HTTP/1.1\r\n" + b"X: 1\r\n" * 200 + b"\r\n", 431, id="too many fields"),
    pytest.param(
        b"POST /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, id="a target that is too long"
    ),
    pytest.param(b"no http at all\r\n\r\n", 400, id="no HTTP"),
]


@pytest.mark.parametrize(("request_", "status"), UNUSUAL)
async def test_unusual_requests_are_answered_in_our_form(
    serve: Serve, make_entrance: Make, request_: bytes, status: int
) -> None:
    """A short JSON object and who serves, never a library's own text."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(request_)
    answer = await client.answer()
    assert answer.status == status
    assert answer.header("Server") == "rpcgw"
    if status != 204:
        assert answer.header("Content-Type") == "application/json"
        assert b"error" in answer.body


@pytest.mark.parametrize(
    ("refused", "status"), [pytest.param(421, 421, id="a foreign Host"), pytest.param(403, 200, id="anything else")]
)
async def test_a_preflight_hears_nothing_under_a_foreign_host(
    serve: Serve, make_entrance: Make, refused: int, status: int
) -> None:
    """A page that reached us under its own name is told so; tokens and methods are no matter of a preflight."""
    origin = "http://localhost:3000"
    served = await serve(make_entrance(admit=lambda _: Reply(refused, b"{}", JSON), origins=["http://localhost:*"]))
    fields = {"Origin": origin, "Access_Control_Request_Method": "POST"}
    answer = await served.ask("OPTIONS", **fields)
    assert answer.status == status
    assert (answer.header("Access-Control-Allow-Origin") == origin) is (status == 200)
