"""Rates: who may do something how often, counted over all workers (and hosts, where the counts lie in Redis).

The window slides: what was counted in the last whole window counts for the part of it that is less than one window ago.
So no two windows meet at a border where twice as much would pass.
"""

from __future__ import annotations

from dataclasses import field
from math import floor
from typing import Final

from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.kernel.ports import Clock, Counted, Counts, Limiter, Observer, StoreError

AWAY_RETRY: Final = 5.0
"""Seconds after which to try again where nobody can count and that is to mean no."""
BELIEVED: Final = 1.0
"""Seconds for which a refusal is believed before whoever counts is asked again: there it may have been forgotten."""
_MOST_REFUSED: Final = 10_000


@record(frozen=True, slots=True)
class Rates:
    """Counts, and decides what it means that nobody can count: yes where `open_when_away`, else no.

    Who is refused is remembered for a moment, so that a flood is refused without asking for each of it. Nobody is
    refused who would have passed: what others count meanwhile makes a wait only longer.
    """

    limiter: Limiter
    observer: Observer
    clock: Clock
    open_when_away: bool = True
    _refused: dict[Counted, tuple[float, float]] = field(default_factory=dict)
    """By rate and key, the limit's name first: when one more will be within it, and until when that is believed."""

    def known(self, counts: Counts) -> float:
        """What `hit_each` would say as far as this worker knows by itself; 0.0 where somebody is to be asked."""
        if self._refused:
            for counted in counts.counted:
                if counted in self._refused and (wait := self._believed(counted)):
                    return wait
        return 0.0

    async def hit(self, limit: str, rate: Rate, *key: str) -> float:
        """Count one; 0.0 where it is within the rate, else how many seconds to wait. What is refused does not count.

        Args:
            limit: What the limit is called in metrics and logs: a name from the code, never a client's.
            rate: How often it may happen.
            key: Whose count it is. Keys of two limits must differ.
        """
        counted = rate, (limit, *key)
        if counted in self._refused and (wait := self._believed(counted)):
            return wait
        try:
            wait = await self.limiter.hit(rate, limit, *key)
        except StoreError as error:
            return self._away(limit, error)
        return self._refuse(counted, wait) if wait else wait

    async def hit_each(self, counts: Counts) -> float:
        """As `hit` for each in turn, up to the first that is refused. A key begins with the name of its limit."""
        if wait := self.known(counts):
            return wait
        try:
            within, wait = await self.limiter.hit_each(counts)
        except StoreError as error:
            return self._away(counts.counted[0][1][0], error)
        return self._refuse(counts.counted[within], wait) if wait else wait

    def _believed(self, counted: Counted) -> float:
        free, believed = self._refused[counted]
        now = self.clock.monotonic()
        if now >= believed:
            del self._refused[counted]
            return 0.0
        return self._told(counted, free - now)

    def _away(self, limit: str, error: StoreError) -> float:
        self.observer.event("limit.error", limit=limit, reason=str(error))
        return 0.0 if self.open_when_away else AWAY_RETRY

    def _refuse(self, counted: Counted, wait: float) -> float:
        if len(self._refused) >= _MOST_REFUSED:
            self._refused.clear()
        now = self.clock.monotonic()
        self._refused[counted] = (now + wait, now + min(wait, BELIEVED))
        return self._told(counted, wait)

    def _told(self, counted: Counted, wait: float) -> float:
        limit, *key = counted[1]
        self.observer.event("limit.reached", limit=limit, key="/".join(key), wait=round(wait, 3))
        return wait


def seconds_until_free(rate: Rate, previous: int, current: int, left: float) -> float:
    """After how many seconds one more is within the rate, where none is now.

    `previous` and `current` are the counts of the last whole window and of this one, `left` what is left of this one in
    seconds. The weighted count, `previous * left / window + current`, has to fall below the amount.
    """
    window = rate.seconds
    if current < rate.amount:
        return max(left - (rate.amount - current) * window / previous, 0.0) if previous else 0.0
    return left + window - min(rate.amount * window / current, window)


def later(wait: float | None) -> tuple[tuple[str, str], ...]:
    """`Retry-After` as a header field; nothing where nobody knows when."""
    return () if wait is None else (("Retry-After", retry_after(wait)),)


def retry_after(wait: float) -> str:
    """A wait as `Retry-After` says it: whole seconds, enough of them (RFC 9110, section 10.2.3)."""
    return str(floor(wait) + 1)
