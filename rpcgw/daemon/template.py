"""The template of a generation: compiles once, which is the check, and forks workers on order.

Runs as `python -m rpcgw.daemon.template DESCRIPTOR`, the descriptor being its end of a channel to the supervisor; the
first one is forked (`rpcgw.daemon.first`). It has one thread and no event loop, and opens nothing: what a worker owns
is made after the fork. What it compiled is what all its workers serve, also one that is forked tomorrow, whatever the
disk says by then.

Told: `compile` once, then `fork`; `stand by`, which forks one that takes its place should it be lost; `left` with the
slot of a worker that was not its own. Tells: `problem` for each, then `compiled` or `refused`; `forked`, `exited`,
`standing by`.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import mmap
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, cast

import rpcgw
from rpcgw.api.problems import Place, Problem, errors
from rpcgw.daemon.channel import Channel, Packet
from rpcgw.daemon.compiled import Compiled, Slot, Wiring
from rpcgw.daemon.exits import BROKEN, MISCONFIGURED, OK
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.options import Options

if TYPE_CHECKING:
    from rpcgw.adapters.http.connections import Share

CELL = 8
THREADS = Path("/proc/self/task")


def main(descriptor: int) -> int:
    """Compile, answer, and fork until the supervisor closes the channel and the last worker is gone."""
    gc.disable()  # hardly any of what is imported and compiled is garbage: `Nursery` looks once
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the supervisor decides
    channel = Channel(socket.socket(fileno=descriptor))
    first = channel.receive()
    if first is None:
        return 0
    if first.message["version"] != rpcgw.__version__:
        return refuse(channel, [other_version(first.message["options"]["config"], first.message["version"])])
    options = Options.from_message(first.message["options"])
    compiled, problems = check(options)
    if compiled is None:
        return refuse(channel, problems)
    tell(channel, problems)
    nursery = Nursery(compiled, options.generation, channel)
    channel.send({"is": "compiled", "needs": compiled.needs.to_message()})
    nursery.run()
    return 0


def refuse(channel: Channel, problems: Sequence[Problem]) -> int:
    """Say what keeps this generation from serving; the exit code."""
    tell(channel, problems)
    channel.send({"is": "refused"})
    return MISCONFIGURED


def tell(channel: Channel, problems: Sequence[Problem]) -> None:
    """One message for each."""
    for problem in problems:
        channel.send({"is": "problem", "problem": astuple(problem)})


def other_version(config: str, running: str) -> Problem:
    """An update of rpcgw itself: old and new processes would not understand each other."""
    text = f"rpcgw {rpcgw.__version__} is installed, and {running} runs: a reload renews everything but rpcgw itself"
    return Problem(Place(config), "restart-needed", text, "restart the daemon")


def check(options: Options) -> tuple[Compiled | None, Sequence[Problem]]:
    """Compile; a generation with its warnings, or None with every problem."""
    place = Place(options.config)
    try:
        wiring = cast(Wiring, importlib.import_module(options.wiring))
        importlib.import_module("rpcgw.daemon.worker")  # shared by all workers, like what is compiled
        gc.freeze()  # modules stay: whoever looks for garbage later has no need to look at them
        found = wiring.compile_generation(options)
    except Exception as error:  # noqa: BLE001 -- a fault of ours must refuse the reload, not end the daemon
        Lines()("compile.failed", exception=error)
        return None, [
            Problem(place, "internal", f"the gateway cannot be compiled: {error!r}", "this is a bug of rpcgw")
        ]
    if isinstance(found, Sequence):
        return None, found
    if threads := other_threads():
        hint = "start them in the plugin's lifespan, which runs in each worker"
        return None, [*found.warnings, Problem(place, "threads-at-import", f"a plugin starts threads: {threads}", hint)]
    return (found, found.warnings) if not errors(list(found.warnings)) else (None, found.warnings)


def other_threads() -> str:
    """The threads beside the main one, which a fork would lose; empty where there are none."""
    if THREADS.is_dir() and len(list(THREADS.iterdir())) == 1:
        return ""
    names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return ", ".join(names) or ("of a native library" if THREADS.is_dir() else "")


class Nursery:
    """Forks workers on order, and tells when they are gone."""

    def __init__(
        self, compiled: Compiled, generation: int, channel: Channel, cells: memoryview[int] | None = None
    ) -> None:
        self._compiled = compiled
        self._generation = generation
        self._channel = channel
        self._workers: dict[int, int] = {}
        self._ordered = True
        if cells is None:
            # Open connections of each worker: an anonymous map that all of them share.
            cells = memoryview(mmap.mmap(-1, CELL * compiled.needs.slots)).cast("Q")
            self._cells = cells
            for number in range(compiled.needs.slots):
                self._leave(number)
        self._cells = cells
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        gc.collect()
        gc.freeze()
        gc.enable()

    def run(self) -> None:
        """Until no order can come any more and no worker is left."""
        while self._ordered or self._workers:
            waiting = [self._woken, self._channel.fileno()] if self._ordered else [self._woken]
            readable, _, _ = select.select(waiting, [], [])
            if self._woken in readable:
                os.read(self._woken, 512)
            self._reap()
            if self._channel.fileno() in readable:
                self._obey(self._channel.receive())

    def _leave(self, number: int) -> None:
        from rpcgw.adapters.http.connections import AWAY  # noqa: PLC0415 -- aiohttp is loaded after the check only

        self._cells[number] = AWAY

    def _share(self, number: int) -> Share:
        from rpcgw.adapters.http.connections import Share  # noqa: PLC0415 -- aiohttp is loaded after the check only

        return Share(self._cells, number, single=self._compiled.needs.workers == 1)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if (number := self._workers.pop(pid, None)) is not None:
                self._leave(number)
                code = os.waitstatus_to_exitcode(status)
                self._channel.send({"is": "exited", "slot": number, "pid": pid, "code": code})

    def _obey(self, packet: Packet | None) -> None:
        if packet is None:
            self._ordered = False
            return
        match packet.message["do"]:
            case "left":
                self._leave(packet.message["slot"])
            case "stand by":
                pid = self._fork(packet, self._stand_by)
                self._channel.send({"is": "standing by", "pid": pid})
            case _:
                number = packet.message["slot"]
                pid = self._fork(packet, self._serve)
                self._workers[pid] = number
                self._channel.send({"is": "forked", "slot": number, "pid": pid})

    def _fork(self, packet: Packet, work: Callable[[Packet], int]) -> int:
        pid = os.fork()
        if pid == 0:
            self._be_a_child(packet, work)
        for descriptor in packet.descriptors:
            os.close(descriptor)
        return pid

    def _be_a_child(self, packet: Packet, work: Callable[[Packet], int]) -> None:
        """In the child: forget what is the template's, work, and leave without the parent's exit handlers."""
        code = BROKEN
        try:
            signal.set_wakeup_fd(-1)
            for descriptor in (self._woken, self._wake, self._channel.fileno()):
                os.close(descriptor)
            code = work(packet)
        except BaseException as error:  # noqa: BLE001 -- the fork's edge: nothing may reach the template's own frames
            Lines(self._compiled.needs.log_format)("worker.failed", exception=error)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _stand_by(self, packet: Packet) -> int:
        """Hold the same, and wait: the supervisor speaks to this one once the template is gone."""
        channel = Channel(socket.socket(fileno=packet.descriptors[0]))
        Nursery(self._compiled, self._generation, channel, self._cells).run()
        return OK

    def _serve(self, packet: Packet) -> int:
        from rpcgw.daemon import worker  # noqa: PLC0415 -- aiohttp is loaded after the check only

        for signum in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        faulthandler.enable()
        number = packet.message["slot"]
        control, *listeners = [socket.socket(fileno=descriptor) for descriptor in packet.descriptors]
        control.settimeout(0.0)
        slot = Slot(self._generation, number, self._compiled.needs.workers, tuple(packet.message["addresses"]))
        count = len(listeners) - packet.message["scraped"]
        sockets = worker.Sockets(Channel(control), listeners[:count], listeners[count:])
        return worker.run(self._compiled, slot, sockets, self._share(number))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
