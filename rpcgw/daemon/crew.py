"""The workers of the generation that serves: filling the slots of dead ones, relieving worn ones. Stdlib only.

A worker is worn when it asks to be replaced: its threads are stuck beyond repair, or somebody sent it SIGTERM. It
serves on until enough others do, and only then drains, so that its slot is never empty.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine, Sequence

from rpcgw.daemon.channel import Message
from rpcgw.daemon.generation import Generation
from rpcgw.daemon.keeping import Keeping
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.member import Member

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Crew:
    """Told by generations what happens to their workers.

    `serving`, `listeners` and `scraped` are set by whoever owns them; `outcome` is the last reload's, which each new
    worker is told; `ending` says that nothing is to be filled any more. `on_dead` is called when nobody is left to
    serve.
    """

    def __init__(self, lines: Lines, keeping: Keeping, spawn: Spawn, on_dead: Callable[[], None]) -> None:
        self.serving: Generation | None = None
        self.listeners: Sequence[socket.socket] = ()
        self.scraped: Sequence[socket.socket] = ()
        self.outcome: Message | None = None
        self.ending = False
        self._lines = lines
        self._keeping = keeping
        self._spawn = spawn
        self._on_dead = on_dead

    def ready(self, generation: Generation, member: Member) -> None:
        """A worker serves from now on."""
        if self.outcome is not None:
            member.channel.send(self.outcome)
        took = round(time.monotonic() - member.born, 3)
        self._lines("worker.ready", generation=generation.number, slot=member.slot, worker=member.pid, seconds=took)
        self.relieve(generation)

    def worn(self, generation: Generation, member: Member) -> None:
        """A worker asks to be replaced."""
        self._lines("worker.worn", level="warning", generation=generation.number, slot=member.slot, worker=member.pid)
        if self.ending or generation.retiring:
            return  # it drains already
        self.relieve(generation)

    def gone(self, generation: Generation, member: Member, code: int | None) -> None:
        """A worker has ended, for whatever reason."""
        expected = generation.retiring or self.ending or member.relieved
        self._keeping.worker_gone(generation, member.slot)
        self._lines(
            "worker.gone",
            level="info" if expected else "warning",
            generation=generation.number,
            slot=member.slot,
            worker=member.pid,
            code=code,
        )
        if generation.retiring or self.ending or generation is not self.serving:
            return  # one that starts is refused by whoever starts it
        if generation.lost:
            if not generation.members:
                self._on_dead()
        elif member.worn:
            self.relieve(generation)
        else:
            generation.awaited.add(member.slot)
            self._spawn(self._respawn(generation, member.slot, generation.delay(member)))

    def relieve(self, generation: Generation) -> None:
        """Put fresh workers beside worn ones, and let these go once enough others serve."""
        if generation is not self.serving or generation.lost or generation.retiring or self.ending:
            return
        fresh = [member for member in generation if not member.worn]
        for _ in range(generation.needs.workers - len(fresh) - len(generation.awaited)):
            if (slot := generation.free_slot()) is not None:
                generation.fork(slot, self.listeners, self.scraped)
        if sum(member.served for member in fresh) >= generation.needs.workers:
            for member in generation:
                if member.worn and not member.relieved:
                    member.relieve(generation.needs.reload)

    async def _respawn(self, generation: Generation, slot: int, delay: float) -> None:
        if delay:
            self._lines("worker.delayed", level="warning", slot=slot, seconds=round(delay, 3))
            await asyncio.sleep(delay)
        generation.awaited.discard(slot)
        if generation is self.serving and not (generation.retiring or generation.lost or self.ending):
            generation.fork(slot, self.listeners, self.scraped)
