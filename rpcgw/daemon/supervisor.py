"""The supervisor: owns the listening sockets, the order of generations, the signals. Imports no plugin.

It forks once, before it has anything to inherit (`rpcgw.daemon.first`).

SIGTERM and SIGINT drain and end with 0 (a second one forces), SIGHUP reloads, SIGUSR1 reopens logs. Standard library
and asyncio only: what it must know of the configuration reaches it from the template.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from itertools import count

from rpcgw.api.problems import Problem
from rpcgw.daemon.crew import Crew
from rpcgw.daemon.exits import FAILED, MISCONFIGURED, OK
from rpcgw.daemon.first import Forked, fork_template
from rpcgw.daemon.generation import Generation, Refused
from rpcgw.daemon.keeping import Keeping
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.lookout import Lookout
from rpcgw.daemon.notify import Notifier
from rpcgw.daemon.options import Needs, Options
from rpcgw.daemon.orphans import Orphans, become_parent_of_orphans
from rpcgw.daemon.restart import needing_restart
from rpcgw.daemon.sockets import CannotListen, address_of, forget, handed_over, listen
from rpcgw.daemon.unless import unless
from rpcgw.daemon.vigil import Vigil

STOP_IDLE = 5.0
"""Seconds after which idle connections are closed when the daemon ends."""
MOST_DRAINING = 2
"""Old generations that may drain at once; a further reload waits."""
FIRST_RETRY = 1.0
LONGEST_RETRY = 30.0
"""Seconds between tries to replace a generation whose template is gone."""


def run(options: Options) -> int:
    """Serve until told to stop; the exit code: 0 after a stop, 78 where the configuration is at fault, else 1."""
    first = fork_template()
    return asyncio.run(Supervisor(options, Lines("console" if options.dev else "json"), first).run())


class Supervisor:
    """One daemon's life."""

    def __init__(self, options: Options, lines: Lines, first: Forked | None = None) -> None:
        self._options = options
        self._first = first
        self._lines = lines
        self._notifier = Notifier(os.environ)
        self._stop = asyncio.Event()
        self._force = asyncio.Event()
        self._reload = asyncio.Event()
        self._why = ""
        self._code = OK
        self._listeners: list[socket.socket] = []
        self._scraped: list[socket.socket] = []
        self._activated = False
        self._fixed: Mapping[str, str] = {}
        self._generations: list[Generation] = []
        self._draining: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = count(1)
        self._orphans = Orphans()
        self._served_since = 0.0
        self._refusal = ""
        self._retry = FIRST_RETRY
        self._keeping = Keeping(lines)
        self._crew = Crew(lines, self._keeping, self._spawn, self._failed)
        self._lookout = Lookout(lines, self._told_to_reload)
        self._vigil = Vigil(lines, self._notifier, lambda: self._generations, lambda: self._crew.serving)

    async def run(self) -> int:
        """From the first check to the last worker's end."""
        self._take_signals()
        try:
            code = await unless(self._stop, self._start())
            if code is None and self._crew.serving is not None and not self._stop.is_set():
                reloads = self._spawn(self._reloads())
                self._spawn(self._vigil.watch_beats())
                self._spawn(self._vigil.ping())
                self._spawn(self._lookout.run())
                await self._stop.wait()
                reloads.cancel()
                await asyncio.wait([reloads])
            await self._end()
        finally:
            for task in self._tasks:
                task.cancel()
            if not self._activated:
                forget(self._listeners)
            forget(self._scraped)
            self._keeping.close()
            self._ignore_signals()
        return self._code if code is None else code

    def _take_signals(self) -> None:
        become_parent_of_orphans()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._told_to_reload, "SIGHUP")
        loop.add_signal_handler(signal.SIGUSR1, self._told_to_reopen)
        loop.add_signal_handler(signal.SIGCHLD, self._orphans.reap)

    def _ignore_signals(self) -> None:
        """Whatever comes now comes too late: the loop would give it back to the system, which kills."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        loop.remove_signal_handler(signal.SIGCHLD)

    def _told_to_stop(self) -> None:
        self._crew.ending = True
        (self._force if self._stop.is_set() else self._stop).set()

    def _failed(self) -> None:
        self._lines("failed", level="error", text="template and workers are gone")
        self._code = FAILED
        self._stop.set()

    def _told_to_reload(self, why: str) -> None:
        self._why = why
        self._reload.set()

    def _told_to_reopen(self) -> None:
        for generation in self._generations:
            generation.tell({"do": "reopen"})

    def _switched(self) -> None:
        """A worker turned methods on or off: all others look."""
        for generation in self._generations:
            generation.tell({"do": "switched"})

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # The start

    async def _start(self) -> int | None:
        """Bring up the first generation; an exit code where that cannot be."""
        try:
            self._take_over_sockets()
            first = await self._bring_up(())
        except Refused as refused:
            return _tell_a_person(refused)
        except CannotListen as error:
            _print(str(error))
            return MISCONFIGURED
        self._fixed = first.needs.fixed
        self._serve_from_now_on(first)
        self._say_ready()
        for listener in self._listeners:
            self._lines("listening", address=address_of(listener))
        for listener in self._scraped:
            self._lines("scraped", address=address_of(listener))
        return None

    def _take_over_sockets(self) -> None:
        """Sockets of a service manager stand for `server.bind`: who may connect is checked against them."""
        self._listeners = handed_over(os.environ, os.getpid())
        self._activated = bool(self._listeners)
        if self._activated:
            addresses = tuple(address_of(listener) for listener in self._listeners)
            self._options = replace(self._options, bind=addresses)

    async def _bring_up(self, serving: Sequence[str]) -> Generation:
        """A new generation that serves.

        Raises:
            Refused: it is not fit to; nothing is left of it.
            CannotListen: at the start only.
        """
        bound = tuple(address_of(listener) for listener in self._listeners)
        forked, self._first = self._first, None
        generation = Generation(
            self._options.following(next(self._numbers), tuple(serving), bound),
            on_ready=self._crew.ready,
            on_worn=self._crew.worn,
            on_gone=self._crew.gone,
            on_lost=self._template_lost,
            on_switched=self._switched,
            forked=forked,
        )
        self._generations.append(generation)
        began = time.monotonic()
        try:
            await self._lookout.begins()
            await generation.compile()
            took = round(time.monotonic() - began, 3)
            self._lines.form = generation.needs.log_format
            for problem in generation.warnings:
                self._log_problem(problem)
            self._lines("compiled", generation=generation.number, seconds=took)
            self._keeping.before_workers(generation.needs)
            if self._crew.serving is None:
                self._listen(generation.needs)
            await generation.populate(self._listeners, self._scraped)
            await self._lookout.follow(generation.needs.sources, [generation.needs.state_dir])
        except Refused as refused:
            self._forget(generation)
            await self._lookout.refused([problem.place.file for problem in refused.problems])
            raise
        return generation

    def _listen(self, needs: Needs) -> None:
        if not self._listeners:
            for address in needs.bind:
                self._listeners.append(listen(address))
        if needs.metrics_bind:
            self._scraped.append(listen(needs.metrics_bind, "metrics.bind"))
        self._crew.listeners = self._listeners
        self._crew.scraped = self._scraped

    def _forget(self, generation: Generation) -> None:
        self._generations.remove(generation)
        self._adopt(generation)
        self._keeping.generation_gone(generation)

    def _serve_from_now_on(self, generation: Generation) -> None:
        self._crew.serving = generation
        self._keeping.serving(generation.needs)
        self._served_since = time.time()
        self._tell_outcome()
        self._crew.relieve(generation)

    def _tell_outcome(self) -> None:
        self._crew.outcome = {"do": "reloaded", "success": not self._refusal, "at": self._served_since}
        for generation in self._generations:
            generation.tell(self._crew.outcome)

    def _say_ready(self) -> None:
        serving = self._crew.serving
        assert serving is not None, "a generation serves"
        refused = f"; the last reload was refused: {self._refusal}" if self._refusal else ""
        self._notifier.ready(f"serving, generation {serving.number}{refused}")
        self._lines("ready", generation=serving.number, workers=serving.needs.workers)

    # Reloads

    async def _reloads(self) -> None:
        """One reload at a time; any number of wishes during one, or while it has to wait, make one more."""
        while True:
            await self._reload.wait()
            await self._wait_for_drains()
            self._reload.clear()
            await self._reload_once(self._why)

    async def _wait_for_drains(self) -> None:
        """An old generation costs memory: where two drain already, a third waits for the end of one."""
        if len(self._draining) >= MOST_DRAINING:
            self._lines("reload.waits", reason=self._why, draining=len(self._draining))
            self._notifier.reloading("waiting for an old generation to drain")
        while len(self._draining) >= MOST_DRAINING:
            await asyncio.wait(self._draining, return_when=asyncio.FIRST_COMPLETED)

    async def _reload_once(self, why: str) -> None:
        old = self._crew.serving
        assert old is not None, "the start has made it"
        began = time.monotonic()
        self._lines("reload.begins", reason=why)
        self._notifier.reloading("checking the new configuration")
        try:
            new = await self._bring_up(old.needs.plugins)
        except Refused as refused:
            self._refuse(refused, old)
        else:
            self._replace(old, new)
            self._lines("reload.done", generation=new.number, seconds=round(time.monotonic() - began, 3))
        self._say_ready()

    def _replace(self, old: Generation, new: Generation) -> None:
        self._refusal, self._retry = "", FIRST_RETRY
        self._serve_from_now_on(new)
        for setting, text in needing_restart(self._fixed, new.needs.fixed):
            self._lines("restart.needed", level="warning", setting=setting, text=text)
        drain = self._spawn(self._retire(old, new))
        self._draining.add(drain)
        drain.add_done_callback(self._draining.discard)

    def _refuse(self, refused: Refused, old: Generation) -> None:
        for problem in refused.problems:
            self._log_problem(problem)
        wrong = [problem for problem in refused.problems if problem.level == "error"]
        self._refusal = refused.text or next(
            (f"{problem.place}: {problem.text}" for problem in wrong), "no reason given"
        )
        fields = {"text": refused.text} if refused.text else {}
        self._lines("reload.refused", level="error", serving=old.number, problems=len(refused.problems), **fields)
        self._tell_outcome()
        if old.lost:
            self._spawn(self._try_again())

    async def _try_again(self) -> None:
        """Workers of a lost template cannot be replaced: what is refused now may be mended in a while."""
        delay, self._retry = self._retry, min(2 * self._retry, LONGEST_RETRY)
        await asyncio.sleep(delay)
        if self._crew.serving is not None and self._crew.serving.lost:
            self._told_to_reload("the template is gone")

    def _log_problem(self, problem: Problem) -> None:
        place, code, level = str(problem.place), problem.code, problem.level
        self._lines("problem", level=level, place=place, code=code, text=problem.text, hint=problem.hint)

    async def _retire(self, old: Generation, new: Generation) -> None:
        await old.retire(new.needs.reload, None, new.needs.tools)
        self._forget(old)
        self._lines("drained", generation=old.number)

    def _template_lost(self, generation: Generation, code: int | None) -> None:
        self._adopt(generation)
        if generation is not self._crew.serving or self._stop.is_set():
            return
        if not generation.lost:
            self._lines("template.lost", level="warning", generation=generation.number, code=code, text="replaced")
            return
        text = "workers that end are not replaced until a reload succeeds"
        self._lines("template.lost", level="error", generation=generation.number, code=code, text=text)
        self._told_to_reload("the template is gone")

    def _adopt(self, generation: Generation) -> None:
        self._orphans.adopt([*(member.pid for member in generation if member.pid), *generation.standbys])

    # The end

    async def _end(self) -> None:
        """Drain everything, unless forced or never begun."""
        self._crew.ending = True
        needs = self._crew.serving.needs if self._crew.serving is not None else None
        if needs is not None and self._stop.is_set():
            self._notifier.stopping(needs.pre_stop + needs.grace + 5)
            self._lines("stopping", grace=needs.grace)
            for generation in self._generations:
                generation.tell({"do": "lame"})
            await unless(self._force, asyncio.sleep(needs.pre_stop))
            drains = [self._drain(generation, needs.grace) for generation in self._generations]
            await unless(self._force, asyncio.gather(*drains))
        await asyncio.gather(*(generation.kill() for generation in self._generations))
        if needs is not None:
            self._lines("stopped", forced=self._force.is_set())

    async def _drain(self, generation: Generation, grace: float) -> None:
        """Let it end in peace, unless it has not come to serve at all."""
        if generation.populated:
            # A socket of systemd's is its own, and the next daemon's.
            await generation.retire(grace, STOP_IDLE, last=not self._activated)
        else:
            await generation.kill()


def _tell_a_person(refused: Refused) -> int:
    from rpcgw.config.reporting import report  # noqa: PLC0415 -- loaded where there is something to report

    for line in report(refused.problems, colour=sys.stderr.isatty()):
        _print(line)
    if refused.text:
        _print(refused.text)
    return MISCONFIGURED if refused.problems else FAILED


def _print(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
