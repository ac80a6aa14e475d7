"""The outgoing client against real servers on loopback: what it sends, what it tries again, where it refuses to go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from ipaddress import ip_address

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from rpcgw.adapters.http.client import Client, SystemResolver
from rpcgw.kernel.ports import SendError

FIELDS = {"Content-Type": "application/json", "traceparent": "00-1"}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start servers for a handler each; they end with the test."""
    servers: list[TestServer] = []

    async def start(handler: Handler) -> str:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        server = TestServer(app)
        await server.start_server()
        servers.append(server)
        return str(server.make_url("/hook"))

    yield start
    for server in servers:
        await server.close()


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client(first_pause=0.001)
    yield made
    await made.close()


def fields() -> Mapping[str, str]:
    return FIELDS


async def test_posts(serve: Serve, client: Client) -> None:
    """The body as it is, the fields that were given, and what HTTP itself needs: nothing else."""
    seen: list[tuple[dict[str, str], bytes]] = []

    async def take(request: web.Request) -> web.Response:
        seen.append((dict(request.headers), await request.read()))
        return web.Response(status=202)

    sent = await client.post(await serve(take), b"{}", fields)
    assert (sent.status, sent.attempts) == (202, 1)
    [(headers, body)] = seen
    assert body == b"{}"
    assert set(headers) == {"Host", "Content-Length", "Connection", *FIELDS}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(serve: Serve, client: Client, status: int) -> None:
    """A redirect is an answer that does not take the message, and is not tried again."""
    asked: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=status, headers={"Location": "/other"})

    with pytest.raises(SendError) as raised:
        await client.post(await serve(elsewhere), b"{}", fields, retries=3)
    assert (raised.value.status, raised.value.attempts, asked) == (status, 1, ["/hook"])


@pytest.mark.parametrize(
    ("statuses", "attempts"),
    [
        pytest.param([200], 1, id="taken at once"),
        pytest.param([503, 200], 2, id="unavailable once"),
        pytest.param([500, 502, 429, 408, 425, 204], 6, id="whatever may pass"),
    ],
)
async def test_tried_again(serve: Serve, client: Client, statuses: list[int], attempts: int) -> None:
    """What may pass is tried again, and each attempt has fields of its own."""
    left, seen = list(statuses), []

    async def moody(request: web.Request) -> web.Response:
        seen.append(request.headers["n"])
        return web.Response(status=left.pop(0))

    count = iter(range(100))
    sent = await client.post(await serve(moody), b"{}", lambda: {"n": str(next(count))}, retries=5)
    assert sent.attempts == attempts
    assert seen == [str(number) for number in range(attempts)]


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
async def test_not_tried_again(serve: Serve, client: Client, status: int) -> None:
    """A refusal that another attempt will not change is one attempt."""

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=status)

    with pytest.raises(SendError, match=f"answered {status}") as raised:
        await client.post(await serve(refuse), b"{}", fields, retries=5)
    assert raised.value.attempts == 1


async def test_gives_up(serve: Serve, client: Client) -> None:
    """After so many attempts the last answer is the reason."""

    async def away(_: web.Request) -> web.Response:
        return web.Response(status=503)

    with pytest.raises(SendError, match="answered 503") as raised:
        await client.post(await serve(away), b"{}", fields, retries=2)
    assert (raised.value.status, raised.value.attempts) == (503, 3)


async def test_nobody_listens(unused_tcp_port: int, client: Client) -> None:
    """No connection is tried again too, and has no status."""
    with pytest.raises(SendError, match="no connection") as raised:
        await client.post(f"http://127.0.0.1:{unused_tcp_port}/", b"{}", fields, retries=1)
    assert (raised.value.status, raised.value.attempts) == (None, 2)


async def test_refused_at_the_connection(serve: Serve) -> None:
    """The address of the connection itself is asked for, by name and by number, and nothing is sent where it is refused."""
    came: list[str] = []

    async def take(request: web.Request) -> web.Response:
        came.append(request.path)
        return web.Response()

    url = await serve(take)
    asked: list[tuple[str, int]] = []

    def admits(address: str, port: int) -> bool:
        asked.append((address, port))
        return False

    client = Client(admits, first_pause=0.001)
    try:
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            with pytest.raises(SendError, match="not one that may be connected to") as raised:
                await client.post(url.replace("127.0.0.1", host), b"{}", fields, retries=2)
            assert raised.value.attempts == 1
    finally:
        await client.close()
    assert came == []
    written = {str(ip_address(address)) for address, _ in asked}
    assert written <= {"127.0.0.1", "::1", str(ip_address("::ffff:127.0.0.1"))}


async def test_the_body_is_not_read(serve: Serve, client: Client) -> None:
    """A receiver that never ends its answer holds up nobody."""
    over = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
                await asyncio.sleep(0)
        finally:
            over.set()

    async with asyncio.timeout(5):
        assert (await client.post(await serve(endless), b"{}", fields)).status == 200
        await over.wait()


async def test_idle(serve: Serve) -> None:
    """A receiver that says nothing has so many seconds."""
    client = Client(idle=0.05, total=5.0)
    end = asyncio.Event()

    async def silent(_: web.Request) -> web.Response:
        await end.wait()
        return web.Response()

    url = await serve(silent)
    try:
        async with asyncio.timeout(4):
            with pytest.raises(SendError, match="no answer in time"):
                await client.post(url, b"{}", fields)
    finally:
        end.set()
        await client.close()


async def test_no_proxy_from_the_environment(
    serve: Serve, client: Client, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the environment says of proxies would go round the address check, and is not heard."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_tcp_port}")

    async def take(_: web.Request) -> web.Response:
        return web.Response()

    assert (await client.post(await serve(take), b"{}", fields)).status == 200


async def test_stream(serve: Serve, client: Client) -> None:
    """A stream comes piece by piece, and its end is its end."""

    async def pieces(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b"a", b"b"):
            await response.write(piece)
        return response

    async with client.stream(await serve(pieces), {"Accept": "text/event-stream"}) as found:
        assert b"".join([piece async for piece in found]) == b"ab"


async def test_no_stream(serve: Serve, client: Client) -> None:
    """Another status than 200 is no stream."""

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=401)

    with pytest.raises(SendError, match="answered 401"):
        async with client.stream(await serve(refuse), {}):
            raise AssertionError("there is none")


async def test_resolves() -> None:
    """A name stands for what the system says; one that nobody knows is an OSError."""
    assert "127.0.0.1" in await SystemResolver().resolve("localhost", 80)
    with pytest.raises(OSError, match=r".+"):
        await SystemResolver().resolve("nobody.invalid", 80)
