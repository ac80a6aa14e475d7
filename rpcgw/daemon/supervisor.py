"""The supervisor: owns the listening sockets, the order of generations, the signals. Never forks, imports no plugin.

SIGTERM and SIGINT drain and end with 0 (a second one forces), SIGHUP reloads, SIGUSR1 reopens logs. Standard library
and asyncio only: what it must know of the configuration reaches it from the template.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from itertools import count

from rpcgw.api.problems import Problem
from rpcgw.config.reporting import report
from rpcgw.daemon.channel import Message
from rpcgw.daemon.counters import Counters
from rpcgw.daemon.exits import FAILED, MISCONFIGURED, OK
from rpcgw.daemon.generation import Generation, Member, Refused
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.notify import Notifier
from rpcgw.daemon.options import Options
from rpcgw.daemon.pidfile import PidFile
from rpcgw.daemon.sockets import CannotListen, address_of, forget, handed_over, listen

STOP_IDLE = 5.0
"""Seconds after which idle connections are closed when the daemon ends."""
MOST_DRAINING = 2
"""Old generations that may drain at once; a further reload waits."""
TICK = 1.0
PR_SET_CHILD_SUBREAPER = 36


def run(options: Options) -> int:
    """Serve until told to stop; the exit code: 0 after a stop, 78 where the configuration is at fault, else 1."""
    return asyncio.run(Supervisor(options, Lines("console" if options.dev else "json")).run())


class Supervisor:
    """One daemon's life."""

    def __init__(self, options: Options, lines: Lines) -> None:
        self._options = options
        self._lines = lines
        self._notifier = Notifier(os.environ)
        self._stop = asyncio.Event()
        self._force = asyncio.Event()
        self._reload = asyncio.Event()
        self._why = ""
        self._code = OK
        self._listeners: list[socket.socket] = []
        self._activated = False
        self._current: Generation | None = None
        self._generations: list[Generation] = []
        self._draining: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._counters = Counters("", lines)
        self._pid_file: PidFile | None = None
        self._reloaded: Message | None = None
        self._numbers = count(1)
        self._orphans: set[int] = set()

    async def run(self) -> int:
        """From the first check to the last worker's end."""
        self._take_signals()
        self._listeners = handed_over(os.environ, os.getpid())
        self._activated = bool(self._listeners)
        try:
            code = await self._until_stopped(self._start())
            if code is None and self._current is not None and not self._stop.is_set():
                reloads = self._spawn(self._reloads())
                self._spawn(self._watch_beats())
                await self._stop.wait()
                reloads.cancel()
                await asyncio.wait([reloads])
            await self._end()
        finally:
            for task in self._tasks:
                task.cancel()
            if not self._activated:
                forget(self._listeners)
            if self._pid_file is not None:
                self._pid_file.remove()
        return self._code if code is None else code

    def _take_signals(self) -> None:
        _adopt_orphans()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._told_to_reload, "SIGHUP")
        loop.add_signal_handler(signal.SIGUSR1, self._told_to_reopen)
        loop.add_signal_handler(signal.SIGCHLD, self._reap_orphans)

    def _told_to_stop(self) -> None:
        (self._force if self._stop.is_set() else self._stop).set()

    def _told_to_reload(self, why: str) -> None:
        self._why = why
        self._reload.set()

    def _told_to_reopen(self) -> None:
        for generation in self._generations:
            generation.tell({"do": "reopen"})

    def _reap_orphans(self) -> None:
        for pid in list(self._orphans):
            try:
                gone, _ = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:  # not ours: the system has no subreaper
                gone = pid
            if gone:
                self._orphans.discard(pid)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # The start

    async def _until_stopped(self, work: Coroutine[None, None, int | None]) -> int | None:
        """The work's result; None, with the work given up, when told to stop meanwhile."""
        working, stopped = asyncio.create_task(work), asyncio.create_task(self._stop.wait())
        await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not working.done():
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
            return None
        return working.result()

    async def _start(self) -> int | None:
        """Bring up the first generation; an exit code where that cannot be."""
        try:
            self._current = await self._bring_up(())
        except Refused as refused:
            return _tell_a_person(refused)
        except CannotListen as error:
            _print(str(error))
            return MISCONFIGURED
        self._say_ready()
        for listener in self._listeners:
            self._lines("listening", address=address_of(listener))
        return None

    async def _bring_up(self, serving: Sequence[str]) -> Generation:
        """A new generation that serves.

        Raises:
            Refused: it is not fit to; nothing is left of it.
            CannotListen: at the start only.
        """
        generation = Generation(
            self._options.following(next(self._numbers), tuple(serving)),
            on_ready=self._member_ready,
            on_gone=self._member_gone,
            on_lost=self._template_lost,
        )
        self._generations.append(generation)
        began = time.monotonic()
        try:
            await generation.compile()
            took = round(time.monotonic() - began, 3)
            self._lines.form = generation.needs.log_format
            for problem in generation.warnings:
                self._log_problem(problem)
            self._lines("compiled", generation=generation.number, seconds=took)
            if self._current is None:
                self._prepare(generation)
            await generation.populate(self._listeners)
        except Refused:
            self._forget(generation)
            raise
        return generation

    def _prepare(self, first: Generation) -> None:
        """What is made once in a daemon's life, and needs to know the configuration."""
        self._counters = Counters(first.needs.metrics_dir, self._lines)
        self._counters.begin()
        if not self._listeners:
            for address in first.needs.bind:
                self._listeners.append(listen(address))
        if first.needs.state_dir:
            try:
                self._pid_file = PidFile(first.needs.state_dir)
            except OSError as error:  # it serves all the same; only `rpcgw reload` does not find it
                self._lines("pidfile.failed", level="warning", text=str(error))

    def _forget(self, generation: Generation) -> None:
        self._generations.remove(generation)
        self._counters.generation_gone(generation.number, generation.needs.workers)

    def _say_ready(self) -> None:
        assert self._current is not None, "a generation serves"
        self._notifier.ready(f"serving, generation {self._current.number}")
        self._lines("ready", generation=self._current.number, workers=self._current.needs.workers)

    # Reloads

    async def _reloads(self) -> None:
        """One reload at a time; any number of wishes during one make one more."""
        while True:
            await self._reload.wait()
            while len(self._draining) >= MOST_DRAINING:
                await asyncio.wait(self._draining, return_when=asyncio.FIRST_COMPLETED)
            self._reload.clear()
            await self._reload_once(self._why)

    async def _reload_once(self, why: str) -> None:
        old = self._current
        assert old is not None, "the start has made it"
        began = time.monotonic()
        self._lines("reload.begins", reason=why)
        self._notifier.reloading()
        try:
            new = await self._bring_up(old.needs.plugins)
        except Refused as refused:
            self._refuse(refused, old)
            new = old
        else:
            self._replace(old, new)
            self._lines("reload.done", generation=new.number, seconds=round(time.monotonic() - began, 3))
        self._reloaded = {"do": "reloaded", "success": new is not old, "at": time.time()}
        for generation in self._generations:
            generation.tell(self._reloaded)
        self._say_ready()

    def _replace(self, old: Generation, new: Generation) -> None:
        self._current = new
        self._warn_of_restart(old, new)
        drain = self._spawn(self._retire(old, new.needs.reload))
        self._draining.add(drain)
        drain.add_done_callback(self._draining.discard)

    def _refuse(self, refused: Refused, old: Generation) -> None:
        for problem in refused.problems:
            self._log_problem(problem)
        fields = {"text": refused.text} if refused.text else {}
        self._lines("reload.refused", level="error", serving=old.number, problems=len(refused.problems), **fields)

    def _log_problem(self, problem: Problem) -> None:
        place, code, level = str(problem.place), problem.code, problem.level
        self._lines("problem", level=level, place=place, code=code, text=problem.text, hint=problem.hint)

    def _warn_of_restart(self, old: Generation, new: Generation) -> None:
        if old.needs.bind != new.needs.bind:
            self._lines(
                "restart.needed", level="warning", setting="server.bind", text="addresses change with a restart"
            )

    async def _retire(self, generation: Generation, grace: float) -> None:
        await generation.retire(grace, None)
        self._forget(generation)
        self._lines("drained", generation=generation.number)

    # Workers

    def _member_ready(self, generation: Generation, member: Member) -> None:
        if self._reloaded is not None:
            member.channel.send(self._reloaded)
        took = round(time.monotonic() - member.born, 3)
        self._lines("worker.ready", generation=generation.number, slot=member.slot, worker=member.pid, seconds=took)

    def _member_gone(self, generation: Generation, member: Member, code: int | None) -> None:
        expected = generation.retiring or self._stop.is_set()
        self._counters.worker_gone(generation.number, member.slot)
        self._lines(
            "worker.gone",
            level="info" if expected else "warning",
            generation=generation.number,
            slot=member.slot,
            worker=member.pid,
            code=code,
        )
        if expected or generation is not self._current:  # one that starts is refused by whoever starts it
            return
        if not generation.lost:
            self._spawn(self._respawn(generation, member.slot, generation.delay(member)))
        elif not generation.members:
            self._lines("failed", level="error", text="template and workers are gone")
            self._code = FAILED
            self._stop.set()

    async def _respawn(self, generation: Generation, slot: int, delay: float) -> None:
        if delay:
            self._lines("worker.delayed", level="warning", slot=slot, seconds=round(delay, 3))
            await asyncio.sleep(delay)
        if generation is self._current and not (generation.retiring or generation.lost or self._stop.is_set()):
            generation.fork(slot, self._listeners)

    def _template_lost(self, generation: Generation, code: int) -> None:
        self._orphans |= {member.pid for member in generation if member.pid}
        self._reap_orphans()
        if generation is self._current and not self._stop.is_set():
            self._lines("template.lost", level="error", generation=generation.number, code=code)
            self._told_to_reload("the template is gone")

    async def _watch_beats(self) -> None:
        """End workers whose loop stands still: first with their stacks on stderr, then by force."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            held_up, last = now - last > 5 * TICK, now
            for generation in self._generations:
                for member in generation:
                    if held_up:  # this process stood still itself: what the workers said is not read yet
                        member.beat = now
                    elif member.served and now - member.beat > generation.needs.blocked:
                        self._abort(generation, member, now)

    def _abort(self, generation: Generation, member: Member, now: float) -> None:
        silent = round(now - member.beat, 1)
        self._lines("worker.blocked", level="error", generation=generation.number, worker=member.pid, seconds=silent)
        member.kill(signal.SIGKILL if member.aborted else signal.SIGABRT)
        member.aborted = True
        member.beat = now - generation.needs.blocked + TICK

    # The end

    async def _end(self) -> None:
        """Drain everything, unless forced or never begun."""
        needs = self._current.needs if self._current is not None else None
        if needs is not None and self._stop.is_set():
            self._notifier.stopping(needs.pre_stop + needs.grace + 5)
            self._lines("stopping", grace=needs.grace)
            for generation in self._generations:
                generation.tell({"do": "lame"})
            await self._unless_forced(asyncio.sleep(needs.pre_stop))
            drains = [self._drain(generation, needs.grace) for generation in self._generations]
            await self._unless_forced(asyncio.gather(*drains))
        await asyncio.gather(*(generation.kill() for generation in self._generations))
        if needs is not None:
            self._lines("stopped", forced=self._force.is_set())

    async def _drain(self, generation: Generation, grace: float) -> None:
        """Let it end in peace, unless it has not come to serve at all."""
        if generation.populated:
            await generation.retire(grace, STOP_IDLE)
        else:
            await generation.kill()

    async def _unless_forced(self, work: Coroutine[None, None, None] | asyncio.Future[list[None]]) -> None:
        working, forced = asyncio.ensure_future(work), asyncio.create_task(self._force.wait())
        await asyncio.wait([working, forced], return_when=asyncio.FIRST_COMPLETED)
        for task in (working, forced):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def _adopt_orphans() -> None:
    """Let workers whose template died become children of this process, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _tell_a_person(refused: Refused) -> int:
    for line in report(refused.problems, colour=sys.stderr.isatty()):
        _print(line)
    if refused.text:
        _print(refused.text)
    return MISCONFIGURED if refused.problems else FAILED


def _print(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
