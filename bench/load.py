"""A load generator: raw keep-alive connections, prepared request bytes, answers framed by Content-Length.

Closed loop: each connection sends its next request when the last answer is complete. Every answer's status is checked
and every body is compared with the expected one.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import cast


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, the whole request as it goes over the wire, and the body that must come back."""

    raw: bytes
    expected: bytes


@dataclass(slots=True)
class Result:
    """What came of a run: answers, seconds, latencies in seconds, and the first wrong answers."""

    answers: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    wrong: list[bytes] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """A latency in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def http(port: int, path: str, body: bytes, headers: dict[str, str]) -> bytes:
    """A request as it goes over the wire."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        *map(": ".join, headers.items()),
    ]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One keep-alive connection in a closed loop."""

    def __init__(self, request: Request, result: Result, until: float) -> None:
        self._request, self._result, self._until = request, result, until
        self._buffer = b""
        self._sent = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one, and does not derive from it
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request.raw)

    def data_received(self, data: bytes) -> None:
        """Wait for the whole answer, count it, send the next."""
        self._buffer = self._buffer + data if self._buffer else data
        head, blank, body = self._buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        length = _content_length(head)
        if len(body) < length:
            return
        self._buffer = b""
        now = time.perf_counter()
        self._count(head, body, now)
        if now < self._until:
            self._send()
        else:
            self._transport.close()

    def _count(self, head: bytes, body: bytes, now: float) -> None:
        result = self._result
        result.answers += 1
        result.latencies.append(now - self._sent)
        if (body != self._request.expected or not head.startswith(b"HTTP/1.1 200")) and len(result.wrong) < 3:
            result.wrong.append(head[:200] + b" ... " + body[:300])

    def connection_lost(self, exc: Exception | None) -> None:
        """The run is over, or the server hung up."""
        if time.perf_counter() < self._until:
            self._result.wrong.append(f"connection lost: {exc}".encode())
        if not self.done.done():
            self.done.set_result(None)


def _content_length(head: bytes) -> int:
    lower = head.lower()
    at = lower.index(b"content-length:") + 15
    return int(lower[at:].split(b"\r\n", 1)[0])


async def run(port: int, request: Request, *, connections: int, seconds: float) -> Result:
    """Load a server for a while."""
    loop = asyncio.get_running_loop()
    result = Result()
    begin = time.perf_counter()
    until = begin + seconds
    made = [
        await loop.create_connection(lambda: Connection(request, result, until), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.wait([protocol.done for _, protocol in made], timeout=seconds + 30)
    result.seconds = time.perf_counter() - begin
    return result
