"""`/mcp`: both eras of MCP on one path. From what came in to what goes out, top to bottom.

A request of the stateless era is answered from itself alone; no store is touched for it (C-23). One of the session era
needs its session, unless it begins one. Either way `tools/call` is one call of the executor that `/rpc` uses (T-14).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from rpcgw.access.admit import Policy, Refuse, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints.presence import Presence
from rpcgw.endpoints.sessions import Sessions
from rpcgw.exchange import Entrance, Head, Inbound, Reply
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.ports import Clock, Ids, Observer, StoreError
from rpcgw.protocol.mcp import UNKNOWN_VERSION, Endpoint, answers, calls, trace
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.answers import After
from rpcgw.protocol.mcp.calls import Misfit, Planned
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
from rpcgw.protocol.mcp.revisions import SESSION, Era, negotiate
from rpcgw.protocol.mcp.sessions import Session

EXPOSED: Final = ("Mcp-Session-Id", "WWW-Authenticate", "Content-Language")
"""Headers of answers that a page may read (CORS)."""

_LIMIT_SETTING: Final = "ufo_mcp.max_body_bytes"
_RETRY: Final = (("Retry-After", "5"),)
_NO_SESSION: Final = "Mcp-Session-Id is missing; begin with initialize"
_SESSION_GONE: Final = "There is no such session; begin a new one with initialize, without Mcp-Session-Id"
_CLIENT_LEFT: Final = Reply(499)
"""Nobody reads it: the status is for the log."""


class Executor(Protocol):
    """Runs one call. Whatever goes wrong is an outcome, not an exception."""

    async def execute(self, call: Call) -> Outcome:
        """Run a call to its end."""


@dataclass(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside."""

    executor: Executor
    sessions: Sessions
    ids: Ids
    clock: Clock
    observer: Observer


class Visit(msgspec.Struct, frozen=True):
    """One request that was let in: what all of its messages have in common."""

    endpoint: Endpoint
    services: Services
    principal: Principal
    inbound: Inbound
    locale: str


class Answer(msgspec.Struct, frozen=True):
    """One message's answer, and what to run once it is out."""

    body: bytes
    after: After | None = None


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
        _entrance(replace(endpoint, version=version), policy, services, pattern)
        for pattern, version in (*served, (f"{numbered}{{ver}}", UNKNOWN_VERSION))
    )


# -- the stateless era


async def _stateless(visit: Visit, request: Modern) -> Reply:
    handle = _STATELESS.get(request.method)
    if handle is None:
        return _refuse(visit, refuse(_no_method(request.method), request.id, "stateless"))
    made = await handle(visit, request)
    return _CLIENT_LEFT if made is None else _reply(visit, made)


async def _call_while_awaited(visit: Visit, request: Modern) -> Answer | Refused | None:
    """A closed connection cancels its call (MCP 2026-07-28, Cancellation); None where that happened."""
    with Presence(visit.inbound.gone):
        return await _call(visit, request, "stateless")
    return None


async def _discover(visit: Visit, request: Modern) -> Answer:
    return Answer(answers.listed(request.id, visit.endpoint.discovery, visit.endpoint, "stateless"))


# -- the session era


async def _in_session(visit: Visit, request: Legacy) -> Reply:
    if request.method == "initialize":
        return await _initialize(visit, request)
    session = await _session(visit)
    if isinstance(session, Refused):
        return _refuse(visit, msgspec.structs.replace(session, id=request.id))
    return _reply(visit, await _legacy(visit, request))


async def _legacy(visit: Visit, request: Legacy) -> Answer | Refused:
    handle = _SESSION.get(request.method)
    if handle is None:
        return refuse(_no_method(request.method), request.id, "session")
    return await handle(visit, request)


async def _initialize(visit: Visit, request: Legacy) -> Reply:
    """Begin a session (MCP 2025-11-25, Lifecycle). Nothing is stored for a request that is refused."""
    asked = request.params.get("protocolVersion")
    if type(asked) is not str:
        fault = Fault(INVALID_PARAMS, "params.protocolVersion must be a text", {"supported": list(SESSION)})
        return _refuse(visit, refuse(fault, request.id, "session"))
    revision = negotiate(asked)
    try:
        session_id = await visit.services.sessions.begin(visit.endpoint, visit.principal, revision)
    except StoreError as error:
        return _refuse(visit, msgspec.structs.replace(_store_failed(visit, error), id=request.id))
    body = answers.result(request.id, visit.endpoint.welcome(revision))
    return answers.reply(body, visit.locale, headers=(("Mcp-Session-Id", session_id),))


async def _ping(visit: Visit, request: Legacy) -> Answer:  # noqa: ARG001 -- every handler takes both
    return Answer(answers.result(request.id, b"{}"))


async def _notice(visit: Visit, notice: Notice) -> Reply:
    if notice.era == "session":
        session = await _session(visit)
        if isinstance(session, Refused):
            return _refuse(visit, session)
    return answers.accepted()


async def _batch(visit: Visit, batch: Batch) -> Reply:
    """Answer what wants an answer, in the batch's order; 202 where nothing does."""
    session = await _session(visit)
    if isinstance(session, Refused):
        return _refuse(visit, session)
    if not SESSION[session.revision].batches:
        return _refuse(visit, Refused(400, INVALID_REQUEST, "This session's revision has no batches"))
    made = await _each(visit, [item for item in batch.items if not isinstance(item, Notice)])
    if not made:
        return answers.accepted()
    body = answers.batch([item.body if isinstance(item, Answer) else answers.error(item) for item in made])
    steps = [item.after for item in made if isinstance(item, Answer) and item.after]
    return answers.reply(body, visit.locale, answers.afterwards(steps))


async def _each(visit: Visit, items: list[Legacy | Refused]) -> list[Answer | Refused]:
    """The answers to a batch's requests in their order, no more than the limit under way at a time."""
    made: dict[int, Answer | Refused] = {}
    todo = iter(enumerate(items))

    async def take() -> None:
        for index, item in todo:
            made[index] = item if isinstance(item, Refused) else await _legacy(visit, item)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(visit.endpoint.limits.batch_concurrency, len(items))):
            group.create_task(take())
    return [made[index] for index in range(len(items))]


async def _end(visit: Visit) -> Reply:
    """DELETE: the client ends its session."""
    session_id = visit.inbound.head.headers.get(fields.SESSION)
    if session_id is None:
        return _refuse(visit, Refused(400, INVALID_REQUEST, _NO_SESSION))
    try:
        ended = await visit.services.sessions.end(visit.endpoint, visit.principal, session_id)
    except StoreError as error:
        return _refuse(visit, _store_failed(visit, error))
    return Reply(200) if ended else _refuse(visit, Refused(404, INVALID_REQUEST, _SESSION_GONE))


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


async def _list(visit: Visit, request: Modern | Legacy, era: Era) -> Answer | Refused:
    page = visit.endpoint.listing.page(request.params.get("cursor"), visit.locale)
    if isinstance(page, Fault):
        return refuse(page, request.id, era)
    return Answer(answers.listed(request.id, page, visit.endpoint, era))


async def _call(visit: Visit, request: Modern | Legacy, era: Era) -> Answer | Refused:
    endpoint = visit.endpoint
    planned = calls.plan(endpoint, request.params, visit.inbound.head.headers if era == "stateless" else None)
    if isinstance(planned, Fault):
        return refuse(planned, request.id, era)
    if isinstance(planned, Misfit):
        if planned.tool.validation_errors == "protocol":
            return refuse(planned.fault, request.id, era)
        return Answer(answers.failed(request.id, msgspec.to_builtins(planned.fault), endpoint, era))
    outcome = await visit.services.executor.execute(_kernel_call(visit, planned, request.params.get("_meta")))
    body = answers.outcome_of(request.id, outcome, endpoint, era)
    return Answer(body, outcome.after if isinstance(outcome, Done) else None)


def _kernel_call(visit: Visit, planned: Planned, meta: Any) -> Call:
    endpoint = visit.endpoint
    own_id = visit.services.ids.token()
    traced = trace.read(meta)
    return Call(
        method=planned.tool.method.name,
        group=endpoint.group,
        version=endpoint.version,
        params=planned.arguments,
        id=own_id,
        surface="mcp",
        principal=visit.principal,
        locale=visit.locale,
        ray_id=trace.ray_id(traced) or own_id,
        headers=traced,
        strict=True,
        gated=planned.gated,
    )


def _no_method(name: str) -> Fault:
    return Fault(METHOD_NOT_FOUND, f"Method not found: {name[:100]}")


def _reply(visit: Visit, made: Answer | Refused) -> Reply:
    if isinstance(made, Refused):
        return _refuse(visit, made)
    return answers.reply(made.body, visit.locale, made.after)


def _refuse(visit: Visit, refused: Refused) -> Reply:
    endpoint = visit.endpoint
    visit.services.observer.event(
        "envelope.refused",
        group=endpoint.group,
        version=endpoint.version,
        code=refused.code,
        reason=refused.message,
    )
    return answers.refusal(refused, _RETRY if refused.status == 503 else ())


def _store_failed(visit: Visit, error: StoreError) -> Refused:
    visit.services.observer.event("session.store_error", operation="session", reason=str(error))
    return Refused(503, INTERNAL_ERROR, "The session store cannot be reached; try again soon")


async def _refused(visit: Visit, refused: Refused) -> Reply:
    return _refuse(visit, refused)


_STATELESS: Final[Mapping[str, Callable[[Visit, Modern], Awaitable[Answer | Refused | None]]]] = {
    "server/discover": _discover,
    "tools/list": partial(_list, era="stateless"),
    "tools/call": _call_while_awaited,
}

_SESSION: Final[Mapping[str, Callable[[Visit, Legacy], Awaitable[Answer | Refused]]]] = {
    "ping": _ping,
    "tools/list": partial(_list, era="session"),
    "tools/call": partial(_call, era="session"),
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
        answer=partial(answer, endpoint, services),
        origins=endpoint.origins,
        expose=EXPOSED,
    )


def _absent(policy: Policy, refusing: Refuse, head: Head) -> Reply:
    """Nothing is served here, whatever is asked and whoever asks; only the guards come first."""
    return refusing(policy.guards.check(head) or answers.NOT_FOUND, head)
