"""What the daemon runs: the protocol between its processes and `rpcgw.daemon.wiring`.

The template calls `compile_generation` once, before any fork: single-threaded, no event loop, nothing opened. What it
returns is all that the generation's workers ever see. Each worker enters `running` after its fork.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rpcgw.adapters.http.bounds import Bounds
from rpcgw.adapters.http.connections import Report
from rpcgw.adapters.http.health import Part, Parts, Scrape
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.daemon.options import Needs, Options
from rpcgw.exchange import Entrance, Traffic, untold

_BOUNDS = Bounds()


def nothing(*_: object) -> None:
    """A hook without effect."""


@record(frozen=True, slots=True)
class Slot:
    """Which worker this is: `number` counts from 0; `addresses` are what its sockets are bound to, real ports.

    `announce` has all workers of the daemon look what is switched off.
    """

    generation: int
    number: int
    workers: int
    addresses: tuple[str, ...]
    announce: Callable[[], None] = nothing


async def no_parts() -> Sequence[Part]:
    """Readiness that depends on nothing."""
    return ()


@record(frozen=True, slots=True)
class Running:
    """A worker's gateway, open for calls.

    `traffic` is told of each answer. `draining` is called when the worker begins to drain (end streams with their
    closing answer), with what the tools of those are that serve from now on, if anybody does; `switched` when methods
    may have been turned on or off; `reopen` when log files were moved away; `reloaded` once the worker is ready and
    after each reload: whether the last one succeeded, and since when the generation serves that does (seconds since the
    epoch). `bounds` and `tls` are the door's.
    """

    entrances: Sequence[Entrance]
    report: Report
    parts: Parts = no_parts
    traffic: Traffic = untold
    scrape: Scrape | None = None
    draining: Callable[[Mapping[str, str] | None], None] = nothing
    switched: Callable[[], None] = nothing
    reopen: Callable[[], None] = nothing
    reloaded: Callable[[bool, float], None] = nothing
    bounds: Bounds = _BOUNDS
    tls: ssl.SSLContext | None = None


class Compiled(Protocol):
    """One generation, compiled; read-only from here on."""

    @property
    def needs(self) -> Needs:
        """What the supervisor must know."""

    @property
    def warnings(self) -> Sequence[Problem]:
        """What a person should mend some day; printed once."""

    def running(self, slot: Slot) -> AbstractAsyncContextManager[Running]:
        """Open pools and plugin lifespans in a worker; close them at the end.

        Raises:
            ConfigError: what cannot be opened is the operator's to mend.
            Exception: anything else that keeps the worker from serving; its text is logged.
        """


class Wiring(Protocol):
    """A module that compiles."""

    def compile_generation(self, options: Options) -> Compiled | Sequence[Problem]:
        """A generation, or every problem that keeps it from serving (at least one is an error)."""


__all__ = ["Compiled", "Part", "Parts", "Report", "Running", "Scrape", "Slot", "Wiring", "no_parts", "nothing"]
