"""A gateway as commands list it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from rpcgw.api.records import record
from rpcgw.gateway.model import Gateway, McpRoute, RpcRoute
from rpcgw.kernel.method import Method
from rpcgw.kernel.scopes import named
from rpcgw.protocol.mcp import Endpoint
from rpcgw.protocol.mcp.tools import descriptor


@record(frozen=True, slots=True)
class ListedRoute:
    """One path that is served."""

    name: str
    methods: tuple[str, ...]
    path: str
    group: str
    version: str


@record(frozen=True, slots=True)
class ListedMethod:
    """One method of a group and version."""

    group: str
    version: int
    method: Method


def list_routes(gateway: Gateway) -> Iterator[ListedRoute]:
    """Every path of every route, in the order of routes.yaml, with the versions that answer there."""
    for rpc in gateway.rpc:
        endpoint = rpc.endpoint
        yield from _paths(
            endpoint.name, endpoint.prefix, endpoint.group, (*rpc.policy.methods, "OPTIONS"), endpoint.versions
        )
        yield from _collections(rpc)
    for mcp in gateway.mcp:
        served = mcp.endpoint
        versions = tuple(sorted(served.toolboxes)) if served.enabled else ()
        yield from _paths(served.name, served.prefix, served.group, (*mcp.policy.methods, "OPTIONS"), versions)
        yield from _documents(mcp)
    yield from _site_paths(gateway)


def _site_paths(gateway: Gateway) -> Iterator[ListedRoute]:
    """The paths of sites, in the column of groups the site's name; what is off is not there."""
    settings = gateway.settings
    off = set() if settings.webmcp.usage.enabled else {"event", "usage"}
    off |= set() if settings.environment == "dev" else {"selftest"}
    for route in settings.site_routes if gateway.sites else ():
        for path in route.paths():
            if path.pattern.rpartition("/")[2] not in off:
                yield ListedRoute(path.name, path.methods, path.pattern, route.site, "")


def _paths(
    name: str, prefix: str, group: str, methods: tuple[str, ...], versions: tuple[int, ...]
) -> Iterator[ListedRoute]:
    yield ListedRoute(name, methods, prefix, group, "v1")
    served = ", ".join(f"v{version}" for version in versions) or "none"
    yield ListedRoute(name, methods, f"{prefix.rstrip('/')}/{{ver}}", group, served)


def _collections(route: RpcRoute) -> Iterator[ListedRoute]:
    """Postman collections."""
    endpoint, below = route.endpoint, route.endpoint.prefix.rstrip("/")
    served = ", ".join(f"v{version}" for version in endpoint.versions) or "none"
    name = f"{endpoint.name.removesuffix('_api_server')}_api_postman"
    yield ListedRoute(name, route.readers.methods, f"{below}/postman", endpoint.group, "v1")
    yield ListedRoute(f"{name}_ver", route.readers.methods, f"{below}/{{ver}}/postman", endpoint.group, served)


def _documents(route: McpRoute) -> Iterator[ListedRoute]:
    """`server.json` and client configurations (C-05, C-06)."""
    published, below = route.publication, route.publication.prefix.rstrip("/")
    served = ", ".join(f"v{version}" for version in published.editions) or "none"
    for path, name in (("server.json", "server_json"), ("manifest/{aiName}.json", "manifest")):
        for root, ending, versions in ((below, "", "v1"), (f"{below}/{{ver}}", "_ver", served)):
            full = f"{published.name}_ufo_mcp_{name}{ending}"
            yield ListedRoute(full, route.readers.methods, f"{root}/{path}", route.endpoint.group, versions)


def list_methods(gateway: Gateway) -> Iterator[ListedMethod]:
    """Every method by group, version and name."""
    for group in gateway.table.groups:
        for version in gateway.table.versions(group):
            for method in (gateway.table.methods(group, version) or {}).values():
                yield ListedMethod(group, version, method)


def openrpc_document(gateway: Gateway, group: str, version: str, locale: str | None) -> bytes | None:
    """The OpenRPC document that the group's `/rpc` route answers; None where there is none."""
    number = version_number(version)
    endpoint = next((route.endpoint for route in gateway.rpc if route.endpoint.group == group), None)
    if endpoint is None or number is None:
        return None
    everything = named((gateway.table.methods(group, number) or {}).values())
    return endpoint.document(number, endpoint.negotiate(locale), False, everything)  # noqa: FBT003 -- the document's third key


def version_number(version: str) -> int | None:
    """`v2` as 2; None for what is no version."""
    match = re.fullmatch(r"v([1-9][0-9]{0,8})", version)
    return int(match[1]) if match else None


def list_tools(gateway: Gateway, group: str, version: str, locale: str | None) -> list[dict[str, Any]] | None:
    """The tools of a group as `tools/list` shows them; None where no MCP route serves that."""
    endpoint = _mcp_endpoint(gateway, group, version)
    return None if endpoint is None else shown_tools(endpoint, locale)


def shown_tools(endpoint: Endpoint, locale: str | None) -> list[dict[str, Any]]:
    """The tools of an endpoint in its version, as `tools/list` shows them."""
    language = endpoint.negotiate(locale)
    tools = [descriptor(tool, endpoint.group, endpoint.texts, language) for tool in endpoint.toolbox.listed]
    shown: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(tools))
    return shown


def tool_named(gateway: Gateway, group: str, version: str, name: str) -> Method | None:
    """The method behind a tool's name in any of its spellings."""
    endpoint = _mcp_endpoint(gateway, group, version)
    tool = endpoint.toolbox.by_name.get(name) if endpoint is not None else None
    return None if tool is None else tool.method


def _mcp_endpoint(gateway: Gateway, group: str, version: str) -> Endpoint | None:
    number = version_number(version)
    endpoint = next((route.endpoint for route in gateway.mcp if route.endpoint.group == group), None)
    if endpoint is None or number is None:
        return None
    at_version = replace(endpoint, version=number)
    return at_version if at_version.exists else None
