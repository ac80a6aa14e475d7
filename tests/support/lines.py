"""Keep-alive connections on raw sockets, as cheap clients have them: no pool, no retry, nothing read ahead."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

MCP_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "crowd", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 60.0
"""Seconds that an answer may take."""


class Lost(Exception):
    """A request went out, and no whole answer came back."""


class Heard(NamedTuple):
    """A whole answer; `head` is in lower case."""

    status: int
    head: bytes
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def request(path: str, message: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a POST."""
    body = json.dumps(message).encode()
    fields = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **(headers or {}),
        "Content-Length": str(len(body)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def rpc(method: str, params: Mapping[str, Any] | None = None, *, path: str = "/rpc") -> bytes:
    """A JSON-RPC call."""
    return request(path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})})


def tool(name: str, arguments: Mapping[str, Any] | None = None, *, path: str = "/mcp") -> bytes:
    """A call of a tool by the stateless revision of MCP."""
    params = {"name": name, "arguments": dict(arguments or {}), "_meta": MCP_META}
    mirrored = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
    return request(path, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, mirrored)


class Line:
    """One connection, opened when it is needed, and again after an answer that says `Connection: close`.

    `sent` and `answered` count; `before` is whatever the user remembers of this connection, None on a new one.
    """

    def __init__(self, host: str, port: int) -> None:
        self._where = (host, port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.sent = self.answered = 0
        self.before: Any = None

    async def ask(self, data: bytes) -> Heard:
        """Send one request and read its answer.

        Raises:
            Lost: The connection ended first. The next request opens another one.
        """
        if self._streams is not None and self._streams[0].at_eof():  # ended while it was idle: any client sees that
            await self.close()
        try:
            async with asyncio.timeout(PATIENCE):
                if self._streams is None:
                    self.before = None
                    self._streams = await asyncio.open_connection(*self._where)
                self.sent += 1
                heard = await self._exchange(*self._streams, data)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            await self.close()
            raise Lost(repr(error)) from error
        self.answered += 1
        if b"\r\nconnection: close\r\n" in heard.head:
            await self.close()
        return heard

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> Heard:
        writer.write(data)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0])
        return Heard(int(head.split()[1]), head, await reader.readexactly(length))

    async def ended(self) -> float:
        """Wait until the other side has closed it without a word; when that was, by the monotonic clock."""
        assert self._streams is not None, "it is open"
        async with asyncio.timeout(PATIENCE):
            assert await self._streams[0].read(1) == b""
        await self.close()
        return time.monotonic()

    async def close(self) -> None:
        """End the connection."""
        if self._streams is None:
            return
        writer, self._streams = self._streams[1], None
        writer.close()
        try:
            await writer.wait_closed()
        except OSError:  # the other side was faster
            return
