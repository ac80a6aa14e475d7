"""Who counts rates in a process of the daemon, and what of a gateway is limited."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from rpcgw.access.addresses import compile_proxies
from rpcgw.access.admit import Refuse
from rpcgw.access.limits import allowances
from rpcgw.config.settings import Allowed, Settings
from rpcgw.endpoints.limited import Admit, Attempts, behind, rated, seen_behind
from rpcgw.exchange import Entrance
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Clock, Limiter, Observer
from rpcgw.kernel.rates import Rates

COUNTS: Final = "run/limits"
"""Where in the state directory the workers of a host count together."""


class _Closing(Limiter, Protocol):
    async def close(self) -> None:
        """Give back what it holds."""


def counts(settings: Settings) -> bool:
    """Whether anything is counted at all: a rate, wrong tokens, what pages report."""
    limits = [calls.limits for calls in settings.calls.values()]
    limits += [own["limits"] for own in settings.methods.values() if "limits" in own]
    return any(each != Allowed() for each in limits) or _counts_attempts(settings) or bool(settings.site_routes)


def _counts_attempts(settings: Settings) -> bool:
    """Whether tokens are asked for, and wrong ones counted."""
    asked = (settings.security_of(route.group) for route in settings.routes)
    asks = settings.metrics.token_sha256 is not None or any(each.protected_api or each.protected_doc for each in asked)
    return asks and settings.server.failed_attempts is not None


def preload(gateway: Gateway) -> None:
    """Import what `open_rates` will need, where all workers share it."""
    if not counts(gateway.settings):
        return
    importlib.import_module(f"rpcgw.adapters.rates.{'redis' if gateway.settings.limits.pool else 'shared'}")


@asynccontextmanager
async def open_rates(gateway: Gateway, clock: Clock, observer: Observer) -> AsyncIterator[Rates | None]:
    """Count where the settings say; None where they have nothing counted."""
    settings = gateway.settings
    if not counts(settings):
        yield None
        return
    limiter = _limiter(gateway, clock, observer)
    try:
        yield Rates(limiter, observer, clock, open_when_away=settings.limits.when_away == "open")
    finally:
        await limiter.close()


def _limiter(gateway: Gateway, clock: Clock, observer: Observer) -> _Closing:
    settings = gateway.settings
    if settings.limits.pool is not None:
        from rpcgw.adapters.rates.redis import RedisLimiter  # noqa: PLC0415 -- imported where it is configured

        pool = settings.pools[settings.limits.pool]
        return RedisLimiter(pool.url, pool.timeout, pool.connections)
    from rpcgw.adapters.rates.shared import SharedLimiter  # noqa: PLC0415 -- stdio and commands limit nothing

    try:
        return SharedLimiter(Path(settings.state_dir, COUNTS), clock.now)
    except OSError as error:
        # A full disk must not keep a worker from serving: it counts alone until the next reload.
        reason = f"requests are counted by each worker alone, not in {settings.state_dir}/{COUNTS}: {error.strerror}"
        observer.event("limit.error", limit="all", reason=reason)
        return SharedLimiter(None, clock.now)


class Limits:
    """What is laid around a gateway's entrances: proxies, wrong tokens, rates. Without settings, nothing is."""

    def __init__(self, gateway: Gateway, clock: Clock, rates: Rates | None) -> None:
        server = gateway.settings.server
        self._settings = gateway.settings
        self._rates = rates
        self._proxies = compile_proxies(server.trusted_proxies)
        self._attempts = None
        if rates is not None and server.failed_attempts is not None and _counts_attempts(gateway.settings):
            self._attempts = Attempts(server.failed_attempts, rates, clock)

    def before(self, admit: Admit, refuse: Refuse) -> Admit:
        """Who is admitted to what is no entrance: an address that guesses tokens is not, for a while."""
        watched = admit if self._attempts is None else self._attempts.watching(admit, refuse)
        return (lambda head: watched(seen_behind(self._proxies, head))) if self._proxies else watched

    def around(self, entrance: Entrance, group: str | None = None) -> Entrance:
        """An entrance of a group within its limits, or one of no group."""
        if self._attempts is not None:
            entrance = self._attempts.watched(entrance)
        if group is not None and self._rates is not None:
            limits = self._settings.calls_of(group).limits
            counted = allowances(limits.address, limits.token, limits.group)
            entrance = rated(entrance, counted, self._rates, group)
        return behind(entrance, self._proxies)
