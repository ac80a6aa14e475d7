"""Entrances within limits: the client's address behind proxies, wrong tokens, rates. Each is laid around an entrance.

What is not configured is not laid around it, and costs nothing. Doors know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Final, TypeGuard

import msgspec

from rpcgw.access.addresses import Proxies, counted_as, is_here
from rpcgw.access.admit import Refuse
from rpcgw.access.limits import Allowance, too_many
from rpcgw.access.tokens import WRONG_TOKEN
from rpcgw.api.context import Principal
from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.exchange import Entrance, Head, Pending, Reply, Verdict, settled
from rpcgw.kernel.ports import Clock
from rpcgw.kernel.rates import Rates

Admit = Callable[[Head], Verdict]
_ATTEMPTS: Final = "attempts"
_MOST_BLOCKED: Final = 10_000


def behind(entrance: Entrance, proxies: Proxies) -> Entrance:
    """The entrance, told of the client's own address where a trusted proxy names it."""
    return replace(entrance, seen=partial(seen_behind, proxies)) if proxies else entrance


def seen_behind(proxies: Proxies, head: Head) -> Head:
    """A head whose peer is the client itself."""
    client = proxies.client_of(head)
    return head if client == head.peer else msgspec.structs.replace(head, peer=client)


def rated(entrance: Entrance, allowances: Sequence[Allowance], rates: Rates, group: str) -> Entrance:
    """The entrance, where each request that is let in has to be within every rate of its group."""
    if not allowances:
        return entrance

    async def settle(verdict: Principal | Pending, head: Head) -> Principal | Reply:
        who = await settled(verdict)
        if isinstance(who, Reply):
            return who
        for each in allowances:
            subject = each.subject(who, head)
            if subject is None:
                continue
            if wait := await rates.hit(each.name, each.rate, group, subject):
                return entrance.refuse(too_many(each.name, wait), head)
        return who

    def admit(head: Head) -> Verdict:
        verdict = entrance.admit(head)
        return verdict if isinstance(verdict, Reply) else Pending(partial(settle, verdict, head))

    return replace(entrance, admit=admit)


@record(frozen=True, slots=True)
class Attempts:
    """Wrong tokens by address. A worker remembers whom it refuses; how many there were, all workers count together.

    So a good client's request costs nothing, and a guesser has as many attempts as the rate says, and one more for each
    further worker. This machine's own addresses are not counted: behind them a proxy may stand that nobody named.
    """

    rate: Rate
    rates: Rates
    clock: Clock
    blocked: dict[str, float] = field(default_factory=dict)

    def watched(self, entrance: Entrance) -> Entrance:
        """The entrance, closed for a while to an address that has shown too many wrong tokens."""
        return replace(entrance, admit=self.watching(entrance.admit, entrance.refuse))

    def watching(self, admit: Admit, refuse: Refuse) -> Admit:
        """What an entrance admits, but for such an address; `refuse` tells it."""

        def watched(head: Head) -> Verdict:
            if self.blocked and (wait := self._wait(head)) > 0:
                self.rates.observer.event("limit.reached", limit=_ATTEMPTS, key=counted_as(head.peer))
                return refuse(too_many(_ATTEMPTS, wait), head)
            verdict = admit(head)
            if isinstance(verdict, Principal) or is_here(head.peer):
                return verdict
            if isinstance(verdict, Pending):
                return Pending(partial(self._settle, refuse, head, verdict))
            return Pending(partial(self._failed, refuse, head, verdict)) if _is_guess(verdict) else verdict

        return watched

    async def _settle(self, refuse: Refuse, head: Head, pending: Pending) -> Principal | Reply:
        verdict = await pending.settle()
        return await self._failed(refuse, head, verdict) if _is_guess(verdict) else verdict

    def _wait(self, head: Head) -> float:
        """How many seconds this address is still refused."""
        address = counted_as(head.peer)
        until = self.blocked.get(address)
        if until is None:
            return 0.0
        wait = until - self.clock.monotonic()
        if wait <= 0:
            del self.blocked[address]
        return wait

    async def _failed(self, refuse: Refuse, head: Head, refusal: Reply) -> Reply:
        address = counted_as(head.peer)
        wait = await self.rates.hit(_ATTEMPTS, self.rate, address)
        if not wait:
            return refusal
        if len(self.blocked) >= _MOST_BLOCKED:
            self.blocked.clear()
        self.blocked[address] = self.clock.monotonic() + wait
        return refuse(too_many(_ATTEMPTS, wait), head)


def _is_guess(verdict: Verdict) -> TypeGuard[Reply]:
    """Whether a wrong token was shown."""
    return isinstance(verdict, Reply) and verdict.verdict is not None and verdict.verdict.guard == WRONG_TOKEN
