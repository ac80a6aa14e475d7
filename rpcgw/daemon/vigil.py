"""Watching over workers: ending those whose loop stands still, and telling systemd that all is well. Stdlib only."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterable

from rpcgw.daemon.generation import Generation
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.member import Member
from rpcgw.daemon.notify import Notifier

TICK = 1.0


class Vigil:
    """Looks once a second, at all `generations`; `current` is the one that serves."""

    def __init__(
        self,
        lines: Lines,
        notifier: Notifier,
        generations: Callable[[], Iterable[Generation]],
        current: Callable[[], Generation | None],
    ) -> None:
        self._lines = lines
        self._notifier = notifier
        self._generations = generations
        self._current = current

    async def watch_beats(self) -> None:
        """End workers whose loop stands still: first with their stacks on stderr, then by force."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            held_up, last = now - last > 5 * TICK, now
            for generation in self._generations():
                for member in generation:
                    if held_up:  # this process stood still itself: what the workers said is not read yet
                        member.beat = now
                    elif member.served and now - member.beat > generation.needs.blocked:
                        self._abort(generation, member, now)

    async def ping(self) -> None:
        """Keep systemd's watchdog quiet for as long as a worker of the current generation is ready and beats."""
        await self._notifier.ping(self._somebody_serves)

    def _somebody_serves(self) -> bool:
        current = self._current()
        return current is not None and lives(current, time.monotonic())

    def _abort(self, generation: Generation, member: Member, now: float) -> None:
        silent = round(now - member.beat, 1)
        self._lines("worker.blocked", level="error", generation=generation.number, worker=member.pid, seconds=silent)
        member.kill(signal.SIGKILL if member.aborted else signal.SIGABRT)
        member.aborted = True
        member.beat = now - generation.needs.blocked + TICK


def lives(generation: Generation, now: float) -> bool:
    """Whether one of its workers serves and has been heard lately."""
    return any(member.served and now - member.beat <= generation.needs.blocked for member in generation)
