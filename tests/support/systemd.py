"""A service manager for tests: it hears what sd_notify(3) sends, and hands over sockets as sd_listen_fds(3) wants."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.daemon import RPCGW, Daemon, serving

PATIENCE = 40.0

HAND_OVER = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 100) for number in sys.argv[1].split(",")]
for place, number in enumerate(high, 3):
    os.dup2(number, place)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(high)), LISTEN_FDNAMES=":".join("rpcgw.socket" for _ in high))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""What systemd does between fork and exec; `argv` is the descriptors, then the program."""

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
REQUEST = (
    b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(PING), PING)
)

Told = Mapping[str, str]
"""One message: its variables."""


class Manager:
    """Receives messages at a socket of its own; `environment` is what the daemon is started with."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.environment = {"NOTIFY_SOCKET": address}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def next(self) -> Told:
        """The next message."""
        self._socket.settimeout(PATIENCE)
        return dict(line.split("=", 1) for line in self._socket.recv(1 << 16).decode().splitlines())

    def until(self, variable: str) -> Told:
        """The next message that sets a variable; the watchdog's are passed over."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if variable in (told := self.next()):
                return told
        raise AssertionError(f"no {variable} within {PATIENCE} s")


@contextlib.contextmanager
def activated(place: Path, sockets: Sequence[socket.socket], env: Mapping[str, str] | None = None) -> Iterator[Daemon]:
    """Serve from a folder on sockets that somebody else has bound, until the block ends."""
    numbers = [each.fileno() for each in sockets]
    program = (sys.executable, "-c", HAND_OVER, ",".join(map(str, numbers)), str(RPCGW))
    with serving(place, env, bind=None, program=program, inherited=numbers) as running:
        yield running


@contextlib.contextmanager
def bound(place: Path) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A TCP and a unix socket that listen, as a socket unit has them."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(place / "rpcgw.sock"))
        unix.listen(512)
        yield tcp, unix


def ask(address: str | tuple[str, int]) -> Any:
    """One call on a connection of its own: the result, or what went wrong."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    received = b""
    try:
        with socket.socket(family) as client:
            client.settimeout(40)
            client.connect(address)
            client.sendall(REQUEST)
            while chunk := client.recv(4096):
                received += chunk
        return json.loads(received.partition(b"\r\n\r\n")[2])["result"]
    except (OSError, ValueError, LookupError) as error:
        return f"{error!r} after {received!r}"
