"""A receiver of webhooks: a real HTTP server on loopback that keeps what it gets."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """One POST: header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answers` are the statuses of the next answers, 204 once there are no more; `url` is where it listens."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def take(self, received: Received) -> int:
        """Keep one, and say how to answer it."""
        with self.news:
            self.received.append(received)
            self.news.notify_all()
            return self.answers.pop(0) if self.answers else 204

    def wait(self, count: int = 1, seconds: float = 20.0) -> list[Received]:
        """Wait until so many have come, in all."""
        return self.until(lambda: len(self.received) >= count, seconds)

    def until(self, done: Callable[[], bool], seconds: float = 20.0) -> list[Received]:
        """Wait until something is true of what has come."""
        with self.news:
            assert self.news.wait_for(done, seconds), f"after {seconds} s only {self.received}"
            return list(self.received)

    def stays_at(self, count: int, seconds: float) -> None:
        """See that no more than so many come within some time."""
        deadline = time.monotonic() + seconds
        with self.news:
            more = self.news.wait_for(lambda: len(self.received) > count, max(0.0, deadline - time.monotonic()))
        assert not more, self.received


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """Listen until the block ends."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = kept.take(Received(self.path, headers, body))
            self.send_response(status)
            if status in range(300, 400):
                self.send_header("Location", f"{kept.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's signature
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
