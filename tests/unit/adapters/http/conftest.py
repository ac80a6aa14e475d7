"""A door on a free port of the loopback, and a client that speaks bytes."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rpcgw.adapters.http.bounds import Bounds
from rpcgw.adapters.http.door import Door
from rpcgw.adapters.http.health import Part, Scrape
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.exchange import Answered, Entrance, Head, Inbound, Reply, Verdict

JSON = (("Content-Type", "application/json"),)
LIMIT = 1000


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) <= 1, f"{name} twice"
        return found[0] if found else None


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, *, bodiless: bool = False) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in head[1:-2])]
        answer = Answer(int(head[0].split()[1]), headers, b"")
        if bodiless:
            return answer
        return answer._replace(body=await self._body(answer))

    async def _body(self, answer: Answer) -> bytes:
        if (length := answer.header("Content-Length")) is not None:
            return await self.reader.readexactly(int(length))
        if answer.header("Transfer-Encoding") != "chunked":
            return b""
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return body

    async def ask(self, method: str = "POST", path: str = "/call", body: bytes = b"", **headers: str) -> Answer:
        """One request with its answer; underscores in header names stand for hyphens."""
        fields = {"Host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body or method == "POST":
            fields.setdefault("Content-Length", str(len(body)))
        if "Transfer-Encoding" in fields:
            del fields["Content-Length"]
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await self.send(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return await self.answer(bodiless=method == "HEAD")

    async def ended(self) -> bool:
        """Whether the server closes the connection."""
        async with asyncio.timeout(5):
            return await self.reader.read(1) == b""


class Served:
    """A door, its address, the requests that it counted, and what else it reported."""

    def __init__(
        self, door: Door, port: int, events: list[tuple[str, dict[str, Any]]], requests: list[dict[str, Any]]
    ) -> None:
        self.door = door
        self.port = port
        self.events = events
        self.requests = requests
        self._clients: list[Client] = []

    async def connect(self, path: Path | None = None, tls: ssl.SSLContext | None = None) -> Client:
        """A connection over TCP or TLS, or to a unix socket."""
        opening = asyncio.open_connection("127.0.0.1", self.port, ssl=tls) if path is None else _open_unix(path)
        self._clients.append(Client(*await opening))
        return self._clients[-1]

    async def ask(self, method: str = "POST", path: str = "/call", body: bytes = b"", **headers: str) -> Answer:
        """One request on a connection of its own."""
        return await (await self.connect()).ask(method, path, body, **headers)

    async def close(self) -> None:
        for client in self._clients:
            client.writer.close()
        await self.door.drain(0.5, 0.0)


async def _open_unix(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_unix_connection(str(path))


def entrance(
    answer: Callable[[Inbound], Any] | None = None,
    *,
    pattern: str = "/call",
    methods: Sequence[str] = ("POST",),
    admit: Callable[[Head], Verdict] | None = None,
    origins: Sequence[str] = (),
    expose: Sequence[str] = (),
    at_once: bool = False,
) -> Entrance:
    """An entrance that answers what it was sent, unless told otherwise; `at_once` without waiting, where it can."""

    def guard(head: Head) -> Principal | Reply:
        return ANONYMOUS if head.method in methods else Reply(405, b"{}", (*JSON, ("Allow", ", ".join(methods))))

    async def reply(_: Principal, inbound: Inbound) -> Reply:
        if answer is None:
            return Reply(200, inbound.body, JSON)
        made = answer(inbound)
        value: Reply = await made if asyncio.iscoroutine(made) else made
        return value

    return Entrance(
        name=pattern,
        pattern=pattern,
        methods=tuple(methods),
        max_body_bytes=LIMIT,
        admit=admit or guard,
        too_large=lambda head: Reply(413, b'{"too":"large"}', JSON),
        answer=reply,
        origins=tuple(origins),
        expose=tuple(expose),
        quick=(lambda _, inbound: Reply(200, inbound.body, JSON)) if at_once else None,
    )


@asynccontextmanager
async def doors(*, fast_front: bool) -> AsyncIterator[Callable[..., Any]]:
    """Opens doors; all are closed at the end."""
    opened: list[Served] = []

    async def make(
        *entrances: Entrance,
        parts: Sequence[Part] = (),
        scrape: Scrape | None = None,
        keep_alive: float = 75.0,
        bounds: Bounds | None = None,
        tls: ssl.SSLContext | None = None,
        path: Path | None = None,
    ) -> Served:
        events: list[tuple[str, dict[str, Any]]] = []
        requests: list[dict[str, Any]] = []

        def report(name: str, /, **fields: Any) -> None:
            events.append((name, fields))

        def traffic(endpoint: str) -> Answered:
            def answered(head: Head, status: int, received: int, sent: int, seconds: float) -> None:
                sizes = {"method": head.method, "received": received, "sent": sent}
                requests.append({"endpoint": endpoint, "status": str(status), **sizes, "timed": seconds >= 0})

            return answered

        async def state() -> Sequence[Part]:
            return parts

        door = Door(
            entrances,
            parts=state,
            report=report,
            traffic=traffic,
            scrape=scrape,
            bounds=bounds or Bounds(keep_alive=keep_alive),
            tls=tls,
            fast_front=fast_front,
        )
        if path is None:
            listener = socket.create_server(("127.0.0.1", 0))
        else:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path))
            listener.listen()
        port = 0 if path else listener.getsockname()[1]
        await door.open([listener])
        opened.append(Served(door, port, events, requests))
        return opened[-1]

    try:
        yield make
    finally:
        for served in opened:
            await served.close()


@pytest.fixture(params=[False, True], ids=["aiohttp", "front"])
async def serve(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Any]]:
    """Opens doors, with the fast front and without; all are closed after the test."""
    async with doors(fast_front=request.param) as make:
        yield make


@pytest.fixture
async def serve_fast() -> AsyncIterator[Callable[..., Any]]:
    """Opens doors with the fast front."""
    async with doors(fast_front=True) as make:
        yield make


@pytest.fixture
def make_entrance() -> Callable[..., Entrance]:
    return entrance
