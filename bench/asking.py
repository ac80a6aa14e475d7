"""One request, and its answer: for gates and for what is prepared before a load."""

from __future__ import annotations

import socket
from typing import Self

from rpcgw.cli.load.wire import Answered, Asked, first

_SILENCE = 60.0


class Asker:
    """A connection to a server on this machine; one request after the other."""

    def __init__(self, port: int) -> None:
        self._host = f"127.0.0.1:{port}"
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_SILENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, asked: Asked) -> Answered:
        """Send a request and wait for the whole answer."""
        self._socket.sendall(asked.raw(self._host))
        data = b""
        while (answer := first(data)) is None:
            more = self._socket.recv(1 << 20)
            if not more:
                raise ConnectionError(f"{self._host} closed the connection after {data[:200]!r}")
            data += more
        return answer

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ask(port: int, asked: Asked) -> Answered:
    """Ask once."""
    with Asker(port) as asker:
        return asker.ask(asked)
