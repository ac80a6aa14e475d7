"""`rpcgw worker`: one process that consumes one queue, through the executor that every surface uses.

SIGTERM or Ctrl-C: nothing more is taken, and what is in hand has `server.timeouts.grace` seconds; what is cut then was
not acknowledged, and runs again elsewhere. A second signal ends the process at once, with the same outcome.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, closing
from functools import partial

import uvloop

from rpcgw.config.settings import Transport
from rpcgw.daemon.authorities import open_authorities
from rpcgw.daemon.jobs import open_webhooks, opened
from rpcgw.daemon.notify import Notifier
from rpcgw.daemon.rates import open_rates
from rpcgw.daemon.revocations import open_shared
from rpcgw.daemon.runtime import HOST_CLOCK, Runtime, open_runtime
from rpcgw.daemon.switched import SWITCHES, SwitchFile, Switching
from rpcgw.daemon.telemetry import job_telemetry
from rpcgw.endpoints import jobs
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Delivery, Handled, JobQueue, StoreError

OK = 0
CUT = 1
KILLED = 130


def run(gateway: Gateway, transport: Transport) -> int:
    """Consume until told to stop; the exit code: 0, or 1 where jobs were cut.

    Raises:
        ConfigError: Something cannot be opened that the operator or a plugin's author has to mend.
    """
    # Not closed at the end: closing would wait for threads that run procedures without end.
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    return runner.run(_consume(gateway, transport))


async def _consume(gateway: Gateway, transport: Transport) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop, stopping)
    settings = gateway.settings
    async with AsyncExitStack() as stack:
        told = stack.enter_context(job_telemetry(gateway, transport.name))
        report = told.observer.event
        loop.add_signal_handler(signal.SIGUSR1, told.logs.reopen)
        rates = await stack.enter_async_context(open_rates(gateway, HOST_CLOCK, told.observer))
        switched = stack.enter_context(closing(open_shared(settings, SWITCHES)))
        opening = open_runtime(
            gateway,
            told.observer,
            exhausted=_end,
            tracer=told.tracer,
            rates=rates,
            switching=Switching(SwitchFile(settings.state_dir), switched),
        )
        runtime = await stack.enter_async_context(opening)
        authorities = await stack.enter_async_context(open_authorities(runtime))
        webhooks = await stack.enter_async_context(open_webhooks(runtime))
        queue = await stack.enter_async_context(opened(runtime, transport))
        services = jobs.Services(
            queue=transport.name,
            executor=runtime.executor,
            ids=runtime.ids,
            clock=runtime.clock,
            observer=runtime.observer,
            groups=_groups(authorities.bound(gateway)),
            webhooks=webhooks,
            retries=settings.jobs.retries,
            tracer=runtime.tracer,
            max_body_bytes=max(settings.calls_of(group).max_body_bytes for group in ("", *settings.calls)),
        )
        await _reach(queue, services)
        notifier = Notifier(os.environ)
        report("worker.ready", queue=transport.name, kind=transport.type, concurrency=settings.jobs.concurrency)
        notifier.ready(f"consuming {transport.name}")
        pings = asyncio.ensure_future(notifier.ping(lambda: True))  # a loop that stands still sends none
        stack.callback(pings.cancel)
        code = await _until_stopped(queue, services, stopping, notifier, runtime)
        report("worker.stopped", queue=transport.name, cut=code == CUT)
        return code


async def _reach(queue: JobQueue, services: jobs.Services) -> None:
    """Whoever hears that the worker is ready may produce: the queue is there. A broker that is away is waited for."""
    try:
        await queue.ping()
    except StoreError as error:
        services.observer.event("queue.error", queue=services.queue, reason=str(error))


async def _until_stopped(
    queue: JobQueue, services: jobs.Services, stopping: asyncio.Event, notifier: Notifier, runtime: Runtime
) -> int:
    """Consume to the end, or as long after `stopping` as the grace lasts."""
    settings = runtime.gateway.settings
    grace = settings.server.timeouts.grace
    work = asyncio.ensure_future(
        queue.consume(partial(_handle, runtime, services), settings.jobs.concurrency, stopping)
    )
    stop = asyncio.ensure_future(stopping.wait())
    await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if not work.done():
        notifier.stopping(grace + 5.0)
        runtime.observer.event("worker.draining", queue=services.queue, grace=grace)
        await asyncio.wait({work}, timeout=grace)
    if work.done():
        work.result()
        return OK
    work.cancel()
    await asyncio.wait({work})
    return CUT


async def _handle(runtime: Runtime, services: jobs.Services, delivery: Delivery) -> Handled:
    """Run a job, unless its method was turned off meanwhile."""
    runtime.switches.settle()
    return await jobs.handle(services, delivery)


def _groups(gateway: Gateway) -> dict[str, jobs.Served]:
    """Each group that a route of kind rpc serves, with the tokens that this route asks for."""
    return {
        route.endpoint.group: jobs.Served(
            route.policy.tokens.get("POST"),
            route.endpoint.negotiate,
            *((resource.authority, resource.scopes) if (resource := route.policy.resource) is not None else ()),
        )
        for route in gateway.rpc
    }


def _stop(stopping: asyncio.Event) -> None:
    if stopping.is_set():
        os._exit(KILLED)
    stopping.set()


def _end() -> None:
    """Threads are stuck beyond repair: drain, end, and be started again."""
    signal.raise_signal(signal.SIGTERM)
