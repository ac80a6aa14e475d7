"""Where ports meet adapters: a compiled gateway becomes what the daemon's processes run."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import field, replace
from functools import partial

from rpcgw.adapters.http.bounds import Bounds, most_connections
from rpcgw.adapters.pages.files import pages
from rpcgw.adapters.stores.usage import UsageLog
from rpcgw.adapters.telemetry.log import Log
from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.daemon.active import ActiveSessions
from rpcgw.daemon.authorities import NOBODY, Authorities, open_authorities
from rpcgw.daemon.certificates import load_tls
from rpcgw.daemon.compiled import Compiled, Running, Scrape, Slot
from rpcgw.daemon.compiling import compile_gateway
from rpcgw.daemon.jobs import open_deferral
from rpcgw.daemon.logs import log_in_form
from rpcgw.daemon.options import Needs, Options
from rpcgw.daemon.pages import open_usage, site_entrances
from rpcgw.daemon.rates import Limits, open_rates, preload
from rpcgw.daemon.readiness import Readiness
from rpcgw.daemon.revocations import REVOCATIONS, open_shared
from rpcgw.daemon.runtime import HOST_CLOCK, Runtime, open_runtime
from rpcgw.daemon.scraping import scrapers
from rpcgw.daemon.switched import SWITCHES, SwitchFile, Switching
from rpcgw.daemon.telemetry import WorkerTelemetry, metrics_directory, worker_telemetry
from rpcgw.daemon.tracers import preload_tracing
from rpcgw.daemon.watched import watched_in_development, watched_in_production
from rpcgw.endpoints import console, documents, mcp, plugin_pages, postman, protected_resource, rpc
from rpcgw.endpoints.cancellations import Cancellations, Marks
from rpcgw.endpoints.census import Census
from rpcgw.endpoints.deferred import Deferral
from rpcgw.endpoints.sessions import Sessions
from rpcgw.endpoints.subscribed import Subscriptions
from rpcgw.exchange import Entrance
from rpcgw.gateway.model import Gateway
from rpcgw.gateway.protection import laid_open
from rpcgw.gateway.toolsets import toolsets
from rpcgw.kernel.ports import News, Revocations

__all__ = ["Generation", "compile_generation", "entrances"]


def compile_generation(options: Options) -> Compiled | Sequence[Problem]:
    """One generation of workers, or every problem that keeps it from serving."""
    try:
        gateway = compile_gateway(options, log_in_form)
    except ConfigError as error:
        return error.problems
    preload_tracing(gateway.settings.tracing)
    lost = _lost_plugins(gateway, options)
    tls, wrong = load_tls(gateway.settings)
    preload(gateway)
    problems = [*lost, *laid_open(gateway.settings, options.bound), *wrong]
    return [*gateway.warnings, *problems] if problems else Generation(gateway, needs_of(gateway), tls)


def _lost_plugins(gateway: Gateway, options: Options) -> list[Problem]:
    """A plugin that serves now and can no longer be imported keeps a reload from happening."""
    served = set(options.serving)
    return [
        Problem(
            plugin.place,
            "plugin-import",
            f"plugin {plugin.name!r} served and no longer loads: {plugin.reason}",
        )
        for plugin in gateway.plugins
        if plugin.state == "quarantined" and plugin.name in served
    ]


def needs_of(gateway: Gateway) -> Needs:
    """What the supervisor must know."""
    settings = gateway.settings
    server, timeouts = settings.server, settings.server.timeouts
    scraped = (settings.metrics.bind or "") if settings.metrics.enabled else ""
    return Needs(
        bind=server.bind,
        workers=server.workers,
        keep_alive=timeouts.keep_alive,
        reload=timeouts.reload,
        grace=timeouts.grace,
        pre_stop=timeouts.pre_stop,
        fast_front=settings.http.fast_front,
        log_format=settings.logging.format,
        state_dir=settings.state_dir,
        metrics_dir=metrics_directory(gateway),
        metrics_bind=scraped,
        watched=watched_in_development(gateway),
        sources=watched_in_production(gateway),
        plugins=tuple(plugin.name for plugin in gateway.running),
        tools=toolsets(gateway.mcp, gateway.wording),
        fixed={"server.bind": ", ".join(server.bind), "metrics.bind": scraped},
    )


@record(frozen=True, slots=True)
class Generation:
    """A compiled gateway, as the daemon's processes see it."""

    gateway: Gateway
    needs: Needs
    tls: ssl.SSLContext | None = None

    @property
    def warnings(self) -> Sequence[Problem]:
        """What a person should mend some day."""
        return self.gateway.warnings

    @asynccontextmanager
    async def running(self, slot: Slot) -> AsyncIterator[Running]:
        """Open the gateway in a worker.

        Raises:
            ConfigError: Something cannot be opened that the operator or a plugin's author has to mend.
        """
        gateway = self.gateway
        with (
            closing(open_shared(gateway.settings, REVOCATIONS)) as revocations,
            closing(open_shared(gateway.settings, SWITCHES)) as switched,
            worker_telemetry(gateway, slot) as told,
        ):
            switching = Switching(SwitchFile(gateway.settings.state_dir), switched, slot.announce)
            _log_plugins(gateway, slot, told.logs.main)
            async with (
                open_rates(gateway, HOST_CLOCK, told.observer) as rates,
                open_runtime(
                    gateway,
                    told.observer,
                    exhausted=_end_worker,
                    tracer=told.tracer,
                    rates=rates,
                    switching=switching,
                ) as runtime,
                open_deferral(runtime) as deferral,
                open_usage(gateway, runtime.clock, told.observer) as usage,
                open_authorities(runtime) as authorities,
                open_news(runtime) as news,
            ):
                readiness = Readiness(gateway, slot.generation, runtime.pools, runtime.clock)
                subscriptions = Subscriptions(self.needs.tools)
                for group in {route.endpoint.group for route in gateway.mcp}:
                    runtime.switches.follow(group, partial(_told, subscriptions, group))
                equipment = Equipment(deferral, usage, authorities, subscriptions, news)
                yield Running(
                    entrances=entrances(runtime, revocations, equipment),
                    report=told.observer.event,
                    parts=readiness.parts,
                    traffic=told.traffic,
                    scrape=_active_sessions(runtime).beside(_guarded(told.scrape, runtime)),
                    draining=subscriptions.end,
                    switched=runtime.switches.settle,
                    reopen=told.logs.reopen,
                    reloaded=partial(_reloaded, told, readiness),
                    bounds=_bounds(gateway),
                    tls=self.tls,
                )


@asynccontextmanager
async def open_news(runtime: Runtime) -> AsyncIterator[News | None]:
    """What other hosts say of sessions, until the end of the block; None where there are no sessions, or no others."""
    news = runtime.pool.news() if runtime.gateway.mcp else None
    if news is None:
        yield None
        return
    listening = asyncio.create_task(news.run())
    try:
        yield news
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


def _told(subscriptions: Subscriptions, group: str, _: frozenset[str]) -> None:
    subscriptions.changed(group)


def _guarded(scrape: Scrape | None, runtime: Runtime) -> Scrape | None:
    """Metrics, for those who may read them."""
    if scrape is None:
        return None
    limits = Limits(runtime.gateway, runtime.clock, runtime.rates)
    admit = scrapers(runtime.gateway.settings.metrics, limits, runtime.clock, runtime.observer)
    return replace(scrape, admit=admit)


def _active_sessions(runtime: Runtime) -> ActiveSessions:
    groups = {route.endpoint.group for route in runtime.gateway.mcp}
    return ActiveSessions(Census(runtime.pool, runtime.clock, runtime.observer), groups, runtime.clock)


def _bounds(gateway: Gateway) -> Bounds:
    server = gateway.settings.server
    timeouts, possible = server.timeouts, most_connections()
    most = possible if server.max_connections is None else min(server.max_connections, possible)
    return Bounds(timeouts.keep_alive, timeouts.head, timeouts.body, most)


def _log_plugins(gateway: Gateway, slot: Slot, log: Log) -> None:
    """Once a generation: which plugin is out, and where it failed, and which was found twice."""
    if slot.number > 0:
        return
    for note in gateway.notes:
        log.write("plugin.twice", "info", text=note)
    for plugin in gateway.plugins:
        if plugin.state == "quarantined":
            fields = {"plugin": plugin.name, "location": plugin.location, "reason": plugin.reason}
            log.write("plugin.quarantined", "error", **fields, exception=plugin.traceback)


def _reloaded(told: WorkerTelemetry, readiness: Readiness, success: bool, at: float) -> None:  # noqa: FBT001 -- a hook
    told.reloaded(success, at)
    readiness.reloaded(success)


def _end_worker() -> None:
    """Threads are stuck beyond repair: have this worker replaced, and serve what can be served until then."""
    signal.raise_signal(signal.SIGTERM)


@record(frozen=True, slots=True)
class Equipment:
    """What stands beside the executor in a worker, and may be absent.

    Without `deferral`, calls with a callback are refused; without `usage` there is no path for beacons. `authorities`
    say whose access tokens are; without them such tokens are refused. `subscriptions` are the open streams, `news`
    what other hosts say that share the pool of sessions.
    """

    deferral: Deferral | None = None
    usage: UsageLog | None = None
    authorities: Authorities = NOBODY
    subscriptions: Subscriptions = field(default_factory=Subscriptions)
    news: News | None = None


def entrances(runtime: Runtime, revocations: Revocations, equipment: Equipment) -> list[Entrance]:
    """Every path of every endpoint."""
    gateway, tracer = equipment.authorities.bound(runtime.gateway), runtime.tracer
    sessions = Sessions(runtime.pool, runtime.clock, runtime.ids, runtime.observer, revocations, news=equipment.news)
    for_rpc = rpc.Services(
        runtime.executor,
        runtime.ids,
        runtime.clock,
        runtime.observer,
        deferral=equipment.deferral,
        tracer=tracer,
        switches=runtime.switches,
    )
    cancellations = Cancellations(Marks(runtime.pool, runtime.observer))
    made = pages()
    for_mcp = mcp.Services(
        runtime.executor,
        sessions,
        runtime.ids,
        runtime.clock,
        runtime.observer,
        cancellations,
        equipment.subscriptions,
        tracer,
        switches=runtime.switches,
    )
    limits = Limits(gateway, runtime.clock, runtime.rates)
    found = [
        limits.around(entrance, route.endpoint.group)
        for route in gateway.rpc
        for entrance in (
            *rpc.entrances(route.endpoint, route.policy, for_rpc),
            *postman.entrances(route.endpoint, route.readers, runtime.clock, runtime.observer, runtime.switches),
        )
    ]
    found += [
        limits.around(entrance, route.endpoint.group)
        for route in gateway.mcp
        for entrance in (
            *mcp.entrances(route.endpoint, route.policy, for_mcp),
            *documents.entrances(route.publication, route.readers, runtime.clock, runtime.observer),
        )
    ]
    of_no_group = [
        *protected_resource.entrances(gateway, runtime.clock, runtime.observer),
        *console.entrances(gateway, made, runtime.clock, runtime.observer, runtime.switches),
        *plugin_pages.entrances(gateway.pages, runtime.clock, runtime.observer),
    ]
    of_sites = site_entrances(replace(runtime, gateway=gateway), made, limits, equipment.usage)
    return [*found, *map(limits.around, of_no_group), *of_sites]
