"""What the operator tunes of a method's calls. Pure values that the gateway fills from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """One method's calls in one group: `deadline` and `cache_ttl` in seconds, None where nothing is said.

    `cache_ttl` replaces the ttl of `@rpc.cache`, and 0 switches the cache off. `refuse_unknown` makes an unknown
    parameter an error instead of dropping it.
    """

    deadline: float | None = None
    refuse_unknown: bool = False
    cache_ttl: float | None = None


Tunings = Mapping[tuple[str, str], Tuning]
"""By group and method; what is absent is not tuned."""

UNTUNED = Tuning()
