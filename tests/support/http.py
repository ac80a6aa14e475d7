"""One plain HTTP client for tests: nothing is added, followed, pooled or hidden, and header names keep their spelling."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: headers as they stood on the wire, in order; the body whole."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the value of the first header of that name, whatever its case."""
        return next(iter(self.header_all(name)), None)

    def header_all(self, name: str) -> list[str]:
        """Return the values of all headers of that name."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode()

    def json(self) -> Any:
        """Return the body as JSON, its members in the order of the wire."""
        try:
            return json.loads(self.body)
        except ValueError as problem:
            raise AssertionError(f"not JSON, with status {self.status}: {self.body[:500]!r}") from problem


Heard = Callable[[str, str, bytes, Mapping[str, str], Answer], None]
"""Told of each request: its method, path, body and headers, and the answer."""


class Client:
    """Requests to one base address (`http://host:port`), each on a connection of its own.

    `heard` is told of each of them, where somebody wants to know.
    """

    def __init__(self, url: str, *, timeout: float = TIMEOUT) -> None:
        parts = urlsplit(url)
        assert parts.hostname, url
        assert parts.port, url
        self.url = url.rstrip("/")
        self.host = parts.hostname
        self.port = parts.port
        self.timeout = timeout
        self.heard: Heard | None = None

    def request(
        self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request as it is: of headers only `Host` and `Content-Length` are made, unless given."""
        connection = self.connect()
        try:
            answer = exchange(connection, method, path, body, headers)
        finally:
            connection.close()
        if self.heard is not None:
            self.heard(method, path, as_bytes(body), headers or {}, answer)
        return answer

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """GET a path."""
        return self.request("GET", path, headers=headers)

    def post(self, path: str, message: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """POST a value as JSON; bytes go as they are. `Content-Type` is `application/json` unless given."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection that the caller keeps, for keep-alive, and closes."""
        return http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)

    def socket(self) -> socket.socket:
        """Open a bare socket."""
        return socket.create_connection((self.host, self.port), timeout=self.timeout)

    def raw(self, data: bytes) -> bytes:
        """Send bytes, then read until the other side closes."""
        with self.socket() as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))


def as_bytes(body: bytes | str | None) -> bytes:
    """Return what goes out as a body."""
    return body.encode() if isinstance(body, str) else body or b""


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request on an open connection and read its answer."""
    given = dict(headers or {})
    names = {name.lower() for name in given}
    content = body.encode() if isinstance(body, str) else body
    connection.putrequest(method, path, skip_host="host" in names, skip_accept_encoding=True)
    if content is not None and not names & {"content-length", "transfer-encoding"}:
        given["Content-Length"] = str(len(content))
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(content)
    response = connection.getresponse()
    return Answer(response.status, tuple(response.getheaders()), response.read())
