"""Routes of sites -> compiled sites: whose tools stand where, and what is wrong with them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from rpcgw.access.admit import JSON, Policy
from rpcgw.access.guards import Guards, compile_guards
from rpcgw.access.names import origin_of
from rpcgw.access.policies import document_policy
from rpcgw.access.senders import compile_senders
from rpcgw.access.tokens import Tokens
from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import Settings
from rpcgw.config.sites import Site as SiteSettings
from rpcgw.config.sites import SiteRoute
from rpcgw.discovery.found import LoadedPlugin
from rpcgw.gateway.endpoints import forwarding
from rpcgw.gateway.model import SiteServed
from rpcgw.gateway.oauth import protected_resource, scopes_of
from rpcgw.gateway.page_tools import Offered, examine
from rpcgw.gateway.plugins import Imported
from rpcgw.gateway.wording import MethodWording
from rpcgw.kernel.codec import decode
from rpcgw.kernel.signature import place_of
from rpcgw.kernel.table import MethodTable
from rpcgw.protocol.mcp.tools import ToolSettings, build, descriptor
from rpcgw.protocol.webmcp.schemas import reduced
from rpcgw.protocol.webmcp.site import Addresses, Declared, Features, Site, Target

_INLINE = ToolSettings(refs="inline")
_KEPT = 1024
_READING = ("GET", "HEAD")

TokensOf = Callable[[str], Tokens]


@record(frozen=True, slots=True)
class Surroundings:
    """What sites are compiled with: settings, plugins, the methods that they may call, and who may come in."""

    settings: Settings
    imported: Imported
    table: MethodTable
    wording: MethodWording
    tokens: TokensOf


def serve_sites(around: Surroundings) -> tuple[tuple[SiteServed, ...], list[Problem]]:
    """Every site's route, in the order of routes.yaml; none where `webmcp.enabled` is off."""
    settings, imported = around.settings, around.imported
    if not settings.webmcp.enabled:
        return (), []
    brought, problems = _brought(imported.loaded)
    served = []
    for route in settings.site_routes:
        own = settings.webmcp.site(route.site)
        offered = [*_declared(own, settings), *_of_plugins(own, brought)]
        problems += _unknown_plugins(route, own, settings, imported)
        made = _served(route, own, offered, around)
        calls, wrong = examine(made.site, offered, settings)
        problems += wrong
        served.append(replace(made, site=replace(made.site, calls=calls)))
    return tuple(served), list(dict.fromkeys(problems))


def _served(route: SiteRoute, own: SiteSettings, offered: Sequence[Offered], around: Surroundings) -> SiteServed:
    settings = around.settings
    shown = [tool.provider for tool in offered if tool.provider.name not in own.disabled]
    base = own.url or "/"
    site = Site(
        name=route.site,
        route=route.full_group,
        prefix=route.prefix,
        reached=(own.endpoint or route.prefix).rstrip("/"),
        base=base if base.endswith("/") else f"{base}/",
        locale=own.locale or settings.translations.default_locale,
        providers=tuple(shown),
        processors=_processors(own, around.imported.loaded),
        features=Features(own.output_limit, own.client_hint, own.frames, own.legacy_navigator, own.beacon),
        addresses=Addresses(origin_of(base), frozenset(own.targets)),
        origins=own.origins,
        call_ttl=settings.webmcp.call_ttl,
        counted=settings.webmcp.usage.enabled,
        find=lru_cache(maxsize=_KEPT)(partial(_target, around)),
        tools=frozenset(provider.name for provider in shown),
    )
    guards = _guards(own, settings)
    callers = {group: _callers(guards, around, group) for group in around.table.groups}
    senders = compile_senders(own.origins, settings.server.public_url)
    negotiate = {group: around.wording.negotiator(group) for group in around.table.groups}
    owners = _owners(guards, settings, around.tokens(DEFAULT_GROUP))
    forward = {group: forwarding(settings.security_of(group), around.tokens(group)) for group in around.table.groups}
    viewers = {
        group: document_policy(guards, around.tokens(group), policy.resource, protected_doc=False, scoped=True)
        for group, policy in callers.items()
        if policy.tokens and scopes_of(group, around.table)
    }
    return SiteServed(site, Policy(guards, methods=_READING), senders, callers, owners, negotiate, forward, viewers)


def _guards(own: SiteSettings, settings: Settings) -> Guards:
    """As everywhere, and the site's own pages: they may ask under their own name, behind a proxy, or from elsewhere."""
    hosts = [origin.partition("://")[2] for origin in own.origins]
    return compile_guards(
        settings.server.public_url,
        (*settings.server.allowed_hosts, *hosts),
        (*settings.cors.allowed_origins, *own.origins),
    )


def _callers(guards: Guards, around: Surroundings, group: str) -> Policy:
    """Whoever may call the group over `/rpc`, or over MCP where it is served by that alone."""
    settings, tokens = around.settings, around.tokens(group)
    needed = settings.security_of(group).protected_api
    routes = sorted((r for r in settings.routes if r.group == group), key=lambda route: route.kind != "rpc")
    resource = protected_resource(routes[0], settings, around.table) if routes else None
    return Policy(guards, ("POST",), {"POST": tokens} if needed else {}, {"POST": JSON}, resource=resource)


def _owners(guards: Guards, settings: Settings, tokens: Tokens) -> Policy:
    """Whoever holds a token of the default group, where calls of it need one."""
    needed = settings.security_of(DEFAULT_GROUP).protected_api
    return Policy(guards, _READING, dict.fromkeys(_READING, tokens) if needed else {})


def _target(around: Surroundings, name: str, group: str, version: int, locale: str) -> Target | None:
    """The method behind a call, with its texts, and its schemas as a browser understands them."""
    method = (around.table.methods(group, version) or {}).get(name)
    if method is None:
        return None
    toolbox, _ = build({method.name: method}, _INLINE)
    said = descriptor(toolbox.listed[0], group, around.wording, locale)
    schema = said.get("outputSchema")
    return Target(
        method=method,
        title=said["title"],
        description=said["description"],
        input_schema=reduced(decode(bytes(said["inputSchema"]))),
        output_schema=None if schema is None else decode(bytes(schema)),
    )


# -- whose tools


def _declared(own: SiteSettings, settings: Settings) -> Iterable[Offered]:
    for tool in own.tools:
        place = settings.places.get(tool.at, Place(settings.source))
        yield Offered(Declared(tool.manifest, tool.paths, tool.languages), place, tool.at, tool.at)


def _of_plugins(own: SiteSettings, brought: Mapping[str, Sequence[Offered]]) -> Iterable[Offered]:
    for plugin, tools in brought.items():
        if own.plugins is None or plugin in own.plugins:
            yield from tools


def _brought(plugins: Sequence[LoadedPlugin]) -> tuple[dict[str, list[Offered]], list[Problem]]:
    """What each plugin brings, each class made once."""
    found: dict[str, list[Offered]] = {}
    problems: list[Problem] = []
    for plugin in plugins:
        for part in plugin.plugin.page_tools:
            made = _made(part)
            if isinstance(made, Problem):
                problems.append(made)
            else:
                found.setdefault(plugin.name, []).append(made)
    return found, problems


def _made(part: object) -> Offered | Problem:
    kind = part if isinstance(part, type) else type(part)
    place, shown = place_of(kind), kind.__qualname__
    provider: Any
    try:
        provider = part() if isinstance(part, type) else part
    except Exception as error:  # noqa: BLE001 -- the author's constructor; a plugin that fails to load is a problem
        text = f"{shown}() raised {type(error).__name__}: {error}"
        hint = "a tool of a page is made without arguments; what it has to know, a data processor looks up"
        return Problem(place, "webmcp-provider", text, hint)
    if not isinstance(getattr(provider, "name", None), str) or not callable(getattr(provider, "manifest", None)):
        text = f"{shown} is no ToolProvider: it needs a name, which is text, and manifest(page, data)"
        return Problem(place, "webmcp-provider", text)
    return Offered(provider, place, shown)


def _processors(own: SiteSettings, plugins: Sequence[LoadedPlugin]) -> tuple[object, ...]:
    """In the order that they say, those of one number in the order of plugins."""
    found = [
        part
        for plugin in plugins
        if own.plugins is None or plugin.name in own.plugins
        for part in plugin.plugin.page_data
    ]
    return tuple(sorted(found, key=lambda part: getattr(part, "order", 0)))


def _unknown_plugins(route: SiteRoute, own: SiteSettings, settings: Settings, imported: Imported) -> Iterable[Problem]:
    known = {plugin.name for plugin in imported.loaded} | {plugin.name for plugin in imported.quarantined}
    for name in own.plugins or ():
        if name not in known:
            at = f"webmcp.sites.{route.site}.plugins"
            place = settings.places.get(at, route.place)
            found = ", ".join(sorted(known)) or "none"
            yield Problem(place, "unknown-plugin", f"there is no plugin {name!r}", f"plugins found: {found}")
