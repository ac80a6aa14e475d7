"""Configurations that live in memory: texts in, settings or the lines of problems out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent

import pytest

from rpcgw.api.errors import ConfigError
from rpcgw.config.loading import Loaded, compile_settings
from rpcgw.config.sources import Sources

ROUTES = "rpc: {resource: rpc, prefix: /rpc}\na: {resource: rpc, prefix: /a, defaults: {api_group: a}}\n"

Compile = Callable[..., Loaded]
Problems = Callable[..., list[str]]


@pytest.fixture
def compiled() -> Compile:
    """Compile a gateway file (and routes, and other files) that stand in /srv."""

    def compile_texts(
        gateway: str,
        routes: str = ROUTES,
        *,
        files: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        environment: str | None = None,
        dev: bool = False,
    ) -> Loaded:
        texts = {"gateway.yaml": dedent(gateway), "routes.yaml": dedent(routes), **(files or {})}
        folders: dict[str, list[str]] = {}
        for name in files or {}:
            folder, _, file = name.rpartition("/")
            folders.setdefault(folder, []).append(file)
        sources = Sources("gateway.yaml", "/srv", texts, folders)
        return compile_settings(sources, env=env or {}, environment=environment, dev=dev)

    return compile_texts


@pytest.fixture
def problems(compiled: Compile) -> Problems:
    """The lines that a person sees: problems where there are some, else warnings."""

    def lines(gateway: str, routes: str = ROUTES, **more: object) -> list[str]:
        try:
            return [str(warning) for warning in compiled(gateway, routes, **more).warnings]
        except ConfigError as error:
            return [str(problem) for problem in error.problems]

    return lines
