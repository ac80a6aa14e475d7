"""Who counts rates in a process of the daemon, and what of a gateway is limited."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from rpcgw.access.addresses import compile_proxies
from rpcgw.access.admit import Refuse
from rpcgw.access.limits import allowances
from rpcgw.config.settings import Security
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


def preload(gateway: Gateway) -> None:
    """Import what `open_rates` will need, where all workers share it."""
    importlib.import_module(f"rpcgw.adapters.rates.{'redis' if gateway.settings.limits.pool else 'shared'}")


@asynccontextmanager
async def open_rates(gateway: Gateway, clock: Clock, observer: Observer) -> AsyncIterator[Rates]:
    """Count where the settings say."""
    settings = gateway.settings
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
        asks = gateway.settings.metrics.token_sha256 is not None or any(
            security.protected_api or security.protected_doc for security in self._asked()
        )
        if rates is not None and server.failed_attempts is not None and asks:
            self._attempts = Attempts(server.failed_attempts, rates, clock)

    def _asked(self) -> Iterable[Security]:
        """What each group that is served asks of its callers."""
        return (self._settings.security_of(route.group) for route in self._settings.routes)

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
