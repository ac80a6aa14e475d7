"""Deferred calls in operation: what sends webhooks, what accepts calls with a callback, and the queue that they go to.

Nothing is imported or opened that the configuration does not ask for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec

from rpcgw.adapters.queues import Surroundings, open_queue
from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings, Transport
from rpcgw.daemon.runtime import Runtime
from rpcgw.endpoints.deferred import Deferral, NamedQueue
from rpcgw.endpoints.webhooks import Webhooks
from rpcgw.kernel.call import Call
from rpcgw.kernel.ports import HttpClient, JobQueue
from rpcgw.kernel.scopes import is_usable

JOBS, OTEL, POSTGRES = "rpcgw[jobs]", "rpcgw[otel]", "rpcgw[postgres]"
"""The extras of the package that bring what is missing."""


def missing_packages(settings: Settings) -> Iterator[Problem]:
    """What the configuration needs and is not installed."""
    kinds = {transport.type for transport in settings.transports}
    dsn = settings.webmcp.usage.dsn or ""
    needs = [
        ("stamina", "jobs.webhooks.allow", JOBS, bool(settings.jobs.webhooks.allow)),
        ("aio_pika", "ufo_json_rpc.async", JOBS, "amqp" in kinds),
        ("stamina", "ufo_json_rpc.async", JOBS, "mercure" in kinds),
        ("psycopg", "webmcp.usage.dsn", POSTGRES, dsn.startswith("postgres")),
        ("opentelemetry", "tracing.enabled", OTEL, settings.tracing.enabled),
    ]
    for package, option, extra, needed in needs:
        if needed and find_spec(package) is None:
            place = settings.places.get(option, Place(settings.source))
            text = f'"{option}" needs the package {package}, which is not installed.'
            yield Problem(place, "missing-package", text, f"pip install '{extra}'")


@asynccontextmanager
async def open_deferral(runtime: Runtime) -> AsyncIterator[Deferral]:
    """What accepts calls with a callback in this process."""
    gateway, settings = runtime.gateway, runtime.gateway.settings
    async with AsyncExitStack() as stack:
        webhooks = await stack.enter_async_context(open_webhooks(runtime))
        queue = None
        if webhooks is not None and settings.transports:
            first = settings.transports[0]
            queue = NamedQueue(first.name, await stack.enter_async_context(opened(runtime, first)))

        def knows(call: Call) -> bool:
            method = (gateway.table.methods(call.group, call.version) or {}).get(call.method)
            off = runtime.switches.off(call.group)
            return method is not None and is_usable(method, call.principal.scopes, off)

        yield Deferral(
            runtime.executor,
            runtime.observer,
            knows,
            webhooks,
            queue=queue,
            concurrency=settings.jobs.concurrency,
            waiting=settings.jobs.waiting,
            tracer=runtime.tracer,
        )


@asynccontextmanager
async def open_webhooks(runtime: Runtime) -> AsyncIterator[Webhooks | None]:
    """What sends webhooks; None where none are allowed."""
    jobs, policy = runtime.gateway.settings.jobs, runtime.gateway.webhooks
    if not policy.entries:
        yield None
        return
    from rpcgw.adapters.http.client import Client, SystemResolver  # noqa: PLC0415 -- imported where it is used

    client = Client(policy.admits)
    try:
        yield Webhooks(
            policy,
            client,
            SystemResolver(),
            runtime.clock,
            runtime.observer,
            secret=jobs.webhooks.secret,
            retries=jobs.retries,
            tracer=runtime.tracer,
        )
    finally:
        await client.close()


@asynccontextmanager
async def opened(runtime: Runtime, transport: Transport) -> AsyncIterator[JobQueue]:
    """A queue, until the end of the block."""
    reclaim = runtime.gateway.settings.jobs.reclaim
    queue = open_queue(transport, Surroundings(reclaim, runtime.observer, runtime.pool, _client))
    try:
        yield queue
    finally:
        await queue.close()


def _client() -> HttpClient:
    from rpcgw.adapters.http.client import Client  # noqa: PLC0415 -- as above

    return Client()
