"""Routes -> what each group's MCP server says of itself, and what would keep it out of a registry. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from rpcgw.api.problems import Place, Problem
from rpcgw.config.route import Route
from rpcgw.config.settings import Security, ServerInfo, Settings
from rpcgw.gateway.address import public_url
from rpcgw.protocol import mcp
from rpcgw.protocol.mcp import clients, serverjson
from rpcgw.protocol.mcp.documents import Publication, edition
from rpcgw.protocol.openrpc import path_of

_CAMEL: Final = {"mimeType": "mime_type"}
"""Members of the document whose setting is spelled otherwise."""


def server_keys(settings: Settings) -> dict[str, str]:
    """What clients call each MCP route's server, by the route's key: no two alike, so that one client can have all."""
    routes = [route for route in settings.routes if route.kind == "mcp"]
    wanted = {route.key: _key(settings.mcp_of(route.group).info, route.group) for route in routes}
    shared = Counter(wanted.values())
    return {
        route.key: wanted[route.key]
        if shared[wanted[route.key]] == 1
        else f"{wanted[route.key]}-{clients.server_key(None, route.full_group, route.group)}"
        for route in routes
    }


def publication(route: Route, settings: Settings, endpoint: mcp.Endpoint, key: str) -> Publication:
    """The documents of a route's versions; `key` is what clients call the server."""
    card = _card(settings.mcp_of(route.group).info)
    served = [version for version in sorted(endpoint.toolboxes) if replace(endpoint, version=version).exists]
    return Publication(
        name=route.full_group,
        prefix=route.prefix or "/",
        editions={version: edition(card, version, _connection(route, settings, version, key)) for version in served},
        private=settings.security_of(route.group).protected_doc,
        origins=endpoint.origins,
    )


def _connection(route: Route, settings: Settings, version: int, key: str) -> clients.Connection | None:
    """How clients reach a route in a version; None where nobody knows the daemon's address."""
    base = public_url(settings)
    if base is None:
        return None
    security = settings.security_of(route.group)
    return clients.Connection(
        name=key if version == 1 else f"{key}-v{version}",
        url=base.rstrip("/") + path_of(route.prefix or "/", version),
        protected=security.protected_api,
        header=_header(security),
        description=settings.mcp_of(route.group).info.description,
    )


def _header(security: Security) -> str:
    """Every client knows bearer tokens, and they are always taken; a header that the operator named goes before."""
    return clients.AUTHORIZATION if security.token_name == Security().token_name else security.token_name


def _key(info: ServerInfo, group: str) -> str:
    return clients.server_key(info.name, info.title, group)


def _card(info: ServerInfo) -> serverjson.Card:
    icons = tuple(serverjson.Icon(icon.src, icon.mime_type, icon.sizes, icon.theme) for icon in info.icons)
    return serverjson.Card(info.name, info.title, info.description, icons)


# -- what a registry would say


def publication_problems(settings: Settings, served: Iterable[Publication]) -> list[Problem]:
    """What could only make a `server.json` that no registry takes, once for each setting that is to blame.

    Where a group has no `mcp_server_info.name`, nobody means to publish it: only what is set is looked at then.
    """
    names = {publication.name for publication in served if publication.editions}
    routes = [route for route in settings.routes if route.kind == "mcp" and route.full_group in names]
    return list(dict.fromkeys(problem for route in routes for problem in _unpublishable(route, settings)))


def _unpublishable(route: Route, settings: Settings) -> Iterator[Problem]:
    card = _card(settings.mcp_of(route.group).info)
    meant = bool(card.name)
    document = serverjson.server_json(card, 1, _connection(route, settings, 1, "any") if meant else None)
    for finding in serverjson.findings(document):
        if meant or finding.path[0] in document:
            setting = _setting(finding.path, route.group, settings)
            text = f'"{setting}": server.json cannot be published: {_dotted(finding.path)} {finding.rule}.'
            yield Problem(_place(setting, settings), "unpublishable", text, level="warning")


def _setting(path: serverjson.Path, group: str, settings: Settings) -> str:
    """The dotted path of the setting that a member of the document comes from."""
    if path[0] == "remotes":
        return "server.public_url"
    rest = ".".join(_CAMEL.get(str(step), str(step)) for step in path)
    own = f"ufo_mcp.groups.{group}.mcp_server_info.{rest}"
    return own if own in settings.places else f"ufo_mcp.mcp_server_info.{rest}"


def _place(setting: str, settings: Settings) -> Place:
    """Where a setting stands, or the nearest part of the file around it."""
    while setting:
        if setting in settings.places:
            return settings.places[setting]
        setting = setting.rpartition(".")[0]
    return Place(settings.source)


def _dotted(path: serverjson.Path) -> str:
    return ".".join(map(str, path))
