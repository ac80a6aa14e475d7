"""`--dev`: one process without a supervisor, which starts itself anew when a source file changes.

The listening sockets outlive the restart, so no connection is refused. What a change made of the configuration is
checked beside the running gateway first: on any problem the old one serves on, and the problems are printed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from rpcgw.adapters.http.door import Door
from rpcgw.api.errors import ConfigError
from rpcgw.config.reporting import report
from rpcgw.daemon.compiled import Compiled, Running, Slot
from rpcgw.daemon.exits import FAILED, MISCONFIGURED, OK
from rpcgw.daemon.generation import Generation, Refused
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.options import Options
from rpcgw.daemon.sockets import CannotListen, address_of, forget, listen
from rpcgw.daemon.template import check
from rpcgw.daemon.watch import Watch

LISTENERS = "RPCGW_DEV_LISTENERS"
"""The environment variable that hands listening sockets, as descriptors, to the process that comes after."""
RESTART_GRACE = 2.0
"""Seconds that calls in flight have when a file has changed."""


def run(options: Options) -> int:
    """Serve until told to stop; the exit code: 0 after a stop, 78 where the configuration is at fault, else 1."""
    lines = Lines("console")
    handed = [socket.socket(fileno=int(number)) for number in os.environ.pop(LISTENERS, "").split(",") if number]
    watch = Watch((_here(options),))
    compiled, problems = check(options)
    for line in report(problems, colour=sys.stderr.isatty()):
        _print(line)
    if compiled is None:
        return _until_mended(handed, watch) if handed else MISCONFIGURED
    try:
        listeners = handed or [listen(address) for address in compiled.needs.bind]
    except CannotListen as error:
        _print(str(error))
        return MISCONFIGURED
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(Dev(options, compiled, lines).serve(listeners, told=not handed))
    if code is None:
        _start_anew(listeners)
    forget(listeners)
    return OK if code is None else code


def _until_mended(listeners: Sequence[socket.socket], watch: Watch) -> int:
    """Files changed once more since the trial, and not for the better: whoever edits them is about to mend that."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        changed = runner.run(_changed(watch))
    if changed:
        _start_anew(listeners)
    forget(listeners)
    return OK


async def _changed(watch: Watch) -> bool:
    """Whether files have changed, or somebody asks for a reload. False: stop."""
    loop, stop, told = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, told.set)
    await _first(stop.wait(), told.wait(), watch.changed())
    return not stop.is_set()


async def _first(*waits: Coroutine[None, None, object]) -> None:
    """Until one of them has ended; the others are given up."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _here(options: Options) -> str:
    return str(Path(options.config).resolve().parent)


class Dev:
    """One run of the gateway, between two changes."""

    def __init__(self, options: Options, compiled: Compiled, lines: Lines) -> None:
        self._options = options
        self._compiled = compiled
        self._lines = lines
        needs = compiled.needs
        self._watch = Watch(needs.watched or (_here(options),), [needs.state_dir])
        self._told = asyncio.Event()
        self._stop = asyncio.Event()

    async def serve(self, listeners: Sequence[socket.socket], *, told: bool) -> int | None:
        """An exit code, or None where the process is to start anew. `told`: say where it listens."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._told.set)
        addresses = tuple(address_of(listener) for listener in listeners)
        async with AsyncExitStack() as stack:
            try:
                running = await stack.enter_async_context(self._compiled.running(Slot(1, 0, 1, addresses)))
            except ConfigError as error:
                _print(str(error))
                code = MISCONFIGURED
            except Exception as error:  # noqa: BLE001 -- a plugin's lifespan may raise anything
                self._lines("failed", exception=error)
                code = FAILED
            else:
                for address in addresses if told else ():
                    self._lines("listening", address=address)
                return await self._serve(running, listeners)
        # At the start there is a person who looks; after a change the person is about to make the next one.
        return code if told or not await self._until_told() else None

    async def _serve(self, running: Running, listeners: Sequence[socket.socket]) -> int | None:
        door = Door(
            running.entrances,
            parts=running.parts,
            report=running.report,
            traffic=running.traffic,
            scrape=running.scrape,
        )
        await door.open([listener.dup() for listener in listeners])
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, running.reopen)
        running.reloaded(True, time.time())  # noqa: FBT003 -- it is a hook
        self._lines("ready", watching=True)
        again = await self._until_told()
        running.draining({} if again else None)
        await door.drain(RESTART_GRACE if again else self._compiled.needs.grace, 0.0, last=not again)
        return None if again else OK

    def _told_to_stop(self) -> None:
        if self._stop.is_set():
            os._exit(OK)
        self._stop.set()

    async def _until_told(self) -> bool:
        """Whether to start anew: files have changed for something that can serve. False: stop."""
        while True:
            await _first(self._stop.wait(), self._told.wait(), self._watch.changed())
            self._told.clear()
            if self._stop.is_set():
                return False
            self._lines("changed")
            if await self._fit():
                return True

    async def _fit(self) -> bool:
        """Compile what is on disk now in a process of its own; problems are printed."""
        trial = Generation(
            self._options, on_ready=_ignore, on_worn=_ignore, on_gone=_ignore, on_lost=_ignore, on_switched=_ignore
        )
        try:
            await trial.compile()
        except Refused as refused:
            for line in report(refused.problems, colour=sys.stderr.isatty()):
                _print(line)
            self._lines("unchanged", level="error", text=refused.text or "the gateway as it was serves on")
            return False
        await trial.kill()
        return True


def _start_anew(listeners: Sequence[socket.socket]) -> None:
    for listener in listeners:
        listener.set_inheritable(True)
    os.environ[LISTENERS] = ",".join(str(listener.fileno()) for listener in listeners)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 -- this very command once more


def _ignore(*_: object) -> None:
    """A trial generation has no workers."""


def _print(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
