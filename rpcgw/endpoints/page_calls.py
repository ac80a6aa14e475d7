"""`<prefix>/call`: a page calls a method of the gateway, with the rights that its visitor has, and no more.

The order: Host, method, media type; whether the request is one of the site's own pages'; the body; the tool; the token;
the visitor's own right to call the group, as over `/rpc`; whether the visitor agreed. Then the one executor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from rpcgw.access.admit import JSON, Policy, Refuse, admitter, refuser, too_large
from rpcgw.access.senders import Senders
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.executing import Executor
from rpcgw.exchange import NOTHING_FORWARDED, Entrance, Head, Inbound, Rejected, Reply, Verdict, settled
from rpcgw.gateway.model import SiteServed
from rpcgw.kernel.call import Call, Done
from rpcgw.kernel.ports import Clock, Ids, Observer
from rpcgw.protocol.webmcp import calls, tokens
from rpcgw.protocol.webmcp.site import Site, Target

_TOKEN_STATUS: Final = 403


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside.

    `secret` is what tokens are signed with; `callers` says by group who may call its methods, within its limits.
    """

    executor: Executor
    ids: Ids
    clock: Clock
    observer: Observer
    secret: bytes
    callers: Mapping[str, Callable[[Head], Verdict]]


@record(frozen=True, slots=True)
class _Desk:
    """One site's calls."""

    served: SiteServed
    services: Services


def entrance(served: SiteServed, services: Services) -> Entrance:
    """The path of a site's calls."""
    refuse = refuser(services.observer, calls.refused)
    policy = Policy(served.readers.guards, ("POST",), media_types={"POST": JSON})
    return Entrance(
        name=f"{served.site.route}_webmcp_call",
        pattern=f"{served.site.prefix}/call",
        methods=policy.methods,
        max_body_bytes=calls.LARGEST,
        admit=own_pages(admitter(policy, services.clock, refuse), served.senders, refuse),
        too_large=partial(refuse, too_large(calls.LARGEST, "fixed")),
        answer=partial(_answer, _Desk(served, services)),
        origins=tuple(sorted(served.senders.origins)),
        credentials=True,
        refuse=refuse,
    )


def own_pages(admit: Callable[[Head], Verdict], senders: Senders, refuse: Refuse) -> Callable[[Head], Verdict]:
    """An `Entrance.admit` that lets in what one of the site's own pages sends."""

    def admit_own(head: Head) -> Verdict:
        verdict = admit(head)
        if isinstance(verdict, Reply):
            return verdict
        why = senders.refuses(head)
        return refuse(replace(calls.FOREIGN, log=f"refused: not a page of the site: {why}"), head) if why else verdict

    return admit_own


async def _answer(desk: _Desk, _: Principal, inbound: Inbound) -> Reply:
    wanted = _wanted(desk, inbound.body)
    if isinstance(wanted, Reply):
        return wanted
    visitor = await settled(wanted.admit(inbound.head))
    if isinstance(visitor, Reply):
        return visitor
    if wanted.offer.asks and not wanted.asked.confirmed:
        return calls.refused(calls.UNCONFIRMED)
    outcome = await desk.services.executor.execute(_call(desk, wanted, visitor, inbound.head))
    if isinstance(outcome, Done):
        return Reply(200, calls.done(outcome, content=wanted.target.method.content), calls.JSON, outcome.after)
    return Reply(200, calls.failed(outcome), calls.JSON)


@record(frozen=True, slots=True)
class _Wanted:
    """A call that a page may ask for: what it asks, what was offered to it, and who decides about the visitor."""

    asked: calls.Asked
    offer: tokens.Offer
    target: Target
    admit: Callable[[Head], Verdict]


def _wanted(desk: _Desk, body: bytes) -> _Wanted | Reply:
    site, services = desk.served.site, desk.services
    asked = calls.read(body)
    if asked is None:
        return calls.refused(calls.MALFORMED)
    if asked.tool not in site.tools:
        return calls.refused(calls.UNKNOWN)
    offer = tokens.read(asked.token, site.name, asked.tool, services.clock.now(), services.secret)
    if isinstance(offer, tokens.Refused):
        return calls.refused(Rejected(_TOKEN_STATUS, 0, calls.TOKENS[offer]), offer.value)
    target = site.find(offer.method, offer.group, offer.version, site.locale)
    admit = services.callers.get(offer.group)
    if target is None or admit is None or not _still_offered(site, offer):
        return calls.refused(calls.UNKNOWN)
    return _Wanted(asked, offer, target, admit)


def _still_offered(site: Site, offer: tokens.Offer) -> bool:
    """Whether a tool that is known to call one method still calls this one."""
    call = site.calls.get(offer.tool)
    return call is None or (call.method, call.group, call.version) == (offer.method, offer.group, offer.version)


def _call(desk: _Desk, wanted: _Wanted, visitor: Principal, head: Head) -> Call:
    own_id, offer = desk.services.ids.token(), wanted.offer
    forward = desk.served.forward.get(offer.group, NOTHING_FORWARDED)
    return Call(
        method=offer.method,
        group=offer.group,
        version=offer.version,
        params=wanted.asked.arguments,
        id=own_id,
        surface="webmcp",
        principal=visitor,
        locale=desk.served.negotiate[offer.group](head.headers.get("accept-language")),
        ray_id=own_id,
        headers=forward.fields(head.headers),
        strict=True,
        peer=head.peer,
        token=forward.token(head.headers),
    )
