"""What the endpoints of sites are given in a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from rpcgw.access.admit import admitter, refuser
from rpcgw.adapters.stores.ledger import Ledger
from rpcgw.adapters.stores.usage import UsageLog
from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings
from rpcgw.daemon.rates import Limits
from rpcgw.daemon.runtime import Runtime
from rpcgw.daemon.secrets import kept_secret
from rpcgw.endpoints import beacons, page_calls, site_files, site_selftest, webmcp
from rpcgw.endpoints import usage as dashboard
from rpcgw.endpoints.console import Pages
from rpcgw.exchange import Entrance, Head, Verdict
from rpcgw.gateway.model import Gateway, SiteServed
from rpcgw.kernel.ports import Clock, Observer
from rpcgw.protocol.webmcp import calls
from rpcgw.protocol.webmcp.statistics import A_DAY
from rpcgw.texts.script import words

KEPT: Final = "webmcp.key"
"""Where in `state_dir` the secret lies; without it pages have to be loaded again before they can call."""
USAGE: Final = "usage.db"
"""Where in `state_dir` the usage log lies, unless a DSN says otherwise."""
SCRIPT: Final = "webmcp.js"


@asynccontextmanager
async def open_usage(gateway: Gateway, clock: Clock, observer: Observer) -> AsyncIterator[UsageLog | None]:
    """The usage log, written to until the end; None where nothing is counted."""
    usage = gateway.settings.webmcp.usage
    if not gateway.sites or not usage.enabled:
        yield None
        return
    opened = (_ledger(gateway.settings), _ledger(gateway.settings))
    log = UsageLog(*opened, clock, observer, keep=usage.retention_days * A_DAY)
    log.start()
    try:
        yield log
    finally:
        await log.close()


def _ledger(settings: Settings) -> Ledger:
    dsn = settings.webmcp.usage.dsn
    if dsn is not None and not dsn.startswith("sqlite:"):
        from rpcgw.adapters.stores.postgres import open_database  # noqa: PLC0415 -- imported where it is configured

        return open_database(dsn)
    from rpcgw.adapters.stores.sqlite import open_file  # noqa: PLC0415 -- as above

    return open_file(str(Path(settings.state_dir, USAGE if dsn is None else dsn.removeprefix("sqlite:"))))


def site_entrances(runtime: Runtime, made: Pages, limits: Limits, usage: UsageLog | None) -> list[Entrance]:
    """Every path of every site, within the limits of the groups that pages call.

    Raises:
        ConfigError: No secret is configured, and none can be kept.
    """
    gateway = runtime.gateway
    if not gateway.sites:
        return []
    secret = _secret(gateway.settings)
    found: list[Entrance] = []
    for served in gateway.sites:
        for_pages = webmcp.Services(
            clock=runtime.clock,
            observer=runtime.observer,
            processors=runtime.processors,
            secret=secret,
            messages=words,
            script=made.assets[SCRIPT],
            switches=runtime.switches,
        )
        found += webmcp.entrances(served, for_pages)
        found += site_files.entrances(served, made, runtime.clock, runtime.observer)
        if gateway.settings.environment == site_selftest.ENVIRONMENT:
            found.append(site_selftest.entrance(served, site_selftest.Made(made, for_pages)))
        found.append(_calls(served, runtime, limits, secret))
        if usage is not None:
            found.append(_beacons(served, runtime, usage, secret))
            found.append(dashboard.entrance(served, _dashboard(runtime, made, usage)))
    return [limits.around(entrance) for entrance in found]


def _calls(served: SiteServed, runtime: Runtime, limits: Limits, secret: bytes) -> Entrance:
    refuse = refuser(runtime.observer, calls.refused)
    services = page_calls.Services(runtime.executor, runtime.ids, runtime.clock, runtime.observer, secret, {})
    entrance = page_calls.entrance(served, services)

    def caller(group: str) -> Callable[[Head], Verdict]:
        """Who may call a group: its token, where it has one, and its rates, as on any other way to it."""
        admit = admitter(served.callers[group], runtime.clock, refuse)
        return limits.around(replace(entrance, admit=admit), group).admit

    return page_calls.entrance(served, replace(services, callers={group: caller(group) for group in served.callers}))


def _beacons(served: SiteServed, runtime: Runtime, usage: UsageLog, secret: bytes) -> Entrance:
    settings = runtime.gateway.settings.webmcp.usage
    services = beacons.Services(
        log=usage,
        rates=runtime.rates,
        clock=runtime.clock,
        observer=runtime.observer,
        secret=secret,
        agents=settings.clients,
        rate=settings.rate_limit,
        ceiling=settings.ceiling,
        respect_signals=settings.respect_signals,
    )
    return beacons.entrance(served, services)


def _dashboard(runtime: Runtime, made: Pages, usage: UsageLog) -> dashboard.Services:
    locale = runtime.gateway.settings.translations.default_locale
    return dashboard.Services(usage, made, runtime.clock, runtime.observer, locale)


def _secret(settings: Settings) -> bytes:
    if settings.webmcp.secret is not None:
        return settings.webmcp.secret.encode()
    try:
        return kept_secret(Path(settings.state_dir, KEPT))
    except OSError as error:
        place = settings.places.get("state_dir", Place(settings.source))
        text = f"no secret can be kept in the state directory {settings.state_dir}: {error.strerror}"
        hint = "give webmcp.secret, or a state_dir that this user may write to"
        raise ConfigError([Problem(place, "state-dir", text, hint)]) from error
