"""A plugin and a few settings -> a compiled gateway that serves all of its groups over rpc and MCP."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import msgspec

from rpcgw.api.errors import ConfigError
from rpcgw.api.plugin import Plugin
from rpcgw.api.problems import errors
from rpcgw.config.catalogues import CatalogueFile, read_directory
from rpcgw.config.loading import compile_settings
from rpcgw.config.sources import Sources
from rpcgw.discovery.found import ENTRY_POINT_GROUP, Candidate, LoadedPlugin, Quarantined
from rpcgw.discovery.load import load
from rpcgw.gateway.compile import compile_gateway
from rpcgw.gateway.model import Gateway
from rpcgw.gateway.plugins import Imported
from rpcgw.kernel.exposure import Registration, expose

Brought = Plugin | ModuleType | str
"""A plugin: its value, the module that holds it, or that module's name (`module` or `module:attribute`)."""

_GATEWAY, _ROUTES = "gateway.yaml", "routes.yaml"


def compile_plugin(
    brought: Brought,
    *,
    name: str | None,
    config: Mapping[str, Any] | None,
    settings: Mapping[str, Any],
    environment: str,
    state_dir: str,
) -> Gateway:
    """The gateway of one plugin; arguments and errors are those of `rpcgw.testing.open_gateway`."""
    plugin = loaded(brought, name)
    own: dict[str, Any] = {
        "state_dir": state_dir,
        "plugins": {"config": {} if config is None else {plugin.name: config}},
        "pools": {"default": "memory:"},
        "ufo_json_rpc": {"security": {"protected_api": False}},
        "logging": {"level": "debug", "format": "json"},
    }
    files = {_GATEWAY: _text(merged(own, settings)), _ROUTES: _text(_routes(plugin.plugin, settings))}
    sources = Sources(_GATEWAY, state_dir, files)
    found = compile_settings(sources, environment=environment, env={})
    return compile_gateway(found, Imported((plugin,)), [_catalogues(plugin)])


def merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one, key by key at any depth; `upper` wins."""
    made = dict(lower)
    for key, value in upper.items():
        known = made.get(key)
        made[key] = merged(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return made


def loaded(brought: Brought, name: str | None) -> LoadedPlugin:
    """A plugin as discovery would find it.

    Raises:
        AssertionError: It would be quarantined.
    """
    target = _target(brought) if isinstance(brought, Plugin) else _module_name(brought)
    if target is None:
        assert isinstance(brought, Plugin), "modules have names"
        return LoadedPlugin(_candidate(name or "plugin", ""), brought, _absolute_texts(brought))
    found = load(_candidate(name or _entry_point(target) or target.partition(":")[0].partition(".")[0], target))
    if isinstance(found, Quarantined):
        raise AssertionError(  # noqa: TRY004 -- a test's plugin fails the test
            f"the plugin cannot be used: {found.reason}\n{found.traceback}"
        )
    return found


def _candidate(name: str, target: str) -> Candidate:
    # As a single file, so that a module need not say `plugin = ...`.
    return Candidate(name=name, target=target, distribution=name, version="", origin="file", location=target)


def _module_name(brought: ModuleType | str) -> str:
    return brought if isinstance(brought, str) else brought.__name__


def _target(plugin: Plugin) -> str | None:
    """Where a plugin's value stands: in the module of something that it brings, or in a package above that."""
    for module in _modules(plugin):
        for attribute, value in vars(module).items():
            if value is plugin:
                return f"{module.__name__}:{attribute}"
    return None


def _modules(plugin: Plugin) -> Iterator[ModuleType]:
    brought = (*plugin.procedures, *plugin.listeners, *plugin.converters, *plugin.page_tools, *plugin.page_data)
    parts = (*brought, plugin.lifespan)
    for name in dict.fromkeys(getattr(part, "__module__", "") for part in parts):
        pieces = name.split(".")
        for end in range(len(pieces), 0, -1):
            module = sys.modules.get(".".join(pieces[:end]))
            if module is not None:
                yield module


def _absolute_texts(plugin: Plugin) -> str:
    if plugin.translations is None or plugin.translations.startswith("/"):
        return plugin.translations or ""
    raise AssertionError(
        "where the plugin's texts lie is not known: give the module that holds the plugin, or its name"
    )


def _entry_point(target: str) -> str | None:
    """What the installed package calls the plugin."""
    module = target.partition(":")[0]
    return next((point.name for point in entry_points(group=ENTRY_POINT_GROUP) if point.module == module), None)


def _routes(plugin: Plugin, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every group of the plugin over both protocols, `/rpc/<group>` and `/mcp/<group>`.

    Where it has tools of web pages, or the settings say something of them, their site stands at `/webmcp`.
    """
    has_pages = plugin.page_tools or "webmcp" in settings
    pages = {"pages": {"resource": "webmcp", "prefix": "/webmcp"}} if has_pages else {}
    return pages | {
        f"{kind}_{group}": {"resource": kind, "prefix": f"/{kind}/{group}", "defaults": {"api_group": group}}
        for group in sorted(set(_groups(plugin)))
        for kind in ("rpc", "mcp")
    }


def _groups(plugin: Plugin) -> Iterator[str]:
    for procedure in plugin.procedures:
        exposure, _ = expose(Registration(procedure))
        if exposure is not None:
            yield from exposure.groups
            for method in exposure.methods:
                yield from method.groups


def _catalogues(plugin: LoadedPlugin) -> list[CatalogueFile]:
    if not plugin.catalogues:
        return []
    files, problems = read_directory(plugin.catalogues)
    if errors(problems):
        raise ConfigError(problems)
    return files


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
