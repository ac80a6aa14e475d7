"""Accepting connections from a socket that several workers share; the least loaded goes first.

The kernel wakes whichever worker it likes, and keep-alive connections stay where they land: with libuv's own accept
loop one worker of two was measured to end with all 64. Here a worker that holds more than the least loaded pauses once,
3 ms, and then takes what is left: a sibling that is stuck or dead costs 3 ms and never a connection.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rpcgw.adapters.http.connections import Connections, Report
from rpcgw.api.records import record

COURTESY = 0.003
"""Seconds that a worker lets a less loaded sibling go first."""
BATCH = 16
"""Connections taken at once after a pause, or where there is no sibling."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
RECOVERY = 0.1
"""Seconds without accepting when the process is out of descriptors: `accept` would fail again at once."""
REPORT_EVERY = 10.0


@record(frozen=True, slots=True)
class Tls:
    """What a listening socket speaks TLS with; `handshake` is how many seconds one may take."""

    context: ssl.SSLContext
    handshake: float


class Acceptor:
    """Takes connections from one listening socket, which it owns, until it is closed.

    Where there are too many, those that have been idle longest make room: idle ones cannot keep others out.
    """

    def __init__(
        self,
        listener: socket.socket,
        factory: Callable[[], asyncio.BaseProtocol],
        connections: Connections,
        report: Report,
        tls: Tls | None = None,
    ) -> None:
        self._listener = listener
        self._factory = factory
        self._connections = connections
        self._report = report
        self._options: dict[str, Any] = (
            {} if tls is None else {"ssl": tls.context, "ssl_handshake_timeout": tls.handshake}
        )
        self._loop = asyncio.get_running_loop()
        self._paused = False
        self._held: socket.socket | None = None
        self._reported = float("-inf")
        self._starting: set[asyncio.Task[object]] = set()
        listener.settimeout(0.0)
        self._loop.add_reader(listener, self._readable)

    def close(self, *, last: bool = False) -> None:
        """Take no more; what is in the socket's queue is left to others.

        The `last` one takes that too, and then nobody can connect, whichever processes hold the socket as well: who
        comes later is told at once, instead of waiting in a queue to no end.
        """
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener)
            if last:
                self._finish()
            self._listener.close()
        if self._held is not None:
            self._start(self._held)
            self._held = None

    def _finish(self) -> None:
        while (taken := self._accept()) is not None:
            self._start(taken)
        with suppress(OSError):  # a sibling was faster, or this system knows no such thing
            self._listener.shutdown(socket.SHUT_RDWR)

    def _readable(self) -> None:
        share = self._connections.share
        if not self._paused and share.ahead():
            self._pause(COURTESY)
            return
        batch = BATCH if self._paused or share.single else 1
        self._paused = False
        for _ in range(batch):
            if not self._take():
                break

    def _take(self) -> bool:
        taken, self._held = self._held or self._accept(), None
        if taken is None:
            return False
        if self._connections.full and not self._make_room("accept.full"):
            self._held = taken  # until there is room
            return False
        self._start(taken)
        return True

    def _accept(self) -> socket.socket | None:
        try:
            taken, _ = self._listener.accept()
        except OSError as error:  # mostly BlockingIOError: a sibling was faster
            if error.errno in EXHAUSTED:
                self._make_room("accept.exhausted", text=str(error))
                self._pause(RECOVERY)
            return None
        return taken

    def _start(self, taken: socket.socket) -> None:
        self._connections.accepted()
        taken.settimeout(0.0)
        starting = self._loop.connect_accepted_socket(self._factory, taken, **self._options)
        task: asyncio.Task[object] = self._loop.create_task(starting)
        self._starting.add(task)
        task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[object]) -> None:
        self._starting.discard(task)
        if task.cancelled() or task.exception() is not None:  # the peer left at once, or its handshake failed
            self._connections.lost(None)

    def _make_room(self, event: str, **fields: str) -> bool:
        """End what has been idle longest; where nothing is idle, wait a little."""
        ended = self._connections.make_room()
        for _ in range(ended):
            self._report("connection.shed")
        if (now := self._loop.time()) - self._reported > REPORT_EVERY:
            self._reported = now
            self._report(event, **fields, open=len(self._connections), ended=ended)
        if not ended:
            self._pause(RECOVERY)
        return bool(ended)

    def _pause(self, seconds: float) -> None:
        if self._paused:
            return
        self._paused = True
        self._loop.remove_reader(self._listener)
        self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener, self._readable)
            if self._held is not None:
                self._readable()
