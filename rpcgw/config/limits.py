"""Rates, and what else keeps requests within bounds. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from rpcgw.api.problems import Problem
from rpcgw.api.rates import Rate
from rpcgw.config.document import Document
from rpcgw.config.settings import Allowed, Breaker, Concurrency, LimitSettings, PoolSettings
from rpcgw.config.wording import choices, meant, quoted

UNLIMITED = "unlimited"
_RATE = re.compile(r"(?P<amount>[0-9]+)/(?P<many>[0-9]*) ?(?P<unit>second|minute|hour|day)s?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def rate_of(text: str) -> Rate:
    """`100/minute` or `5/10 seconds` as a rate; the schema sees to the form."""
    match = _RATE.fullmatch(text)
    assert match is not None, "the schema has looked at it"
    return Rate(int(match["amount"]), int(match["many"] or 1) * _SECONDS[match["unit"]])


def allowed(given: Mapping[str, str]) -> Allowed:
    """What one `limits` section says."""
    return Allowed(**{name: rate_of(text) for name, text in given.items()})


def concurrency(given: Mapping[str, Any]) -> Concurrency:
    """`methods.<name>.concurrency`."""
    return Concurrency(**given)


def breaker(given: Mapping[str, Any]) -> Breaker:
    """`methods.<name>.breaker`."""
    return Breaker(**given)


def failed_attempts(document: Document) -> Rate | None:
    """`server.failed_attempts`; None for no limit."""
    given: str = document.get("server", "failed_attempts", default="30/minute")
    return None if given == UNLIMITED else rate_of(given)


def trusted_proxies(document: Document) -> tuple[tuple[str, ...], list[Problem]]:
    """`server.trusted_proxies`, and those that are no addresses."""
    path = ("server", "trusted_proxies")
    given: list[str] = document.get(*path, default=[])
    problems: list[Problem] = []
    for at, written in enumerate(given):
        try:
            _ = written == "unix" or ip_network(written)
        except ValueError as error:
            text = f'"server.trusted_proxies[{at}]": {written} is no address and no network: {error}.'
            problems.append(document.problem((*path, at), "bad-value", text, "write 10.0.0.5 or 10.0.0.0/8"))
    return tuple(given), problems


def build_limits(document: Document, pools: Mapping[str, PoolSettings]) -> tuple[LimitSettings, list[Problem]]:
    """`limits`, and a pool that is none or is not Redis."""
    given = LimitSettings(**document.get("limits", default={}))
    if given.pool is None:
        return given, []
    path = ("limits", "pool")
    if given.pool not in pools:
        text = f"There is no pool {quoted(given.pool)}. The pools are {choices(pools)}."
        return given, [document.problem(path, "unknown-pool", text, meant(given.pool, pools))]
    if not pools[given.pool].url.startswith("redis://"):
        text = f"Rates are counted over hosts in Redis, and the pool {quoted(given.pool)} is none."
        hint = "name a pool whose URL is redis://...; leave it out to count on this host"
        return given, [document.problem(path, "bad-value", text, hint)]
    return given, []
