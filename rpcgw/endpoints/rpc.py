"""`/rpc`: JSON-RPC 2.0 by POST, the OpenRPC document by GET. From what came in to what goes out, top to bottom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import msgspec

from rpcgw.access.admit import Policy, admitter, refuser, too_large
from rpcgw.access.challenges import insufficient_scope
from rpcgw.api.context import Principal, Surface
from rpcgw.api.errors import RpcError, ScopeMissing
from rpcgw.api.records import record
from rpcgw.endpoints import batches
from rpcgw.endpoints.deferred import Deferral
from rpcgw.endpoints.entity import entity
from rpcgw.endpoints.executing import Beginner
from rpcgw.endpoints.spans import under_a_span
from rpcgw.exchange import Entrance, Head, HeaderFields, Headers, Inbound, Reply, once_a_head
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.ports import Clock, Ids, Observer, Tracer
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.protocol.jsonrpc import UNKNOWN_VERSION, Endpoint, answers, references, spans
from rpcgw.protocol.jsonrpc.answers import After
from rpcgw.protocol.jsonrpc.envelope import Batch, Fault, Id, Request, read
from rpcgw.protocol.jsonrpc.jobs import Job, tracing
from rpcgw.protocol.jsonrpc.special import LONGEST_RAY_ID, callback_refused
from rpcgw.protocol.trace import context

_EXPOSED = ("WWW-Authenticate", "Content-Language", "ETag")
"""Headers of answers that a page may read (CORS)."""
_LIMIT_SETTING = "defaults.max_body_bytes"


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside; `surface` says what its calls come through.

    `deferral` takes calls with a callback; None where there are none. `switches` say which methods are off.
    """

    executor: Beginner
    ids: Ids
    clock: Clock
    observer: Observer
    surface: Surface = "rpc"
    deferral: Deferral | None = None
    tracer: Tracer | None = None
    switches: Offered = EVERYTHING


class Facts(msgspec.Struct, frozen=True):
    """What a head means for its calls: the client's language, and what goes on to procedures."""

    locale: str
    trace: Mapping[str, str]
    forwarded: Mapping[str, str]
    token: str | None


def facts_of(endpoint: Endpoint) -> Callable[[Head], Facts]:
    """What heads mean at an endpoint."""
    forward = endpoint.forward

    @once_a_head
    def facts(head: Head) -> Facts:
        headers = head.headers
        locale = endpoint.negotiate(headers.get("accept-language"))
        return Facts(locale, context(headers), forward.fields(headers), forward.token(headers))

    return facts


class Visit(msgspec.Struct, frozen=True):
    """One request that was let in: what all of its calls have in common."""

    endpoint: Endpoint
    services: Services
    principal: Principal
    facts: Facts
    headers: Headers
    peer: str


async def answer(
    endpoint: Endpoint, services: Services, known: Callable[[Head], Facts], principal: Principal, inbound: Inbound
) -> Reply:
    """Answer one request that was let in; `known` says what its head means."""
    made = begin(endpoint, services, known, principal, inbound)
    return made if isinstance(made, Reply) else await made


def begin(
    endpoint: Endpoint, services: Services, known: Callable[[Head], Facts], principal: Principal, inbound: Inbound
) -> Reply | Coroutine[Any, Any, Reply]:
    """The same in the current task: at once where nothing has to be waited for, else the rest of it."""
    head = inbound.head
    facts = known(head)
    if head.method != "POST":
        return _document(endpoint, facts.locale, head, principal.scopes, services.switches.off(endpoint.group))
    message = read(inbound.body, endpoint.limits.max_batch)
    visit = Visit(endpoint, services, principal, facts, head.headers, head.peer)
    if isinstance(message, Request):
        return _single(visit, message)
    return _batch(visit, message) if isinstance(message, Batch) else _fault(visit, message)


def entrances(endpoint: Endpoint, policy: Policy, services: Services) -> tuple[Entrance, ...]:
    """Every path of an endpoint: the prefix (version 1), each version that the group has, and any other `vN`."""
    below = endpoint.prefix.rstrip("/")
    root = (below or "/", endpoint.name, 1)
    numbered = [(f"{below}/v{version}", f"{endpoint.name}_ver", version) for version in endpoint.versions]
    unknown = (f"{below}/{{ver}}", f"{endpoint.name}_ver", UNKNOWN_VERSION)
    return tuple(
        _entrance(replace(endpoint, name=name, version=version), policy, services, pattern)
        for pattern, name, version in (root, *numbered, unknown)
    )


def _document(endpoint: Endpoint, locale: str, head: Head, granted: frozenset[str], off: frozenset[str]) -> Reply:
    head_only = "info" in parse_qs(head.query, keep_blank_values=True)
    document = endpoint.document(endpoint.version, locale, head_only, granted, off)
    if document is None:
        return answers.rejected(answers.NOT_FOUND, endpoint.names)
    fields = (*answers.JSON, ("Content-Language", locale))
    return entity(document, fields, head, private=endpoint.private, vary="Accept-Language")


def _fault(visit: Visit, fault: Fault) -> Reply:
    _tell(visit, fault)
    if fault.silent:
        return answers.accepted()
    return answers.fault_reply(fault, visit.endpoint.names, visit.endpoint.texts_in(visit.facts.locale))


def _single(visit: Visit, request: Request) -> Reply | Coroutine[Any, Any, Reply]:
    call = _call(visit, request, request.special.timeout)
    if request.id is None:
        return answers.accepted(partial(_notify, visit, request, call))
    if visit.services.tracer is not None or request.special.callback is not None:
        return _waited(visit, request.id, _outcome(visit, request, call))
    outcome = visit.services.executor.begin(call)
    return _ended(visit, request.id, outcome) if isinstance(outcome, Outcome) else _waited(visit, request.id, outcome)


async def _waited(visit: Visit, identifier: Id, work: Awaitable[Outcome]) -> Reply:
    return _ended(visit, identifier, await work)


def _ended(visit: Visit, identifier: Id, outcome: Outcome) -> Reply:
    """The answer to a single call."""
    challenge: HeaderFields = ()
    if isinstance(outcome, Failed) and isinstance(outcome.error, ScopeMissing):
        challenge = insufficient_scope(visit.endpoint.metadata_url, outcome.error.scopes)
    return answers.answer_to(identifier, outcome, challenge)


async def _batch(visit: Visit, batch: Batch) -> Reply:
    """Answer what wants an answer, in the batch's order; notifications run once the answers are out."""
    run = _Run(visit, batch.items, references.plan(batch.items))
    asked, silent = run.places(notifications=False), run.places(notifications=True)
    outcomes = await run.outcomes_of(asked)
    after = [done.after for place in asked if isinstance(done := outcomes[place], Done) and done.after]
    rest = partial(_afterwards, after, run, silent) if after or silent else None
    bodies = list(_bodies(visit, batch.items, outcomes))
    return answers.reply(answers.batch_body(bodies), rest) if bodies else answers.accepted(rest)


def _bodies(visit: Visit, items: Sequence[Request | Fault], outcomes: Mapping[int, Outcome]) -> Iterator[bytes]:
    for place, item in enumerate(items):
        if isinstance(item, Fault):
            _tell(visit, item)
            if not item.silent:
                yield answers.fault_answer(item, visit.endpoint.names, visit.endpoint.texts_in(visit.facts.locale))
        elif item.id is not None:
            yield answers.answer_of(item.id, outcomes[place])


@record(frozen=True, slots=True)
class _Run:
    """A batch under way: what is known of its items, and the outcomes so far by place."""

    visit: Visit
    items: Sequence[Request | Fault]
    planned: Sequence[references.Planned]
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def places(self, *, notifications: bool) -> list[int]:
        """Where the requests stand that are notifications, or that are none."""
        return [
            place
            for place, item in enumerate(self.items)
            if isinstance(item, Request) and (item.id is None) is notifications
        ]

    async def outcomes_of(self, places: Sequence[int]) -> Mapping[int, Outcome]:
        """Run some of the items, each after those that it refers to."""
        waits = {place: self.planned[place].parents for place in places}
        return await batches.run(waits, self.visit.endpoint.limits.batch_concurrency, self._execute)

    async def _execute(self, place: int) -> Outcome:
        item, planned = self.items[place], self.planned[place]
        assert isinstance(item, Request), "faults are not run"
        filled: Request | RpcError = planned.refused or item
        if planned.references:
            filled = references.fill_in(
                item, planned.references, self.outcomes, self.visit.endpoint.limits.max_body_bytes
            )
        refused = None if isinstance(filled, Request) else filled
        request = filled if isinstance(filled, Request) else item
        call = _batched_call(self.visit, request, refused)
        outcome = self.outcomes[place] = await _outcome(self.visit, request, call)
        return outcome


async def _afterwards(listeners: Sequence[After], run: _Run, notifications: Sequence[int]) -> None:
    """What waits for the answers to be out: `rpc.post_response` of each call, then the notifications."""
    await asyncio.gather(*(listener() for listener in listeners))
    for outcome in (await run.outcomes_of(notifications)).values():
        if isinstance(outcome, Done) and outcome.after:
            await outcome.after()


def _outcome(visit: Visit, request: Request, call: Call) -> Awaitable[Outcome]:
    """What a call comes to, under a span of its own where calls are traced."""
    if (tracer := visit.services.tracer) is None:
        return _called(visit, request, call)
    about = spans.attributes(call, request.id)
    return under_a_span(tracer, "server", call, about, partial(_called, visit, request))


async def _called(visit: Visit, request: Request, call: Call) -> Outcome:
    """Run a call, or defer it where its answer is to go to a callback; a notification has no answer."""
    services = visit.services
    if request.special.callback is None or request.id is None or call.refused is not None:
        return await services.executor.execute(call)
    if services.deferral is None:
        refused = callback_refused("webhooks are not allowed here")
        return await services.executor.execute(msgspec.structs.replace(call, refused=refused))
    return await services.deferral.defer(call, _job(visit, request, call))


def _job(visit: Visit, request: Request, call: Call) -> Job:
    """What a queue must know of a call. Its trace id is the one that the client would see in our log."""
    special = msgspec.structs.replace(request.special, ray_id=call.ray_id)
    return Job(
        request=msgspec.structs.replace(request, special=special),
        token=visit.endpoint.presented(visit.headers),
        group=call.group,
        version=call.version,
        locale=visit.facts.locale,
        headers={**tracing(visit.headers), **call.trace},
    )


async def _notify(visit: Visit, request: Request, call: Call) -> None:
    outcome = await _outcome(visit, request, call)
    if isinstance(outcome, Done) and outcome.after:
        await outcome.after()


def _batched_call(visit: Visit, request: Request, refused: RpcError | None) -> Call:
    """A batch must not wait for ever for one of its items."""
    endpoint = visit.endpoint
    limit = None if request.method in endpoint.deadlines else endpoint.limits.batch_deadline
    timeout = limit if request.special.timeout is None else request.special.timeout
    return _call(visit, request, timeout, refused)


def _call(visit: Visit, request: Request, timeout: float | None, refused: RpcError | None = None) -> Call:
    endpoint, special = visit.endpoint, request.special
    own_id = visit.services.ids.token()
    return Call(
        method=request.method,
        group=endpoint.group,
        version=endpoint.version,
        params=request.params,
        id=own_id,
        surface=visit.services.surface,
        principal=visit.principal,
        locale=visit.facts.locale,
        ray_id=special.ray_id or _ray_id(request) or own_id,
        headers={**visit.facts.forwarded},
        timeout=timeout,
        ignore_cache=special.ignore_cache,
        refused=refused,
        trace=visit.facts.trace,
        peer=visit.peer,
        token=visit.facts.token,
    )


def _ray_id(request: Request) -> str:
    """The client's id names the chain of calls, unless it is too long for a log line."""
    text = "" if request.id is None else str(request.id)
    return text if len(text) <= LONGEST_RAY_ID else ""


def _tell(visit: Visit, fault: Fault) -> None:
    endpoint = visit.endpoint
    visit.services.observer.event(
        "envelope.refused",
        group=endpoint.group,
        version=endpoint.version,
        code=fault.error.wire_code,
        reason=fault.error.message,
        extra=fault.error.extra,
    )


def _entrance(endpoint: Endpoint, policy: Policy, services: Services, pattern: str) -> Entrance:
    limit = endpoint.limits.max_body_bytes
    refuse = refuser(services.observer, partial(answers.rejected, names=endpoint.names))
    known = facts_of(endpoint)
    return Entrance(
        name=endpoint.name,
        pattern=pattern,
        methods=policy.methods,
        max_body_bytes=limit,
        admit=admitter(policy, services.clock, refuse),
        too_large=partial(refuse, too_large(limit, _LIMIT_SETTING)),
        refuse=refuse,
        answer=partial(answer, endpoint, services, known),
        quick=partial(begin, endpoint, services, known),
        origins=endpoint.origins,
        expose=_EXPOSED,
    )
