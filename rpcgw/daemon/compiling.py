"""From options to a gateway: reads the configuration, imports the plugins, compiles. Once in a process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Problem, errors
from rpcgw.config.catalogues import CatalogueFile, read_directory
from rpcgw.config.loading import Attempt, Loaded, attempt
from rpcgw.config.settings import Settings
from rpcgw.daemon import authorities, jobs
from rpcgw.daemon.options import Options
from rpcgw.discovery.discover import discover
from rpcgw.discovery.load import load_all
from rpcgw.gateway.compile import compile_gateway as compile_all
from rpcgw.gateway.model import Gateway
from rpcgw.gateway.plugins import Imported, quarantine_problems


def _nothing(_: Settings) -> None:
    """Nobody waits for the settings."""


def compile_gateway(options: Options, begin: Callable[[Settings], None] = _nothing) -> Gateway:
    """The gateway that these options describe; `begin` is called once they are read, before any plugin is imported.

    Raises:
        ConfigError: with every problem.
    """
    attempted = attempt(options.config, environment=options.environment, env=os.environ, dev=options.dev)
    if attempted.settings is not None and (wrong := _wrong_before_plugins(attempted, attempted.settings)):
        # What is wrong with plugins does not wait until the files are mended.
        imported = _imported(attempted.settings)
        raise ConfigError([*wrong, *quarantine_problems(imported, strict=attempted.settings.plugins.strict)])
    loaded = _with_options(attempted.loaded(), options)
    begin(loaded.settings)
    imported = _imported(loaded.settings)
    return compile_all(loaded, imported, _catalogues(imported))


def _wrong_before_plugins(attempted: Attempt, settings: Settings) -> list[Problem]:
    problems = [*attempted.problems, *jobs.missing_packages(settings), *authorities.missing_packages(settings)]
    return problems if errors(problems) else []


def _imported(settings: Settings) -> Imported:
    found = discover(settings.plugins.directory)
    plugins, quarantined = load_all(found.candidates)
    return Imported(tuple(plugins), tuple(quarantined), found.notes)


def _with_options(loaded: Loaded, options: Options) -> Loaded:
    """What the command line says beats the file."""
    server = loaded.settings.server
    server = replace(server, bind=options.bind or server.bind, workers=options.workers or server.workers)
    return replace(loaded, settings=replace(loaded.settings, server=server))


def _catalogues(imported: Imported) -> list[list[CatalogueFile]]:
    """Each plugin's own texts.

    Raises:
        ConfigError: A catalogue cannot be read as one.
    """
    layers: list[list[CatalogueFile]] = []
    problems = []
    for plugin in imported.loaded:
        if plugin.catalogues:
            files, wrong = read_directory(plugin.catalogues)
            layers.append(files)
            problems += wrong
    if errors(problems):
        raise ConfigError([*problems, *quarantine_problems(imported, strict=False)])
    return layers
