"""`/mcp`: both eras of MCP on one path. From what came in to what goes out, top to bottom.

A request of the stateless era is answered from itself alone; no store is touched for it (C-23). One of the session era
needs its session, unless it begins one. Either way `tools/call` is one call of the executor that `/rpc` uses (T-14).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import msgspec

from rpcgw.access.admit import Policy, Refuse, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints import mcp_replies as replies
from rpcgw.endpoints.message_spans import Handle, beginning, under_a_span
from rpcgw.endpoints.quick_calls import QuickCalls
from rpcgw.endpoints.subscriptions import listen
from rpcgw.endpoints.tool_calls import call
from rpcgw.endpoints.visit import Answer, Services, Visit
from rpcgw.exchange import Entrance, Head, Inbound, Reply
from rpcgw.kernel.ports import StoreError
from rpcgw.protocol.mcp import UNKNOWN_VERSION, Endpoint, answers, notices
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.capabilities import declared
from rpcgw.protocol.mcp.classify import classify
from rpcgw.protocol.mcp.faults import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Fault,
    Refused,
    refuse,
)
from rpcgw.protocol.mcp.messages import Batch, Legacy, Modern, Notice
from rpcgw.protocol.mcp.ready import ready
from rpcgw.protocol.mcp.revisions import SESSION, Era, negotiate
from rpcgw.protocol.mcp.sessions import Session

__all__ = ["EXPOSED", "Services", "answer", "entrances"]

EXPOSED: Final = ("Mcp-Session-Id", "WWW-Authenticate", "Content-Language")
"""Headers of answers that a page may read (CORS)."""

_LIMIT_SETTING: Final = "ufo_mcp.max_body_bytes"
_RETRY: Final = 4.0
"""Seconds after which the store may be back; Retry-After says whole ones, and more."""
_NO_SESSION: Final = "Mcp-Session-Id is missing; begin with initialize"
_SESSION_GONE: Final = "There is no such session; begin a new one with initialize, without Mcp-Session-Id"


async def answer(endpoint: Endpoint, services: Services, principal: Principal, inbound: Inbound) -> Reply:
    """Answer one request that was let in."""
    head = inbound.head
    visit = Visit(endpoint, services, principal, inbound, endpoint.language(head.headers.get("accept-language")))
    if head.method == "DELETE":
        return await _end(visit)
    message = classify(head.headers, inbound.body, endpoint.limits.max_batch)
    return await _LEGS[type(message)](visit, message)


def entrances(endpoint: Endpoint, policy: Policy, services: Services) -> tuple[Entrance, ...]:
    """Every path of an endpoint: the prefix (version 1), each version that the group has, and any other `vN`."""
    numbered = f"{endpoint.prefix.rstrip('/')}/"
    served = [(endpoint.prefix, 1), *((f"{numbered}v{version}", version) for version in endpoint.toolboxes)]
    return tuple(
        _offered(replace(endpoint, version=version), policy, services, pattern)
        for pattern, version in (*served, (f"{numbered}{{ver}}", UNKNOWN_VERSION))
    )


def _offered(endpoint: Endpoint, policy: Policy, services: Services, pattern: str) -> Entrance:
    """An endpoint that exists by what was compiled, and shows what is on."""
    entrance = _entrance(endpoint, policy, services, pattern)
    services.switches.follow(endpoint.group, endpoint.offer)
    return entrance


# -- the stateless era


async def _stateless(visit: Visit, request: Modern) -> Reply:
    made = await _answered(visit, request, _STATELESS.get(request.method, _unknown), None)
    return replies.of_stateless(visit, made, told=request.method == "tools/call")


async def _discover(visit: Visit, request: Modern | Legacy, _: None) -> Answer:
    return Answer(answers.listed(request.id, visit.endpoint.discovery, visit.endpoint, "stateless"))


# -- the session era


async def _in_session(visit: Visit, request: Legacy) -> Reply:
    if request.method == "initialize":
        traced = visit.services.tracer is not None
        return await (beginning(_initialize, visit, request) if traced else _initialize(visit, request))
    session = await _session(visit)
    if isinstance(session, Refused):
        return replies.refuse(visit, msgspec.structs.replace(session, id=request.id))
    made = await _legacy(visit, request, session)
    return replies.of_session(visit, made, told=request.method == "tools/call")


def _legacy(visit: Visit, request: Legacy, session: Session) -> Awaitable[Answer | Refused | None]:
    """The answer; None where the client gave its request up, and wants none."""
    return _answered(visit, request, _SESSION.get(request.method, _unknown), session)


async def _initialize(visit: Visit, request: Legacy) -> Reply:
    """Begin a session (MCP 2025-11-25, Lifecycle). Nothing is stored for a request that is refused."""
    asked = request.params.get("protocolVersion")
    if type(asked) is not str:
        fault = Fault(INVALID_PARAMS, "params.protocolVersion must be a text", {"supported": list(SESSION)})
        return replies.refuse(visit, refuse(fault, request.id, "session"))
    revision, offered = negotiate(asked), declared(request.params.get("capabilities"))
    try:
        session_id = await visit.services.sessions.begin(visit.endpoint, visit.principal, revision, offered)
    except StoreError as error:
        return replies.refuse(visit, msgspec.structs.replace(_store_failed(visit, error), id=request.id))
    body = answers.result(request.id, visit.endpoint.welcome(revision))
    return answers.reply(body, visit.locale, headers=(("Mcp-Session-Id", session_id),))


async def _ping(_: Visit, request: Legacy, __: Session) -> Answer:
    return Answer(answers.result(request.id, b"{}"))


async def _notice(visit: Visit, notice: Notice) -> Reply:
    if notice.era == "session":
        session = await _session(visit)
        if isinstance(session, Refused):
            return replies.refuse(visit, session)
        await _hear(visit, notice)
    return answers.accepted()


async def _hear(visit: Visit, notice: Notice) -> None:
    """Of what a client of a session notifies of, only that it gives up a request means anything here."""
    session_id = visit.inbound.head.headers.get(fields.SESSION)
    request_id = notices.cancelled(notice.params) if notice.method == notices.CANCELLED else None
    if session_id is not None and request_id is not None:
        await visit.services.cancellations.cancel(session_id, request_id)


async def _batch(visit: Visit, batch: Batch) -> Reply:
    """Answer what wants an answer, in the batch's order; 202 where nothing does."""
    session = await _session(visit)
    if isinstance(session, Refused):
        return replies.refuse(visit, session)
    if not SESSION[session.revision].batches:
        return replies.refuse(visit, Refused(400, INVALID_REQUEST, "This session's revision has no batches"))
    for item in batch.items:
        if isinstance(item, Notice):
            await _hear(visit, item)
    made = [item for item in await _each(visit, batch, session) if item is not None]
    if not made:
        return answers.accepted()
    body = answers.batch([item.text if isinstance(item, Answer) else answers.error(item) for item in made])
    steps = [item.after for item in made if isinstance(item, Answer) and item.after]
    return answers.reply(body, visit.locale, answers.afterwards(steps))


async def _each(visit: Visit, batch: Batch, session: Session) -> list[Answer | Refused | None]:
    """The answers to a batch's requests in their order, no more than the limit under way at a time.

    They come in one piece: a batch's calls say nothing before.
    """
    items = [item for item in batch.items if not isinstance(item, Notice)]
    silent = msgspec.structs.replace(visit, inbound=msgspec.structs.replace(visit.inbound, begin=None))
    made: dict[int, Answer | Refused | None] = {}
    todo = iter(enumerate(items))

    async def take() -> None:
        for index, item in todo:
            made[index] = item if isinstance(item, Refused) else await _legacy(silent, item, session)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(visit.endpoint.limits.batch_concurrency, len(items))):
            group.create_task(take())
    return [made[index] for index in range(len(items))]


async def _end(visit: Visit) -> Reply:
    """DELETE: the client ends its session."""
    session_id = visit.inbound.head.headers.get(fields.SESSION)
    if session_id is None:
        return replies.refuse(visit, Refused(400, INVALID_REQUEST, _NO_SESSION))
    try:
        ended = await visit.services.sessions.end(visit.endpoint, visit.principal, session_id)
    except StoreError as error:
        return replies.refuse(visit, _store_failed(visit, error))
    return Reply(200) if ended else replies.refuse(visit, Refused(404, INVALID_REQUEST, _SESSION_GONE))


async def _session(visit: Visit) -> Session | Refused:
    """The session that the client names, if it is its own."""
    session_id = visit.inbound.head.headers.get(fields.SESSION)
    if session_id is None:
        return Refused(400, INVALID_REQUEST, _NO_SESSION)
    kept = visit.services.sessions
    session = kept.recall(visit.endpoint, visit.principal, session_id)
    if session is not None:
        return session
    try:
        session = await kept.find(visit.endpoint, visit.principal, session_id)
    except StoreError as error:
        return _store_failed(visit, error)
    return session or Refused(404, INVALID_REQUEST, _SESSION_GONE)


# -- both eras


def _answered(
    visit: Visit, request: Modern | Legacy, handle: Handle, session: Session | None
) -> Awaitable[Answer | Refused | None]:
    if visit.services.tracer is None:
        return handle(visit, request, session)
    return under_a_span(handle, visit, request, session, known=handle is not _unknown)


async def _unknown(_: Visit, request: Modern | Legacy, session: Session | None) -> Refused:
    return refuse(_no_method(request.method), request.id, "session" if session else "stateless")


async def _list(visit: Visit, request: Modern | Legacy, session: Session | None) -> Answer | Refused:
    era: Era = "session" if session else "stateless"
    visit.services.switches.settle()
    page = visit.endpoint.listing(visit.principal.scopes).page(request.params.get("cursor"), visit.locale)
    if isinstance(page, Fault):
        return refuse(page, request.id, era)
    closing = visit.endpoint.keepable if era == "stateless" else b""
    return Answer(answers.identifier(request.id), ready=ready(page, closing))


def _no_method(name: str) -> Fault:
    return Fault(METHOD_NOT_FOUND, f"Method not found: {name[:100]}")


def _store_failed(visit: Visit, error: StoreError) -> Refused:
    visit.services.observer.event("session.store_error", operation="session", reason=str(error))
    return Refused(503, INTERNAL_ERROR, "The session store cannot be reached; try again soon", retry_after=_RETRY)


async def _refused(visit: Visit, refused: Refused) -> Reply:
    return replies.refuse(visit, refused)


_STATELESS: Final[Mapping[str, Callable[[Visit, Modern, None], Awaitable[Answer | Refused | None]]]] = {
    "server/discover": _discover,
    "subscriptions/listen": listen,
    "tools/list": _list,
    "tools/call": call,
}

_SESSION: Final[Mapping[str, Callable[[Visit, Legacy, Session], Awaitable[Answer | Refused | None]]]] = {
    "ping": _ping,
    "tools/list": _list,
    "tools/call": call,
}

_LEGS: Final[Mapping[type, Callable[[Visit, Any], Awaitable[Reply]]]] = {
    Modern: _stateless,
    Legacy: _in_session,
    Notice: _notice,
    Batch: _batch,
    Refused: _refused,
}


# -- the ways in


def _entrance(endpoint: Endpoint, policy: Policy, services: Services, pattern: str) -> Entrance:
    limit = endpoint.limits.max_body_bytes
    refusing = refuser(services.observer, answers.rejected)
    return Entrance(
        name=endpoint.name,
        pattern=pattern,
        methods=policy.methods,
        max_body_bytes=limit,
        admit=admitter(policy, services.clock, refusing) if endpoint.exists else partial(_absent, policy, refusing),
        too_large=partial(refusing, too_large(limit, _LIMIT_SETTING)),
        refuse=refusing,
        answer=partial(answer, endpoint, services),
        quick=QuickCalls(endpoint, services) if services.tracer is None else None,
        origins=endpoint.origins,
        expose=EXPOSED,
    )


def _absent(policy: Policy, refusing: Refuse, head: Head) -> Reply:
    """Nothing is served here, whatever is asked and whoever asks; only the guards come first."""
    return refusing(policy.guards.check(head) or answers.NOT_FOUND, head)
