"""Single flight: of many calls for one cold result one computes it, over all tasks, workers and hosts of a pool.

The others of the same process wait for it in memory. Between processes the right to compute is a *lease* in the pool,
renewed while the computation runs, and waiters look for the entry again and again. A lease whose holder died lapses,
and one of the waiters takes over; so does one of them where the computation was given up (its caller left, its deadline
came). Where it failed, nobody waits in line for the next failure: those who waited each run for themselves.

A result belongs to the stamp that its computation began under: a call that comes after an invalidation never waits for
what was begun before it. Nobody waits longer than the own deadline, which cancels the wait as it would a procedure.
While the pool is away, the calls of one process still share one computation.
"""

from __future__ import annotations

import asyncio

from rpcgw.kernel.background import Background
from rpcgw.kernel.cache import CachePolicy, Hit, Miss, ResultCache
from rpcgw.kernel.keys import digest
from rpcgw.kernel.lock import CallLocks, Held
from rpcgw.kernel.ports import Observer, StoreError

LEASE_TTL = 5.0
"""Seconds that others wait for a process which died while it computed."""

FIRST_PAUSE = 0.005
LONGEST_PAUSE = 0.1


class Turn:
    """The right to compute a result. Whoever has it says how that ended, in every case."""

    __slots__ = ("_background", "_flights", "_name", "encoded", "failed", "held", "miss", "over")

    def __init__(self, flights: dict[str, Turn], background: Background, name: str, miss: Miss) -> None:
        self._flights = flights
        self._background = background
        self._name = name
        self.miss = miss
        self.held: Held | None = None
        self.over = asyncio.Event()
        self.encoded: bytes | None = None
        self.failed = False

    def end(self, encoded: bytes | None = None, *, failed: bool = False) -> None:
        """Tell those who wait, once: the result, that there is none, or that somebody else may try."""
        if self.over.is_set():
            return
        self.encoded, self.failed = encoded, failed
        if self._flights.get(self._name) is self:
            del self._flights[self._name]
        self.over.set()
        if self.held is not None:
            self.held.ended()
            self._background.spawn(self.held.leave())


class Flights:
    """The computations of cached results that are under way in one process."""

    def __init__(self, cache: ResultCache, leases: CallLocks, observer: Observer, lease_ttl: float) -> None:
        self._cache = cache
        self._leases = leases
        self._observer = observer
        self._lease_ttl = lease_ttl
        self._running: dict[str, Turn] = {}

    async def board(self, policy: CachePolicy, miss: Miss) -> Hit | Turn:
        """The result, once somebody has computed it, or the turn to do so. Never raises for the pool's sake."""
        while True:
            name = self._name(policy, miss)
            running = self._running.get(name)
            if running is not None:
                await running.over.wait()
                if running.encoded is not None:
                    self._observer.event("cache.joined", method=policy.method)
                    return Hit(running.encoded)
                if running.failed:
                    return self.alone(miss)
                continue
            turn = self._running[name] = Turn(self._running, self._leases.background, name, miss)
            try:
                found = await self._claim(policy, turn, name)
            except BaseException:  # whatever it was, those who wait must not wait for ever
                turn.end()
                raise
            if found is None:
                self._observer.event("cache.miss", method=policy.method)
                return turn
            if isinstance(found, Hit):
                turn.end(found.encoded)
                self._observer.event("cache.joined", method=policy.method)
                return found
            turn.end()
            miss = found

    def alone(self, miss: Miss) -> Turn:
        """A turn that nobody waits for."""
        return Turn({}, self._leases.background, "", miss)

    async def lead(self, policy: CachePolicy, miss: Miss) -> Turn:
        """The turn to compute a result whoever else does; others wait for it where nobody has begun before."""
        name = self._name(policy, miss)
        self._observer.event("cache.miss", method=policy.method)
        if miss.stamp is None or name in self._running:
            return self.alone(miss)
        turn = self._running[name] = Turn(self._running, self._leases.background, name, miss)
        try:
            await self._lend(turn, name)
        except BaseException:  # as in `board`
            turn.end()
            raise
        return turn

    async def _lend(self, turn: Turn, name: str) -> bool:
        """Take the lease if it is free; says whether leases can be had at all."""
        try:
            turn.held = await self._leases.attempt(name, self._lease_ttl)
        except StoreError:
            # Reads and writes of the cache tell the observer; without a lease two processes may compute.
            return False
        return True

    async def _claim(self, policy: CachePolicy, turn: Turn, name: str) -> Hit | Miss | None:
        """None where this process has the lease, or there can be none; else what another one stored, or a new stamp."""
        pause = FIRST_PAUSE
        while turn.miss.stamp is not None:
            if not await self._lend(turn, name):
                return None
            # Even with the lease in hand: the last holder may have ended between the read and now.
            found = await self._cache.look(policy, turn.miss.slot, again=True)
            if isinstance(found, Hit):
                return found
            if found.stamp != turn.miss.stamp:
                return None if found.stamp is None else found
            if turn.held is not None:
                return None
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        return None

    def _name(self, policy: CachePolicy, miss: Miss) -> str:
        """What is computed, and under which stamp; without one, since this process dropped results last."""
        stamp = b"%d" % self._cache.invalidations if miss.stamp is None else miss.stamp
        return f"{policy.method}:computing:{digest(b'%b %b' % (miss.slot.key.encode(), stamp))}"
