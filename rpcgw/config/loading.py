"""The loader: files -> settings, or every problem at once.

`load` does it in one process. A supervisor takes `read_sources` (rpcgw.config.gathering, which does not import
jsonschema) and hands the snapshot to the process that compiles it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Problem, errors
from rpcgw.api.records import record
from rpcgw.config.assembling import Chosen
from rpcgw.config.building import Surroundings, build_settings
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.config.gathering import gather, read_sources
from rpcgw.config.parsing import read
from rpcgw.config.routes import no_routes
from rpcgw.config.settings import Settings
from rpcgw.config.sources import Sources
from rpcgw.config.validation import validate


@record(frozen=True, slots=True)
class Attempt:
    """What files say, as far as it can be told: `settings` is None where the gateway file cannot be read at all."""

    settings: Settings | None
    catalogues: tuple[CatalogueFile, ...]
    problems: tuple[Problem, ...]

    def loaded(self) -> Loaded:
        """The configuration, if it can be served.

        Raises:
            ConfigError: with every problem, warnings included, if one of them is an error.
        """
        if self.settings is None or errors(list(self.problems)):
            raise ConfigError(self.problems)
        return Loaded(self.settings, self.catalogues, tuple(sorted(self.problems)))


@record(frozen=True, slots=True)
class Loaded:
    """A configuration that can be served; `warnings` are problems that do not keep it from that."""

    settings: Settings
    catalogues: tuple[CatalogueFile, ...]
    warnings: tuple[Problem, ...]


def load(path: str, *, environment: str | None = None, env: Mapping[str, str], dev: bool = False) -> Loaded:
    """Read and compile a configuration.

    Args:
        path: The gateway file, as the user names it.
        environment: What `--env` says; it goes before `dev`, `RPCGW_ENV` and the file.
        env: The environment's variables.
        dev: Whether this is `--dev`: the environment is `dev`, log lines are for people.

    Raises:
        ConfigError: with every problem, warnings included, if one of them is an error.
    """
    return attempt(path, environment=environment, env=env, dev=dev).loaded()


def attempt(path: str, *, environment: str | None = None, env: Mapping[str, str], dev: bool = False) -> Attempt:
    """The same for whoever has more to say of it than what is wrong; arguments are those of `load`. Never raises."""
    sources = read_sources(path, env=env, chosen=Chosen(environment, dev))
    attempted = _attempt(sources, environment=environment, env=env, dev=dev)
    read.cache_clear()
    return attempted


def compile_settings(
    sources: Sources, *, environment: str | None = None, env: Mapping[str, str], dev: bool = False
) -> Loaded:
    """Compile a snapshot; reads no disk. Arguments and errors are those of `load`."""
    return _attempt(sources, environment=environment, env=env, dev=dev).loaded()


def _attempt(sources: Sources, *, environment: str | None, env: Mapping[str, str], dev: bool) -> Attempt:
    gathered = gather(sources, sources.root, env, Chosen(environment, dev))
    if gathered.gateway.node is None and gathered.gateway.problems:
        return Attempt(None, (), tuple(gathered.gateway.problems))
    gateway, wrong_gateway = validate(gathered.gateway.node, gathered.gateway.file, "gateway")
    routes, wrong_routes = validate(gathered.routes.node, gathered.routes.file, "routes")
    if not (gathered.routes.problems or wrong_routes):
        wrong_routes = no_routes(routes)
    around = Surroundings(sources.base, env, environment, dev)
    settings, wrong_settings = build_settings(gateway, routes, around)
    problems = [*gathered.problems, *wrong_gateway, *wrong_routes, *wrong_settings]
    settings = replace(settings, sources=sources.paths())
    return Attempt(settings, gathered.catalogues, tuple(problems))
