"""What the operator tunes of a method's calls. Pure values that the gateway fills from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rpcgw.api.rates import Rate
from rpcgw.api.records import record


class Crowd(NamedTuple):
    """How many calls of a method run at a time in a worker, and how many may wait."""

    most: int
    queue: int = 0


class Breaking(NamedTuple):
    """After how many failures in a row a method is left in peace, for how many seconds, and what ends it."""

    failures: int
    pause: float = 30.0
    probes: int = 1


@record(frozen=True, slots=True)
class Tuning:
    """One method's calls in one group: `deadline` and `cache_ttl` in seconds, None where nothing is said.

    `cache_ttl` replaces the ttl of `@rpc.cache`, and 0 switches the cache off. `refuse_unknown` makes an unknown
    parameter an error instead of dropping it. `rate` is how often the method may be called in the group.
    """

    deadline: float | None = None
    refuse_unknown: bool = False
    cache_ttl: float | None = None
    rate: Rate | None = None
    concurrency: Crowd | None = None
    breaker: Breaking | None = None


Tunings = Mapping[tuple[str, str], Tuning]
"""By group and method; what is absent is not tuned."""

UNTUNED = Tuning()
