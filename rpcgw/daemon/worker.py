"""A worker: one event loop, one gateway open for calls, one door.

Told: `lame`, `drain`, `reopen`, `reloaded`, `switched`; the end of the channel means that the supervisor is gone: drain
and go. Tells: `ready`, `beat` each second, `switched` when it turned methods on or off, `worn` when it should be
replaced (SIGTERM: it serves on until it is told to drain), and what keeps it from serving: `problem` for each,
or `failed`.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import astuple, replace

import uvloop

from rpcgw.adapters.http.connections import Share
from rpcgw.adapters.http.door import Door
from rpcgw.api.errors import ConfigError
from rpcgw.api.records import record
from rpcgw.daemon.channel import Channel, Message
from rpcgw.daemon.compiled import Compiled, Running, Slot, nothing
from rpcgw.daemon.exits import BROKEN, MISCONFIGURED
from rpcgw.daemon.lines import Lines

BEAT = 1.0
LAST_SCRAPE = 2.0
"""Seconds that a scrape has which is under way when its worker begins to drain."""


@record(frozen=True, slots=True)
class Drain:
    """An order: how many seconds running calls have, and idle connections (None: as long as they are kept alive).

    `tools` are those of the workers that serve from now on; None where nobody does, or nobody knows. `last` says that
    nobody takes connections from these sockets any more.
    """

    grace: float
    idle: float | None
    tools: Mapping[str, str] | None = None
    last: bool = False


ORPHANED = Drain(10.0, 1.0)


@record(frozen=True, slots=True)
class Sockets:
    """What a worker is given: its end of a channel, where clients come, and where only metrics are read."""

    control: Channel
    listeners: Sequence[socket.socket]
    scraped: Sequence[socket.socket] = ()


def run(compiled: Compiled, slot: Slot, sockets: Sockets, share: Share) -> int:
    """Serve in this process until told to drain; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to everyone; the supervisor decides
    # Never closed: closing would wait for threads that run procedures without end. The process ends right after.
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    return runner.run(Worker(compiled, slot, sockets, share).serve())


class Worker:
    """One worker's life: open, serve, drain, close."""

    def __init__(self, compiled: Compiled, slot: Slot, sockets: Sockets, share: Share) -> None:
        self._compiled = compiled
        self._slot = replace(slot, announce=self._announce)
        self._sockets = sockets
        self._control = sockets.control
        self._share = share
        self._lines = Lines(compiled.needs.log_format)
        self._drain: asyncio.Event = asyncio.Event()
        self._order = ORPHANED
        self._door: Door | None = None
        self._early: list[Message] = []
        self._look: Callable[[], None] = nothing
        self._handlers: Mapping[str, Callable[[Message], None]] = {"drain": self._drained}

    async def serve(self) -> int:
        """The exit code: 0 where all went well."""
        self._listen()
        async with AsyncExitStack() as stack:
            try:
                running = await stack.enter_async_context(self._compiled.running(self._slot))
            except ConfigError as error:
                return self._misconfigured(error)
            except Exception as error:  # noqa: BLE001 -- a plugin's lifespan may raise anything
                return self._failed(error)
            async with self._scraped(running):
                await self._serve(running)
            self._look = nothing
        return 0

    @asynccontextmanager
    async def _scraped(self, running: Running) -> AsyncIterator[None]:
        """Serve metrics and health at an address of their own, where there is one."""
        if not self._sockets.scraped:
            yield
            return
        door = Door((), parts=running.parts, report=running.report, scrape=running.scrape)
        await door.open(self._sockets.scraped)
        draining = asyncio.ensure_future(self._close_early(door))
        try:
            yield
        finally:
            self._drain.set()
            await draining

    async def _close_early(self, door: Door) -> None:
        """Whoever comes next has the numbers of this worker too."""
        await self._drain.wait()
        await door.drain(LAST_SCRAPE, 0.0)

    async def _serve(self, running: Running) -> None:
        door = Door(
            running.entrances,
            parts=running.parts,
            report=running.report,
            traffic=running.traffic,
            scrape=None if self._sockets.scraped else running.scrape,
            share=self._share,
            bounds=running.bounds,
            tls=running.tls,
            fast_front=self._compiled.needs.fast_front,
        )
        await door.open(self._sockets.listeners)
        self._door = door
        self._handle(running, door)
        self._control.send({"is": "ready"})
        await self._drain.wait()
        if self._order.idle is not None:  # at a reload the daemon stays ready
            door.lame()
        running.draining(self._order.tools)
        await door.drain(self._order.grace, self._order.idle, last=self._order.last)

    def _listen(self) -> None:
        """Hear the supervisor, and let it hear that the loop turns."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._control.fileno(), self._heard)
        loop.add_signal_handler(signal.SIGTERM, self._worn)
        self._beat(loop)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._control.send({"is": "beat"})
        self._look()  # processes beside the daemon, such as a queue's worker, tell nobody
        loop.call_later(BEAT, self._beat, loop)

    def _handle(self, running: Running, door: Door) -> None:
        """From now on messages have their effect; those that came early have it now."""
        self._handlers = {
            "drain": self._drained,
            "lame": lambda _: door.lame(),
            "reopen": lambda _: running.reopen(),
            "switched": lambda _: running.switched(),
            "reloaded": lambda message: running.reloaded(message["success"], message["at"]),
        }
        self._look = running.switched
        early, self._early = self._early, []
        for message in early:
            self._do(message)

    def _heard(self) -> None:
        try:
            packet = self._control.receive()
        except BlockingIOError:
            return
        if packet is None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._end(ORPHANED)
        else:
            self._do(packet.message)

    def _do(self, message: Message) -> None:
        handler = self._handlers.get(message["do"])
        if handler is None:
            self._early.append(message)
        else:
            handler(message)

    def _drained(self, message: Message) -> None:
        self._end(Drain(message["grace"], message["idle"], message["tools"], message["last"]))

    def _announce(self) -> None:
        self._control.send({"is": "switched"})

    def _worn(self) -> None:
        self._control.send({"is": "worn"})

    def _end(self, order: Drain) -> None:
        if not self._drain.is_set():
            self._order = order
            self._drain.set()
        elif self._door is not None:  # it drains after a reload, and now the daemon is to end
            self._door.hurry(order.grace, order.idle)

    def _misconfigured(self, error: ConfigError) -> int:
        for problem in error.problems:
            self._control.send({"is": "problem", "problem": astuple(problem)})
        count = len(error.problems)
        self._control.send({"is": "failed", "text": f"{count} problem{'' if count == 1 else 's'}"})
        return MISCONFIGURED

    def _failed(self, error: Exception) -> int:
        self._lines("worker.failed", slot=self._slot.number, generation=self._slot.generation, exception=error)
        notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        self._control.send({"is": "failed", "text": f"{type(error).__name__}: {error}{notes}"})
        return BROKEN
