"""What supervisor, template and workers tell each other about a generation. Pure values; standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any

from rpcgw.api.records import record


def _with_tuples(message: dict[str, Any]) -> dict[str, Any]:
    """JSON has no tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in message.items()}


@record(frozen=True, slots=True)
class Options:
    """What the person who starts the daemon says; each of it beats the file.

    `config` is the path of gateway.yaml. `wiring` names the module that compiles (`rpcgw.daemon.compiled.Wiring`).
    `generation` counts from 1, `serving` names the plugins of the generation that serves now and `bound` the addresses
    that it serves (both empty at the start): a reload that would lose one of the plugins, or lay an address open, is
    refused. The supervisor fills all three.
    """

    config: str
    environment: str | None = None
    bind: tuple[str, ...] = ()
    workers: int | None = None
    dev: bool = False
    wiring: str = "rpcgw.daemon.wiring"
    generation: int = 1
    serving: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()

    def following(self, generation: int, serving: tuple[str, ...], bound: tuple[str, ...] = ()) -> Options:
        """The same for a later generation."""
        return replace(self, generation=generation, serving=serving, bound=bound)

    def to_message(self) -> dict[str, Any]:
        """A form for the control socket."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Options:
        """Back from the control socket."""
        return cls(**_with_tuples(message))


@record(frozen=True, slots=True)
class Needs:
    """What a compiled generation needs of its supervisor: settings, resolved; times in seconds.

    `keep_alive`, `reload`, `grace`, `pre_stop` are `server.timeouts`. `boot` is how long workers may take to become
    ready, `blocked` how long a worker's loop may stand still before the worker is ended. `plugins` names those that
    serve. `metrics_dir` is where the workers' slot files lie (empty: there are none), and `watched` the files and
    directories that `--dev` watches (empty: the configuration's directory); `sources` those, and patterns, that
    `server.watch` watches (empty: it does not). `fixed` holds, by name and as
    text, the settings that a reload cannot change. `metrics_bind` is where metrics are scraped, if not where everything
    else is served. `fast_front` is `http.fast_front`, and `tools` tells by endpoint what its tools are, as a
    text that is compared.
    """

    bind: tuple[str, ...]
    workers: int = 1
    keep_alive: float = 75.0
    reload: float = 90.0
    grace: float = 20.0
    pre_stop: float = 0.0
    boot: float = 60.0
    blocked: float = 30.0
    log_format: str = "json"
    state_dir: str = ""
    metrics_dir: str = ""
    plugins: tuple[str, ...] = ()
    fast_front: bool = True
    watched: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    metrics_bind: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """How many workers there may be at once: each may have a replacement beside it while it drains."""
        return 2 * self.workers

    def to_message(self) -> dict[str, Any]:
        """A form for the control socket."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Needs:
        """Back from the control socket."""
        return cls(**_with_tuples(message))
