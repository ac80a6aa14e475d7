"""A queue's messages: each is read, admitted as an HTTP request would be, run, and its answer sent to its callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter

from rpcgw.access.oauth import Authority, Unavailable
from rpcgw.access.tokens import Denied, Tokens
from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.api.records import record
from rpcgw.endpoints.executing import Executor
from rpcgw.endpoints.spans import under_a_span
from rpcgw.endpoints.webhooks import Webhooks
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.ports import Clock, Delivery, Handled, Ids, Observer, Tracer
from rpcgw.protocol.jsonrpc import answers, spans
from rpcgw.protocol.jsonrpc.jobs import Job, read_job
from rpcgw.protocol.trace import context


class NobodyKnows(Exception):
    """Whose a token is cannot be said now; the message stays in its queue."""


@record(frozen=True, slots=True)
class Served:
    """A group as `/rpc` serves it: who may call it (None: anybody), and its languages.

    `authority` says whose access tokens are, where the group takes such, and `scopes` are what each of them must allow.
    """

    tokens: Tokens | None
    negotiate: Callable[[str | None], str]
    authority: Authority | None = None
    scopes: frozenset[str] = frozenset()


@record(frozen=True, slots=True)
class Services:
    """What a worker needs. `groups` are those that a route of kind rpc serves; `queue` is the queue's name.

    `max_body_bytes` is the largest message; one that was given out more than `retries` times after the first is dead.
    """

    queue: str
    executor: Executor
    ids: Ids
    clock: Clock
    observer: Observer
    groups: Mapping[str, Served]
    webhooks: Webhooks | None = None
    retries: int = 5
    max_body_bytes: int = 4_194_304
    tracer: Tracer | None = None


async def handle(services: Services, delivery: Delivery) -> Handled:
    """Do one message to its end; a message that can never be done is dead, and the reason says why."""
    found = await _admitted(services, delivery)
    if isinstance(found, str):
        services.observer.event(
            "job.dead", queue=services.queue, outcome="dead", key=delivery.key, reason=found, deliveries=delivery.count
        )
        return Handled(dead=found)
    job, principal, served = found
    call = _call(services, job, principal, served)
    if delivery.count > 1:
        _tell(services, "job.retried", "retried", call, delivery, deliveries=delivery.count)
    started = perf_counter()
    run = partial(_done, services, job)
    if services.tracer is None:
        outcome = await run(call)
    else:
        about = spans.attributes(call, job.request.id, services.queue)
        outcome = await under_a_span(services.tracer, "consumer", call, about, run)
    answer = None if job.request.id is None else answers.answer_of(job.request.id, outcome)
    seconds = round(perf_counter() - started, 6)
    if isinstance(outcome, Failed):
        _tell(services, "job.failed", "failed", call, delivery, code=outcome.code, seconds=seconds)
    else:
        _tell(services, "job.done", "done", call, delivery, seconds=seconds)
    return Handled(answer)


async def _done(services: Services, job: Job, call: Call) -> Outcome:
    """Run a job's call and send its answer to where it is wanted."""
    outcome = await services.executor.execute(call)
    identifier, callback = job.request.id, job.request.special.callback
    if identifier is not None and callback is not None and services.webhooks is not None:
        answer = answers.answer_of(identifier, outcome)
        await services.webhooks.deliver(callback, answer, {**job.headers, **call.trace}, call.ray_id)
    if isinstance(outcome, Done) and outcome.after is not None:
        await outcome.after()
    return outcome


async def _admitted(services: Services, delivery: Delivery) -> tuple[Job, Principal, Served] | str:
    """The job, who asks for it, and of which group; or why it is dead."""
    if delivery.count > services.retries + 1:
        return f"given out {delivery.count - 1} times, and never done: it may end the workers that begin it"
    if len(delivery.body) > services.max_body_bytes:
        return f"the message is larger than {services.max_body_bytes} bytes (defaults.max_body_bytes)"
    job = read_job(delivery.body)
    if isinstance(job, str):
        return job
    served = services.groups.get(job.group)
    if served is None:
        return f"no route of kind rpc serves the group {job.group[:64]!r}"
    principal = await _principal(served, job, services.clock.now())
    if isinstance(principal, str):
        return f"refused: {principal}"
    return _callback_refused(services, job) or (job, principal, served)


async def _principal(served: Served, job: Job, now: float) -> Principal | str:
    """Who asks, or why nobody whom we know does. A token that ended while the job waited is no token any more.

    Raises:
        NobodyKnows: An authorization server is away; the job is tried again.
    """
    if served.tokens is None:
        return ANONYMOUS
    if job.token is None:
        return Denied.ABSENT.value
    who = served.tokens.holder(job.token, now)
    if who is not Denied.WRONG or served.authority is None:
        return who.value if isinstance(who, Denied) else who
    said = served.authority.recall(job.token, now) or await served.authority.identify(job.token, now)
    if isinstance(said, Unavailable):
        raise NobodyKnows(said.reason)
    if not isinstance(said, Principal):
        return said.reason
    missing = served.scopes - said.scopes
    return f"the token lacks {' '.join(sorted(missing))} (groups.<group>.oauth.scopes)" if missing else said


def _callback_refused(services: Services, job: Job) -> str:
    """What its text alone says: names are resolved when the answer is sent, and their addresses judged then."""
    url = job.request.special.callback
    if url is None or job.request.id is None:
        return ""
    if services.webhooks is None:
        return "webhooks are not allowed here (jobs.webhooks.allow)"
    reason = services.webhooks.policy.refuses(url)
    return f"the callback {reason} (jobs.webhooks)" if reason else ""


def _call(services: Services, job: Job, principal: Principal, served: Served) -> Call:
    request, own_id = job.request, services.ids.token()
    return Call(
        method=request.method,
        group=job.group,
        version=job.version,
        params=request.params,
        id=own_id,
        surface="queue",
        principal=principal,
        locale=served.negotiate(job.locale or None),
        ray_id=request.special.ray_id or own_id,
        timeout=request.special.timeout,
        ignore_cache=request.special.ignore_cache,
        trace=context(job.headers),
    )


def _tell(services: Services, name: str, outcome: str, call: Call, delivery: Delivery, **more: object) -> None:
    services.observer.event(
        name,
        queue=services.queue,
        outcome=outcome,
        key=delivery.key,
        method=call.method[:200],
        id=call.id,
        ray_id=call.ray_id,
        **more,
    )
