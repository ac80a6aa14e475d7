"""What discovery finds, before and after the import. Pure values."""

from __future__ import annotations

from typing import Literal

from rpcgw.api.plugin import Plugin
from rpcgw.api.problems import Place
from rpcgw.api.records import record

ENTRY_POINT_GROUP = "rpcgw.plugins"

Origin = Literal["venv", "installed", "source", "file"]
"""The venv, a package installed into the plugins directory, a source tree in it, a single file in it."""


@record(frozen=True, slots=True)
class Candidate:
    """A plugin that could be loaded.

    `name` is the entry point's (or the file's stem), and what `plugins.config.<name>` addresses. `target` is
    `module:attribute`. `root` is the directory to import from, empty for the venv.
    """

    name: str
    target: str
    distribution: str
    version: str
    origin: Origin
    location: str
    root: str = ""

    @property
    def module(self) -> str:
        """The module that holds the plugin."""
        return self.target.partition(":")[0]


@record(frozen=True, slots=True)
class LoadedPlugin:
    """A plugin that was imported. `catalogues` is the absolute directory of its own texts, or empty."""

    candidate: Candidate
    plugin: Plugin
    catalogues: str = ""

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.candidate.name


@record(frozen=True, slots=True)
class Quarantined:
    """A plugin that cannot be used: everything else serves without it. `failed_at` is the line at fault."""

    candidate: Candidate
    reason: str
    traceback: str = ""
    failed_at: Place | None = None

    @property
    def place(self) -> Place:
        """Where to look: the line at fault if one is, else where the plugin lies."""
        return self.failed_at or Place(self.candidate.location)

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.candidate.name


@record(frozen=True, slots=True)
class Discovered:
    """The candidates in a stable order, and notes for the log (a plugin found twice)."""

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
