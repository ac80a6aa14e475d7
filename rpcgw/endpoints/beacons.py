"""`<prefix>/event`: beacons of pages. Guards from the cheap to the dear, then one row in the usage log.

Anybody may send here, so little is taken: small bodies, from the site's own pages, of the site's own tools, so many a
minute. What is none of ours is answered 204 like the rest, and not counted: nobody learns anything from it. An address
is only ever a key of the counter, hashed with a secret and the day.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final, Protocol

from rpcgw.access.addresses import counted_as
from rpcgw.access.admit import Policy, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.exchange import Entrance, Head, HeaderFields, Inbound, Pending, Rejected, Reply, Verdict
from rpcgw.gateway.model import SiteServed
from rpcgw.kernel.ports import Clock, Counts, Observer, StoreError
from rpcgw.kernel.rates import Rates, later
from rpcgw.protocol.webmcp import beacons
from rpcgw.protocol.webmcp.beacons import Told
from rpcgw.protocol.webmcp.statistics import A_DAY

_FIELDS: Final[HeaderFields] = (("Cache-Control", "no-store"),)
_MEDIA_TYPES: Final = frozenset({"application/json", "text/plain"})
_LIMIT: Final = "beacon"
_MINUTE: Final = 60
_REMEMBERED: Final = 1024
_RETRY: Final = 5
_TAKEN: Final = Reply(204, headers=_FIELDS)
_MALFORMED: Final = Reply(400, headers=_FIELDS)
_AWAY: Final = Reply(503, headers=(*_FIELDS, ("Retry-After", str(_RETRY))))


class UsageLog(Protocol):
    """Where beacons are kept."""

    async def add(self, told: Told, /) -> None:
        """Keep what a beacon tells; returns once it is kept. Raises `StoreError` where it is not."""


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside.

    `secret` hides addresses in the keys of the counter; `agents` are kept by name beside the well-known ones;
    `rate` and `ceiling` are beacons a minute, of one address and of all; 0 is any number. With `respect_signals`
    a browser that does not want to be counted (Global Privacy Control, Do Not Track) is not.
    """

    log: UsageLog
    rates: Rates | None
    clock: Clock
    observer: Observer
    secret: bytes
    agents: tuple[str, ...] = ()
    rate: int = 60
    ceiling: int = 60_000
    respect_signals: bool = False


def entrance(served: SiteServed, services: Services) -> Entrance:
    """The path of a site's beacons."""
    refuse = refuser(services.observer, _rejected)
    policy = Policy(served.readers.guards.of_any_origin(), ("POST",), media_types={"POST": _MEDIA_TYPES})
    limit = too_large(beacons.LARGEST, "fixed")
    return Entrance(
        name=f"{served.site.route}_webmcp_event",
        pattern=f"{served.site.prefix}/event",
        methods=policy.methods,
        max_body_bytes=beacons.LARGEST,
        admit=_admit(served, services, admitter(policy, services.clock, refuse), partial(refuse, limit)),
        too_large=partial(refuse, limit),
        answer=partial(_answer, served, services),
        quick=partial(_quick, served, services),
        origins=tuple(sorted(served.senders.origins)),
        credentials=True,
    )


def _admit(
    served: SiteServed, services: Services, admit: Callable[[Head], Verdict], large: Callable[[Head], Reply]
) -> Callable[[Head], Verdict]:
    """Method, media type, declared size, the sender, then the rates, which somebody outside may count.

    All but the rates follows from the head alone: one that came so far once is not looked at again.
    """
    within_rates, looked_at = _rated(served, services), object()

    def admit_beacon(head: Head) -> Verdict:
        verdict, memo = admit(head), head.memo
        if isinstance(verdict, Reply):
            return verdict
        assert isinstance(verdict, Principal), "the policy asks for no token, so nothing is pending"
        if memo is not None and looked_at in memo:
            return within_rates(head, verdict)
        if _declared(head) > beacons.LARGEST:
            return large(head)
        if why := served.senders.refuses(head):
            _count(services, served, "foreign", reason=why)
            return _TAKEN
        if services.respect_signals and _wants_out(head):
            _count(services, served, "opted_out")
            return _TAKEN
        if memo is not None:
            memo[looked_at] = True
        return within_rates(head, verdict)

    return admit_beacon


def _rated(served: SiteServed, services: Services) -> Callable[[Head, Principal], Verdict]:
    """A sender's own rate, then the ceiling of all. Who is known to be over one of them is refused at once."""
    rates, site = services.rates, served.site.name
    own, everybody = Rate(services.rate, _MINUTE), Rate(services.ceiling, _MINUTE)

    @lru_cache(_REMEMBERED)
    def limits(day: int, address: str) -> Counts | None:
        hidden = _hidden(services.secret, day, address)
        counts = (own, (_LIMIT, site, hidden)), (everybody, (_LIMIT, site, "all"))
        limited = [count for count in counts if count[0].amount]
        return Counts(*limited) if limited else None

    def refused(wait: float) -> Reply:
        _count(services, served, "limited")
        return _limited(later(wait))

    def within(head: Head, who: Principal) -> Verdict:
        counted = limits(int(services.clock.now()) // A_DAY, counted_as(head.peer))
        if rates is None or counted is None:
            return who
        if wait := rates.known(counted):
            return refused(wait)
        return Pending(partial(settle, rates, counted, who))

    async def settle(rates: Rates, counted: Counts, who: Principal) -> Principal | Reply:
        wait = await rates.hit_each(counted)
        return refused(wait) if wait else who

    return within


@lru_cache
def _limited(fields: HeaderFields) -> Reply:
    return Reply(429, headers=_FIELDS + fields)


def _hidden(secret: bytes, day: int, address: str) -> str:
    """An address as a key that nobody can read, another one each day."""
    return blake2b(f"{day} {address}".encode(), key=secret[:64], digest_size=16).hexdigest()


async def _answer(served: SiteServed, services: Services, who: Principal, inbound: Inbound) -> Reply:
    made = _quick(served, services, who, inbound)
    return made if isinstance(made, Reply) else await made


def _quick(
    served: SiteServed, services: Services, _: Principal, inbound: Inbound
) -> Reply | Coroutine[Any, Any, Reply]:
    """What is not counted is answered at once, the rest once it is kept."""
    site = served.site
    told = beacons.read(inbound.body, site.name, site.tools, services.clock.now(), services.agents)
    if isinstance(told, beacons.Refused):
        _count(services, served, told.value)
        return _MALFORMED if told is beacons.Refused.MALFORMED else _TAKEN
    return _kept(services.log, told)


async def _kept(log: UsageLog, told: Told) -> Reply:
    try:
        await log.add(told)
    except StoreError:
        return _AWAY
    return _TAKEN


def _wants_out(head: Head) -> bool:
    return "1" in {head.headers.get("sec-gpc"), head.headers.get("dnt")}


def _declared(head: Head) -> int:
    length = head.headers.get("content-length") or ""
    return int(length) if length.isdecimal() and length.isascii() else 0


def _count(services: Services, served: SiteServed, outcome: str, **more: str) -> None:
    services.observer.event("webmcp.beacon", site=served.site.name, outcome=outcome, **more)


def _rejected(verdict: Rejected) -> Reply:
    return Reply(verdict.status, headers=_FIELDS + verdict.headers)
