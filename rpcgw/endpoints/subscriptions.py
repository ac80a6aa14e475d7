"""`subscriptions/listen`: streams that say when tools were switched on or off, and stay open until their worker drains.

A reload brings new workers. The old ones say on each stream whether the list of its endpoint's tools is another one
now, and end it with its answer; the client listens anew, and is served by a new worker. A stream also ends, with its
answer, when the token does that opened it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from rpcgw.access.addresses import counted_as
from rpcgw.api.context import ANONYMOUS
from rpcgw.endpoints.streams import Stream
from rpcgw.endpoints.subscribed import Subscription
from rpcgw.endpoints.visit import Answer, Visit
from rpcgw.kernel.keys import credential
from rpcgw.protocol.mcp import notices, subscriptions
from rpcgw.protocol.mcp.faults import INVALID_REQUEST, METHOD_NOT_FOUND, NOT_NOW, Fault, Refused, refuse
from rpcgw.protocol.mcp.messages import Modern

RETRY_AFTER: Final = 30.0
"""Seconds after which somebody with too many may try again."""

_NO_STREAM: Final = "The answer is a stream of events: list text/event-stream in Accept"
_TOO_MANY: Final = "There are too many open subscriptions of this caller"


async def listen(visit: Visit, request: Modern, _: None) -> Answer | Refused | None:
    """Tell a client of changes until the worker drains; None where the client has left."""
    if not visit.endpoint.listens:
        return refuse(Fault(METHOD_NOT_FOUND, f"Method not found: {request.method}"), request.id, "stateless")
    honoured = subscriptions.honoured(request.params)
    if isinstance(honoured, Fault):
        return refuse(honoured, request.id, "stateless")
    begin = visit.inbound.begin
    if begin is None or not notices.accepts_events(visit.inbound.head.headers.get("accept")):
        return Refused(406, INVALID_REQUEST, _NO_STREAM, id=request.id)
    opened, owner, mine = (
        visit.services.subscriptions,
        _owner(visit),
        Subscription(visit.endpoint.name, visit.endpoint.group),
    )
    if not opened.enter(owner, mine):
        return refuse(Fault(NOT_NOW, _TOO_MANY, retry_after=RETRY_AFTER), request.id, "stateless")
    ends = _at_expiry(visit, mine)
    stream = Stream(begin, visit.locale, visit.endpoint.limits.silence)
    last = subscriptions.closing(request.id, visit.endpoint)
    try:
        await stream.say(subscriptions.acknowledged(request.id, honoured))
        while mine.changed or not mine.over:
            if mine.changed:
                mine.changed = False
                if honoured:
                    await stream.say(subscriptions.tools_changed(request.id))
            elif not await _news(visit, mine):
                stream.end()
                return None
        return Answer(last)
    finally:
        ends()
        stream.end(last)
        opened.leave(owner, mine)


def _at_expiry(visit: Visit, mine: Subscription) -> Callable[[], None]:
    """End a stream with the token that opened it; what is given takes that back."""
    expires = visit.principal.expires
    if expires is None:
        return _nothing
    left = max(0.0, expires - visit.services.clock.now())
    return asyncio.get_running_loop().call_later(left, partial(mine.end, changed=False)).cancel


def _nothing() -> None:
    """There is nothing to take back."""


async def _news(visit: Visit, mine: Subscription) -> bool:
    """Wait until there is something to say; False where the client has gone."""
    news = asyncio.ensure_future(mine.news.wait())
    gone = asyncio.ensure_future(visit.inbound.gone())
    try:
        await asyncio.wait((news, gone), return_when=asyncio.FIRST_COMPLETED)
        return mine.news.is_set()
    finally:
        mine.news.clear()
        news.cancel()
        gone.cancel()


def _owner(visit: Visit) -> str:
    """Whose streams are counted together."""
    if visit.principal is ANONYMOUS:
        return f"\n{counted_as(visit.inbound.head.peer)}"
    return credential(visit.principal)
