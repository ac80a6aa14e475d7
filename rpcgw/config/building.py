"""Validated documents -> settings: defaults, paths, what differs for a group. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.config.addresses import allowed_hosts, allowed_origins, bind_addresses, metrics_bind, public_url
from rpcgw.config.assembling import DEFAULT_ENVIRONMENT, Chosen
from rpcgw.config.document import Document
from rpcgw.config.jobs import build_jobs, build_transports
from rpcgw.config.limits import allowed, breaker, build_limits, concurrency, failed_attempts, trusted_proxies
from rpcgw.config.nodes import Path
from rpcgw.config.pages import build_webmcp
from rpcgw.config.pools import build_pools
from rpcgw.config.routes import CONSOLE_PATHS, OWN_PATHS, build_routes
from rpcgw.config.security import build_security, digest
from rpcgw.config.settings import (
    AccessLogSettings,
    CallSettings,
    Console,
    Cors,
    Docs,
    Errors,
    Http,
    Icon,
    Logging,
    McpSettings,
    Metrics,
    PluginSettings,
    Server,
    ServerInfo,
    Settings,
    Timeouts,
    Tls,
    TracingSettings,
    Translations,
    shortest,
)
from rpcgw.config.sources import absolute

_T = TypeVar("_T")


@record(frozen=True, slots=True)
class Surroundings:
    """What is no part of the files: `base` is what relative names are relative to."""

    base: str
    env: Mapping[str, str]
    environment: str | None
    dev: bool


def build_settings(gateway: Document, routes_file: Document, around: Surroundings) -> tuple[Settings, list[Problem]]:
    """The settings, and what the schemas could not see."""
    server, problems = _server(gateway, around)
    origins, wrong = allowed_origins(gateway)
    problems += wrong
    metrics, wrong = _metrics(gateway, around)
    problems += wrong
    console = Console(**gateway.get("console", default={}))
    routes, wrong = build_routes(routes_file, _own_paths(metrics, console))
    problems += wrong
    state_dir = _state_dir(gateway, around)
    pools, cache, wrong = build_pools(gateway, around.base, state_dir, workers=server.workers)
    problems += wrong
    limits, wrong = build_limits(gateway, pools)
    problems += wrong
    transports, wrong = build_transports(gateway)
    problems += wrong
    security, wrong = build_security(gateway, _groups_with_settings(gateway))
    problems += wrong
    problems += _unused(gateway, {route.group for route in routes.groups})
    webmcp, wrong = build_webmcp(gateway, routes.sites)
    problems += wrong
    settings = Settings(
        source=gateway.file,
        environment=_environment(gateway, around),
        state_dir=state_dir,
        server=server,
        routes=routes.groups,
        plugins=_plugins(gateway, around),
        translations=_translations(gateway, around),
        pools=pools,
        cache=cache,
        docs=_filled(Docs, gateway.get("ufo_json_rpc", "docs", default={})),
        errors=_filled(Errors, gateway.get("errors", default={})),
        logging=_logging(gateway, around),
        metrics=metrics,
        tracing=_filled(TracingSettings, gateway.get("tracing", default={})),
        http=Http(**gateway.get("http", default={})),
        console=console,
        cors=Cors(origins),
        limits=limits,
        transports=transports,
        jobs=build_jobs(gateway),
        webmcp=webmcp,
        site_routes=routes.sites,
        security=security,
        mcp=_mcp(gateway),
        calls=_calls(gateway),
        methods=_methods(gateway),
        places=gateway.places(),
    )
    return settings, problems


def _metrics(document: Document, around: Surroundings) -> tuple[Metrics, list[Problem]]:
    bind, problems = metrics_bind(document, lambda path: _path(document, around, ("metrics", "bind"), path))
    token = document.get("metrics", "token")
    given = document.get("metrics", default={})
    return _filled(Metrics, given, bind=bind, token_sha256=token and digest(token)), problems


def _own_paths(metrics: Metrics, console: Console) -> tuple[str, ...]:
    return (*OWN_PATHS, *((metrics.path,) if metrics.enabled else ()), *(CONSOLE_PATHS if console.enabled else ()))


def _filled(cls: type[_T], given: Mapping[str, Any], **more: Any) -> _T:
    """A dataclass made of the options that it knows; lists become tuples."""
    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]  # _T stands for dataclasses only
    taken = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if name in known}
    return cls(**{**taken, **more})


def _path(document: Document, around: Surroundings, path: Path, given: str) -> str:
    """A path that stands in a file is relative to that file."""
    return absolute(around.base, document.beside(path, given))


def _environment(document: Document, around: Surroundings) -> str:
    chosen = Chosen(around.environment, around.dev).name(around.env)
    return chosen or str(document.get("environment", default=DEFAULT_ENVIRONMENT))


def _state_dir(document: Document, around: Surroundings) -> str:
    given = document.get("state_dir")
    if given is None:
        # systemd gives a list where several directories are asked for
        given = around.env.get("STATE_DIRECTORY", "").split(":")[0] or "var"
    return _path(document, around, ("state_dir",), given)


def _server(document: Document, around: Surroundings) -> tuple[Server, list[Problem]]:
    given = document.get("server", default={})
    bind, wrong_bind = bind_addresses(document, lambda path: _path(document, around, ("server", "bind"), path))
    url, wrong_url = public_url(document)
    hosts, wrong_hosts = allowed_hosts(document)
    proxies, wrong_proxies = trusted_proxies(document)
    server = _filled(
        Server,
        given,
        bind=bind,
        public_url=url,
        allowed_hosts=hosts,
        timeouts=Timeouts(**given.get("timeouts", {})),
        trusted_proxies=proxies,
        failed_attempts=failed_attempts(document),
        tls=_tls(document, around),
    )
    return server, [*wrong_bind, *wrong_url, *wrong_hosts, *wrong_proxies]


def _tls(document: Document, around: Surroundings) -> Tls | None:
    given = document.get("server", "tls")
    if given is None:
        return None
    cert, key = (_path(document, around, ("server", "tls", name), given[name]) for name in ("cert", "key"))
    return Tls(cert, key)


def _plugins(document: Document, around: Surroundings) -> PluginSettings:
    given = document.get("plugins", default={})
    return PluginSettings(
        directory=_path(document, around, ("plugins", "directory"), given.get("directory", "plugins")),
        strict=given.get("strict", False),
        config=given.get("config", {}),
        places={name: document.place("plugins", "config", name) for name in given.get("config", {})},
    )


def _translations(document: Document, around: Surroundings) -> Translations:
    given = document.get("translations", default={})
    locale = given.get("default_locale", "en").replace("_", "-")
    path = ("translations", "directory")
    return Translations(_path(document, around, path, given.get("directory", "translations")), locale)


def _logging(document: Document, around: Surroundings) -> Logging:
    given = document.get("logging", default={})
    files = {
        log: _path(document, around, ("logging", log, "file"), file) if file is not None else None
        for log in ("access", "audit")
        for file in [given.get(log, {}).get("file")]
    }
    access = AccessLogSettings(given.get("access", {}).get("enabled", False), files["access"])
    found = _filled(Logging, given, access=access, audit_file=files["audit"])
    return replace(found, format="console") if around.dev else found


def _mcp(document: Document) -> dict[str, McpSettings]:
    given: Mapping[str, Any] = document.get("ufo_mcp", default={})
    common = _merged_mcp(McpSettings(), given)
    groups = given.get("groups", {})
    return {"": common} | {group: _merged_mcp(common, own) for group, own in groups.items()}


def _merged_mcp(common: McpSettings, given: Mapping[str, Any]) -> McpSettings:
    """A group's server over the common one, field by field, `mcp_server_info` too (C-14)."""
    own = {k: given[k] for k in ("enabled", "instructions", "max_body_bytes", "session_ttl") if k in given}
    return replace(common, **own, info=_merged_info(common.info, given.get("mcp_server_info", {})))


def _merged_info(common: ServerInfo, given: Mapping[str, Any]) -> ServerInfo:
    own = {name: given[name] for name in ("name", "title", "description") if name in given}
    if "icons" in given:
        own["icons"] = tuple(_filled(Icon, icon) for icon in given["icons"])
    return replace(common, **own)


def _calls(document: Document) -> dict[str, CallSettings]:
    common = _merged_calls(CallSettings(), document.get("defaults", default={}))
    groups: Mapping[str, Mapping[str, Any]] = document.get("groups", default={})
    return {"": common} | {group: _merged_calls(common, own) for group, own in groups.items()}


def _merged_calls(common: CallSettings, given: Mapping[str, Any]) -> CallSettings:
    """What tunes a group's calls over the common values, field by field, `tools` too; the shorter deadline holds."""
    own = {name: value for name, value in given.items() if name in _TUNING}
    own["deadline"] = shortest(common.deadline, given.get("deadline"))
    limits = allowed(given.get("limits", {})).over(common.limits)
    return replace(common, **own, limits=limits, tools=replace(common.tools, **given.get("tools", {})))


_TUNING = {field.name for field in fields(CallSettings)} - {"tools", "limits"}


def _methods(document: Document) -> dict[str, dict[str, Any]]:
    """What differs for a method, by the names of `CallSettings`."""
    given: Mapping[str, Mapping[str, Any]] = document.get("methods", default={})
    return {name: _method(own) for name, own in given.items()}


def _method(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _MADE[name](value) if name in _MADE else value for name, value in given.items()}


_MADE: Mapping[str, Callable[[Any], object]] = {"limits": allowed, "concurrency": concurrency, "breaker": breaker}
"""Sections of a method that are more than a value."""


_BY_GROUP: tuple[tuple[str, ...], ...] = (("groups",), ("ufo_mcp", "groups"), ("ufo_json_rpc", "security", "providers"))


def _groups_with_settings(document: Document) -> list[str]:
    return list(dict.fromkeys(group for path in _BY_GROUP for group in document.get(*path, default={})))


def _unused(document: Document, served: Iterable[str]) -> list[Problem]:
    known = sorted(served)
    return [
        document.warning(
            (*path, group),
            "unused-group",
            f'"{".".join((*path, group))}" tunes a group that no route serves.',
            f"the routes serve {', '.join(known)}" if known else "",
        )
        for path in _BY_GROUP
        for group in document.get(*path, default={})
        if group not in known
    ]
