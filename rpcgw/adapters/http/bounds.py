"""How long a door waits, and for how many. Times are seconds."""

from __future__ import annotations

import resource
from typing import Final

from rpcgw.api.records import record

RESERVE: Final = 128
"""Descriptors that are left for files, pools and whatever plugins open."""
LONGEST_TARGET: Final = 8190
LONGEST_FIELD: Final = 8192
MOST_FIELDS: Final = 128
"""What a head may hold: bytes of the target, bytes of a field, fields. The first two differ to be told apart."""
_SENSIBLE: Final = 1 << 20
"""More connections than one process could ever serve: what an unlimited number of descriptors means."""


@record(frozen=True, slots=True)
class Bounds:
    """What a door allows: `keep_alive` for an idle connection, `head` and `body` for a request that is to come.

    `head` counts from a connection's start, or from a later head's first byte. `connections` is how many there are at
    most.
    """

    keep_alive: float = 75.0
    head: float = 10.0
    body: float = 30.0
    connections: int = _SENSIBLE


def most_connections() -> int:
    """How many connections this process may hold: its soft limit of descriptors is raised to the hard one first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return _SENSIBLE if hard == resource.RLIM_INFINITY else max(hard - RESERVE, 1)
