"""What the door makes of requests and replies, byte by byte."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Inbound, Pending, Reply

JSON = (("Content-Type", "application/json"),)
LIMIT = 1000

Serve = Callable[..., Any]
Make = Callable[..., Any]


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


async def test_a_reply_goes_out_as_it_is(serve: Serve, make_entrance: Make) -> None:
    """Status, headers and body are the reply's; the server says no more than its name."""
    served = await serve(make_entrance(lambda _: Reply(201, b"{}", (*JSON, ("Mcp-Session-Id", "abc")))))
    answer = await served.ask(body=b"{}")
    assert (answer.status, answer.body, answer.header("Mcp-Session-Id")) == (201, b"{}", "abc")
    assert (answer.header("Server"), answer.header("Content-Type")) == ("rpcgw", "application/json")


async def test_a_reply_without_a_body_has_no_content_type(serve: Serve, make_entrance: Make) -> None:
    """202 for a notification: nothing but the head."""
    served = await serve(make_entrance(lambda _: Reply(202)))
    answer = await served.ask(body=b"{}")
    assert (answer.status, answer.body, answer.header("Content-Type")) == (202, b"", None)


async def test_the_head_is_what_came(serve: Serve, make_entrance: Make) -> None:
    """Method, decoded path, raw query, headers in any case, and the peer's address."""
    seen: list[Inbound] = []

    def answer(inbound: Inbound) -> Reply:
        seen.append(inbound)
        return Reply(200)

    served = await serve(make_entrance(answer))
    await served.ask(path="/call/?a=%20b", body=b"x", Accept_Language="uk")
    head = seen[0].head
    assert (head.method, head.path, head.query, head.peer, head.unix) == (
        "POST",
        "/call/",
        "a=%20b",
        "127.0.0.1",
        False,
    )
    assert head.headers.get("accept-language") == "uk"


PATHS = [
    pytest.param("/mcp", "/mcp", id="the exact path"),
    pytest.param("/mcp/", "/mcp", id="with a trailing slash"),
    pytest.param("/mcp/v1", "/mcp/v1", id="an exact version before the pattern"),
    pytest.param("/mcp/v1/", "/mcp/v1", id="an exact version with a trailing slash"),
    pytest.param("/mcp/v77", "/mcp/{ver}", id="any other version"),
    pytest.param("/mcp/v77/", "/mcp/{ver}", id="any other version with a trailing slash"),
    pytest.param("/mcp/vx", None, id="no version"),
    pytest.param("/mcp/1", None, id="a bare number"),
    pytest.param("/", None, id="the root"),
    pytest.param("/.well-known/oauth-authorization-server", None, id="well-known"),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
async def test_a_path_leads_to_its_entrance(serve: Serve, make_entrance: Make, path: str, expected: str | None) -> None:
    """Both spellings are served, exact paths win over patterns, and the rest is 404 in JSON."""
    entrances = [
        make_entrance(lambda _, name=name: Reply(200, name.encode()), pattern=name)
        for name in ("/mcp/{ver}", "/mcp", "/mcp/v1")
    ]
    answer = await (await serve(*entrances)).ask(path=path)
    if expected is None:
        assert (answer.status, answer.body) == (404, b'{"error":"not found"}')
    else:
        assert (answer.status, answer.body) == (200, expected.encode())


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "PROPFIND"])
async def test_methods_that_are_not_served_are_admits_to_refuse(serve: Serve, make_entrance: Make, method: str) -> None:
    """Every method reaches `admit`, whose 405 carries `Allow`."""
    answer = await (await serve(make_entrance())).ask(method)
    assert (answer.status, answer.header("Allow")) == (405, "POST")


async def test_options_without_a_preflight_tells_the_methods(serve: Serve, make_entrance: Make) -> None:
    """204 with `Allow`, and no token is asked for."""
    served = await serve(make_entrance(methods=("POST", "DELETE"), admit=lambda _: Reply(401, b"{}", JSON)))
    answer = await served.ask("OPTIONS")
    assert (answer.status, answer.header("Allow"), answer.body) == (204, "POST, DELETE, OPTIONS", b"")


async def test_guards_hold_for_options(serve: Serve, make_entrance: Make) -> None:
    """A foreign Host is refused whatever the method."""
    served = await serve(make_entrance(admit=lambda _: Reply(421, b"{}", JSON)))
    assert (await served.ask("OPTIONS")).status == 421


async def test_what_admit_refuses_is_not_read(serve: Serve, make_entrance: Make) -> None:
    """The answer comes before the body does."""
    served = await serve(make_entrance(admit=lambda _: Reply(401, b"{}", JSON)))
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
    assert (await client.answer()).status == 401


@pytest.mark.parametrize(
    ("verdict", "status"),
    [pytest.param(ANONYMOUS, 200, id="let in"), pytest.param(Reply(401, b"{}", JSON), 401, id="refused")],
)
async def test_a_verdict_is_settled_before_the_answer(
    serve: Serve, make_entrance: Make, verdict: Principal | Reply, status: int
) -> None:
    """Where somebody outside has a say, the door waits for it."""
    asked = asyncio.Event()

    async def settle() -> Principal | Reply:
        asyncio.get_running_loop().call_soon(asked.set)
        await asked.wait()
        return verdict

    served = await serve(make_entrance(admit=lambda _: Pending(settle)))
    answer = await served.ask("POST")
    assert (answer.status, asked.is_set()) == (status, True)


BOMB = gzip.compress(bytes(10_000_000))
BODIES = [
    pytest.param(b"x" * LIMIT, {}, 200, id="exactly the limit, declared"),
    pytest.param(b"x" * (LIMIT + 1), {}, 413, id="one byte more, declared"),
    pytest.param(chunked(b"x" * LIMIT), {"Transfer-Encoding": "chunked"}, 200, id="exactly the limit, chunked"),
    pytest.param(chunked(b"x" * LIMIT, b"x"), {"Transfer-Encoding": "chunked"}, 413, id="one byte more, chunked"),
    pytest.param(gzip.compress(b"x" * LIMIT), {"Content-Encoding": "gzip"}, 200, id="exactly the limit, inflated"),
    pytest.param(gzip.compress(b"x" * (LIMIT + 1)), {"Content-Encoding": "gzip"}, 413, id="one byte more, inflated"),
    pytest.param(BOMB, {"Content-Encoding": "gzip"}, 413, id="a bomb"),
    pytest.param(zlib.compress(b"x"), {"Content-Encoding": "deflate"}, 200, id="deflate"),
    pytest.param(b"x", {"Content-Encoding": "identity"}, 200, id="identity"),
    pytest.param(b"no gzip", {"Content-Encoding": "gzip"}, 400, id="no gzip at all"),
    pytest.param(b"x", {"Content-Encoding": "snappy"}, 415, id="an unknown coding"),
    pytest.param(b"x", {"Content-Encoding": "br"}, 415, id="a coding that aiohttp knows and lacks"),
    pytest.param(gzip.compress(b"x"), {"Content-Encoding": "gzip, gzip"}, 415, id="two codings"),
    pytest.param(b"zz\r\nx\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}, 400, id="chunks that are none"),
    pytest.param(b"", {}, 200, id="nothing"),
]


@pytest.mark.parametrize("at_once", [pytest.param(False, id="in time"), pytest.param(True, id="at once")])
@pytest.mark.parametrize(("body", "headers", "status"), BODIES)
async def test_bodies_are_read_within_the_limit(
    serve: Serve, make_entrance: Make, body: bytes, headers: dict[str, str], status: int, *, at_once: bool
) -> None:
    """The limit is exact to the byte of the inflated content; what cannot be read is a client's error."""
    served = await serve(make_entrance(at_once=at_once))
    answer = await served.ask(body=body, **headers)
    assert answer.status == status
    assert answer.header("Content-Type") in ("application/json", None)
    assert (await served.ask(body=b"{}")).body == b"{}", "and the server lives on"


async def test_a_body_in_pieces_is_one_body(serve: Serve, make_entrance: Make) -> None:
    """Whatever packets it comes in."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\n")
    for piece in (b"ab", b"cd", b"ef"):
        await client.send(piece)
        await asyncio.sleep(0)
    assert (await client.answer()).body == b"abcdef"


@pytest.mark.parametrize("at_once", [pytest.param(False, id="in time"), pytest.param(True, id="at once")])
async def test_what_is_inflated_by_and_by_is_one_body(serve: Serve, make_entrance: Make, *, at_once: bool) -> None:
    """More than aiohttp inflates in one go; it pauses and goes on although nothing more comes."""
    body = bytes(4_000_000)
    served = await serve(replace(make_entrance(at_once=at_once), max_body_bytes=len(body)))
    client = await served.connect()
    for _ in range(2):
        async with asyncio.timeout(10):
            answer = await client.ask(body=gzip.compress(body), Content_Encoding="gzip")
        assert answer.body == body


async def test_more_requests_than_are_read_ahead_are_all_answered(serve: Serve, make_entrance: Make) -> None:
    """While so many wait aiohttp stops reading; it goes on although nothing more comes."""
    served = await serve(make_entrance(at_once=True))
    client = await served.connect()
    asked = [b"%03d" % number for number in range(300)]
    # Chunks, which the front leaves to aiohttp.
    head = b"POST /call HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    await client.send(b"".join(head + chunked(body) for body in asked))
    async with asyncio.timeout(10):
        assert [(await client.answer()).body for _ in asked] == asked


@pytest.mark.parametrize("begun", [pytest.param(b"", id="nothing came yet"), pytest.param(b"x", id="it has begun")])
async def test_a_declared_length_above_the_limit_is_refused_before_it_comes(
    serve: Serve, make_entrance: Make, begun: bytes
) -> None:
    """The client learns at once."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n" + begun)
    assert (await client.answer()).status == 413


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
        pytest.param(
            b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", id="a length that is no number"
        ),
        pytest.param(b"POST /call HTTP/1.1\r\nHost: localhost\r\n: empty\r\n\r\n", id="a field without a name"),
    ],
)
async def test_what_is_no_http_is_400_without_a_traceback(serve: Serve, make_entrance: Make, data: bytes) -> None:
    """A short JSON answer, the connection ends, and one event says what it was."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(data)
    answer = await client.answer()
    assert (answer.status, answer.body) == (400, b'{"error":"malformed request"}')
    assert await client.ended()
    assert [(name, "exception" in fields) for name, fields in served.events] == [("http.malformed", False)]


async def test_an_unforeseen_error_is_500_without_its_text(serve: Serve, make_entrance: Make) -> None:
    """The client learns nothing of it, the log everything, and the connection serves on."""

    def answer(_: Inbound) -> Reply:
        raise ZeroDivisionError("secret")

    served = await serve(make_entrance(answer))
    client = await served.connect()
    for _ in range(2):
        reply = await client.ask(body=b"{}")
        assert (reply.status, reply.body) == (500, b'{"error":"internal error"}')
    assert [name for name, _ in served.events] == ["http.failed"] * 2
    assert isinstance(served.events[0][1]["exception"], ZeroDivisionError)


async def test_a_connection_error_of_a_backend_is_not_the_peers(serve: Serve, make_entrance: Make) -> None:
    """An answer that fails with a ConnectionError while the peer is there is a 500 like any other."""

    def answer(_: Inbound) -> Reply:
        raise ConnectionRefusedError("redis")

    served = await serve(make_entrance(answer))
    assert (await served.ask(body=b"{}")).status == 500


async def test_what_comes_after_runs_once_the_bytes_are_out(serve: Serve, make_entrance: Make) -> None:
    """`after` begins when the answer is written, and holds up neither the answer nor the connection's next request."""
    release, ran = asyncio.Event(), asyncio.Event()

    async def after() -> None:
        await release.wait()
        ran.set()

    served = await serve(make_entrance(lambda _: Reply(200, b"1", JSON, after)))
    client = await served.connect()
    assert (await client.ask(body=b"{}")).body == b"1"
    assert (await client.ask(body=b"{}")).body == b"1"
    assert not ran.is_set()
    release.set()
    async with asyncio.timeout(5):
        await ran.wait()


async def test_what_fails_after_the_answer_is_reported(serve: Serve, make_entrance: Make) -> None:
    """Nobody else could tell."""

    async def after() -> None:
        raise ZeroDivisionError

    served = await serve(make_entrance(lambda _: Reply(200, b"1", JSON, after)))
    assert (await served.ask(body=b"{}")).status == 200
    async with asyncio.timeout(5):
        while not served.events:
            await asyncio.sleep(0)
    assert served.events[0][0] == "after.failed"


async def test_a_stream_goes_out_piece_by_piece(serve: Serve, make_entrance: Make) -> None:
    """Chunked, each piece at once, `after` at the end; the connection serves on."""
    step, done = asyncio.Event(), asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        await step.wait()
        yield b"two"

    async def after() -> None:
        done.set()

    served = await serve(make_entrance(lambda _: Reply(200, pieces(), (("Content-Type", "text/event-stream"),), after)))
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    head = await client.reader.readuntil(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    assert await client.reader.readuntil(b"one\r\n") == b"3\r\none\r\n"
    assert not done.is_set()
    step.set()
    assert await client.reader.readuntil(b"0\r\n\r\n") == b"3\r\ntwo\r\n0\r\n\r\n"
    async with asyncio.timeout(5):
        await done.wait()
    step.set()
    assert (await client.ask()).body == b"onetwo"


async def test_a_stream_ends_when_its_reader_has_gone(serve: Serve, make_entrance: Make) -> None:
    """The generator is closed, and nothing is reported: peers leave."""
    closed = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x" * 10_000
                await asyncio.sleep(0)
        finally:
            closed.set()

    served = await serve(make_entrance(lambda _: Reply(200, pieces())))
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    await client.reader.readuntil(b"\r\n\r\n")
    client.writer.transport.abort()
    async with asyncio.timeout(5):
        await closed.wait()
    assert served.events == []


async def test_a_call_that_cancels_its_own_task_is_answered(serve: Serve, make_entrance: Make) -> None:
    """500 as for any unforeseen error, the log has it, and the connection serves on as if nothing had been."""
    cancelling = []

    async def answer(_: Inbound) -> Reply:
        task = asyncio.current_task()
        assert task is not None
        cancelling.append(task.cancelling())
        task.cancel()
        await asyncio.sleep(0)
        return Reply(200)

    served = await serve(make_entrance(answer))
    client = await served.connect()
    for _ in range(2):
        assert (await client.ask(body=b"{}")).status == 500
    assert [name for name, _ in served.events] == ["http.failed"] * 2
    assert cancelling == [0, 0]


async def test_a_stream_that_breaks_is_seen_to_be_broken(serve: Serve, make_entrance: Make) -> None:
    """No last chunk, the connection ends, and the log has the error."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise ZeroDivisionError

    served = await serve(make_entrance(lambda _: Reply(200, pieces())))
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    assert (await client.reader.read()).endswith(b"3\r\none\r\n")
    assert [name for name, _ in served.events] == ["http.failed"]


async def test_gone_ends_when_the_peer_leaves(serve: Serve, make_entrance: Make) -> None:
    """The answer in progress can know, and is not cancelled by it."""
    gone, entered = asyncio.Event(), asyncio.Event()

    async def answer(inbound: Inbound) -> Reply:
        entered.set()
        await inbound.gone()
        gone.set()
        return Reply(200)

    served = await serve(make_entrance(answer))
    client = await served.connect()
    await client.send(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    async with asyncio.timeout(5):
        await entered.wait()
        assert not gone.is_set()
        client.writer.transport.abort()
        await gone.wait()


async def test_pipelined_requests_are_answered_in_order(serve: Serve, make_entrance: Make) -> None:
    """Two requests in one packet, two answers."""
    served = await serve(make_entrance())
    client = await served.connect()
    await client.send(
        b"".join(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n%d" % number for number in (1, 2))
    )
    assert [(await client.answer()).body for _ in range(2)] == [b"1", b"2"]


@pytest.mark.parametrize("at_once", [pytest.param(False, id="in time"), pytest.param(True, id="at once")])
async def test_aiohttps_slow_reader_is_waited_for(serve: Serve, make_entrance: Make, *, at_once: bool) -> None:
    """No further request is begun while answers pile up; all are there for who reads on."""
    begun: list[int] = []

    def answer(_: Inbound) -> Reply:
        begun.append(1)
        return Reply(200, bytes(300_000))

    entrance = make_entrance(answer)
    served = await serve(replace(entrance, quick=lambda _, inbound: answer(inbound)) if at_once else entrance)
    client = await served.connect()
    head = b"POST /call HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    await client.send((head + chunked()) * 100)
    async with asyncio.timeout(30):
        while not any(getattr(held, "writing_paused", False) for held in served.door._connections):
            await asyncio.sleep(0.01)
    count = len(begun)
    await asyncio.sleep(0.05)
    assert len(begun) == count < 100
    for _ in range(100):
        assert len((await client.answer()).body) == 300_000


async def test_each_answer_is_counted_once(serve: Serve, make_entrance: Make) -> None:
    """By the entrance's name and the status, whether it was answered, refused or too large."""
    served = await serve(make_entrance())
    await served.ask(body=b"{}")
    await served.ask("GET")
    await served.ask(body=b"x" * 5000)
    assert [(request["endpoint"], request["status"]) for request in served.requests] == [
        ("/call", "200"),
        ("/call", "405"),
        ("/call", "413"),
    ]


async def test_what_is_told_of_an_answer(serve: Serve, make_entrance: Make) -> None:
    """The request's method, the sizes of both bodies, and how long it took."""
    served = await serve(make_entrance())
    await served.ask(body=b"{}")
    told = {"endpoint": "/call", "status": "200", "method": "POST", "received": 2, "sent": 2, "timed": True}
    assert served.requests == [told]


async def test_a_stream_is_told_of_at_its_end(serve: Serve, make_entrance: Make) -> None:
    """With the bytes of all its pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b""
        yield b"three"

    served = await serve(make_entrance(lambda _: Reply(200, pieces(), JSON)))
    assert (await served.ask(body=b"{}")).body == b"onethree"
    assert [(told["status"], told["sent"]) for told in served.requests] == [("200", 8)]


async def test_a_path_that_nothing_is_at_is_told_of(serve: Serve, make_entrance: Make) -> None:
    """Under one name, whatever the path."""
    served = await serve(make_entrance())
    await served.ask("GET", "/nothing/here")
    assert [(told["endpoint"], told["status"]) for told in served.requests] == [("none", "404")]


WAYS_OUT = [
    pytest.param("POST / HTTP/1.1\r\nHost: x", False, id="HTTP/1.1"),
    pytest.param("POST / HTTP/1.1\r\nHost: x\r\nConnection: close", True, id="HTTP/1.1, once"),
    pytest.param("POST / HTTP/1.0\r\nConnection: keep-alive", False, id="HTTP/1.0 that stays"),
    pytest.param("POST / HTTP/1.0", True, id="HTTP/1.0"),
]


@pytest.mark.parametrize(("asked", "ends"), WAYS_OUT)
async def test_all_ways_out_say_the_same(serve: Serve, make_entrance: Make, asked: str, *, ends: bool) -> None:
    """Written in one go or by aiohttp, an answer has its status, fields and body; the connection stays or ends."""
    fields = (("Content-Type", "application/json"), ("Vary", "Accept-Language"), ("X-Word", "слово"))
    served = await serve(make_entrance(lambda inbound: Reply(404, b'{"said":"so"}', fields), pattern="/"))
    client = await served.connect()
    await client.send(f"{asked}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
    answer = await client.answer()
    assert (answer.status, answer.body) == (404, b'{"said":"so"}')
    said = [field for field in answer.headers if field[0].lower() not in {"date", "connection"}]
    assert said == [*fields, ("Server", "rpcgw"), ("Content-Length", "13")]
    assert answer.header("Date")
    if ends:
        assert await client.ended()
    else:
        assert (await client.ask(path="/")).status == 404


async def test_who_wants_no_more_is_told_so(serve: Serve, make_entrance: Make) -> None:
    """An answer after which the connection ends says it (RFC 9112, section 9.6)."""
    served = await serve(make_entrance(at_once=True))
    client = await served.connect()
    answer = await client.ask(body=b"{}", Connection="close")
    assert (answer.status, answer.header("Connection")) == (200, "close")
    assert await client.ended()


async def test_a_line_break_in_a_field_goes_nowhere(serve: Serve, make_entrance: Make) -> None:
    """A field that would end itself is an error of ours, and the client reads 500."""
    served = await serve(make_entrance(lambda inbound: Reply(200, b"{}", (("X-Word", "a\r\nSet-Cookie: b"),))))
    answer = await served.ask()
    assert answer.status == 500
    assert answer.header("Set-Cookie") is None


async def test_exact_paths_go_past_aiohttps_router(
    serve: Serve, make_entrance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for whatever is no exact path of an entrance, and for what aiohttp has a part in."""
    asked: list[str] = []
    resolve = web.UrlDispatcher.resolve

    async def resolved(self: web.UrlDispatcher, request: web.Request) -> Any:
        asked.append(f"{request.method} {request.path}")
        return await resolve(self, request)

    monkeypatch.setattr(web.UrlDispatcher, "resolve", resolved)
    served = await serve(make_entrance(at_once=True))
    before = len(asked)  # the front has tried whether handing over works
    for method, path in (
        ("POST", "/call"),
        ("GET", "/call?x=1"),
        ("PUT", "/call/"),
        ("OPTIONS", "/call"),
        ("POST", "/no"),
    ):
        await served.ask(method, path)
    assert asked[before:] == ["OPTIONS /call", "POST /no"]
