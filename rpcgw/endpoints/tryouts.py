"""What a console's page shows of a group: where it is served, and its methods with the fields of their forms. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from rpcgw.access.admit import Policy
from rpcgw.api.records import record
from rpcgw.config.route import Route
from rpcgw.endpoints.forms import Field, fields
from rpcgw.gateway.documents import server_keys
from rpcgw.gateway.model import Gateway, McpRoute, RpcRoute
from rpcgw.kernel.codec import decode
from rpcgw.kernel.method import Method
from rpcgw.kernel.scopes import usable
from rpcgw.protocol.mcp.tools import Tool
from rpcgw.protocol.openrpc import path_of


@record(frozen=True, slots=True)
class Path:
    """A path of the daemon, and the key of the words that say what is there."""

    path: str
    text: str


@record(frozen=True, slots=True)
class Face:
    """One group as people see it. `rpc` and `mcp` are the prefixes of its endpoints, None where it has none.

    `versions` are those that it has, ascending; `readers` may have its page; `protected` calls need a token. `server`
    is what agents call it.
    """

    group: str
    versions: tuple[int, ...]
    rpc: str | None
    mcp: str | None
    readers: Policy
    protected: bool
    protected_doc: bool
    server: str

    @staticmethod
    def at(prefix: str | None, version: int) -> str | None:
        """Where an endpoint serves a version."""
        return None if prefix is None else path_of(prefix, version)

    def patterns(self, version: int) -> tuple[str, ...]:
        """The paths of a version's page; the first one that a group has is also at the group's own."""
        own = f"/console/{self.group}"
        named = f"{own}/v{version}"
        return (own, named) if version == self.versions[0] else (named,)

    def described(self, *, console: bool) -> dict[str, Any]:
        """The group in the overview."""
        return {
            "group": self.group,
            "versions": [self._version(version, console=console) for version in self.versions],
            "protected": self.protected,
        }

    def _version(self, version: int, *, console: bool) -> dict[str, Any]:
        rpc, mcp = self.at(self.rpc, version), self.at(self.mcp, version)
        found: dict[str, Any] = {"version": version}
        if rpc is not None:
            found |= {"rpc": rpc, "openrpc": rpc, "postman": f"{rpc.rstrip('/')}/postman"}
        if mcp is not None:
            below = mcp.rstrip("/")
            found |= {"mcp": mcp, "server_json": f"{below}/server.json", "clients": f"{below}/manifest/index.json"}
        return found | ({"console": self.patterns(version)[0]} if console else {})


def faces(gateway: Gateway) -> tuple[Face, ...]:
    """The groups that are served, in the order of their routes; of several routes of a kind the first."""
    found = {route.group: _face(gateway, route.group) for route in gateway.settings.routes}
    return tuple(face for face in found.values() if face is not None and face.versions)


def _face(gateway: Gateway, group: str) -> Face | None:
    rpc = next((route for route in gateway.rpc if route.endpoint.group == group), None)
    mcp = next((route for route in gateway.mcp if route.endpoint.group == group), None)
    served = mcp if mcp is not None and mcp.endpoint.enabled else None
    readers = rpc or served
    if readers is None:
        return None
    security = gateway.settings.security_of(group)
    return Face(
        group=group,
        versions=_versions(rpc, served),
        rpc=rpc.endpoint.prefix if rpc else None,
        mcp=served.endpoint.prefix if served else None,
        readers=readers.readers,
        protected=security.protected_api,
        protected_doc=security.protected_doc,
        server=_server(gateway, group) if served else "",
    )


def _versions(rpc: RpcRoute | None, mcp: McpRoute | None) -> tuple[int, ...]:
    if rpc is not None:
        return rpc.endpoint.versions
    assert mcp is not None, "a face has one of the two"
    return tuple(v for v in sorted(mcp.endpoint.toolboxes) if replace(mcp.endpoint, version=v).exists)


def _server(gateway: Gateway, group: str) -> str:
    keys = server_keys(gateway.settings)
    route: Route = next(r for r in gateway.settings.routes if r.kind == "mcp" and r.group == group)
    return keys[route.key]


@record(frozen=True, slots=True)
class Shown:
    """A method on a page. `tool` is its name over MCP, "" where it is none; `mirrors` are pairs of path and label."""

    name: str
    title: str
    description: str
    fields: tuple[Field, ...]
    deprecated: bool
    read_only: bool
    destructive: bool
    tool: str
    mirrors: str
    result: str
    result_text: str
    errors: tuple[tuple[int, str], ...]


def methods_of(
    gateway: Gateway, face: Face, version: int, locale: str, granted: frozenset[str], *, off: frozenset[str]
) -> tuple[Shown, ...]:
    """The methods of a group in a version that a reader with these scopes may use, without those that are off."""
    tools = _tools(gateway, face, version)
    methods: Mapping[str, Method] = usable(gateway.table.methods(face.group, version) or {}, granted, off)
    return tuple(_shown(gateway, face.group, method, tools.get(name), locale) for name, method in methods.items())


def _tools(gateway: Gateway, face: Face, version: int) -> dict[str, Tool]:
    if face.mcp is None:
        return {}
    endpoint = next(route.endpoint for route in gateway.mcp if route.endpoint.group == face.group)
    toolbox = endpoint.toolboxes.get(version)
    return {} if toolbox is None else {tool.method.name: tool for tool in toolbox.listed}


def _shown(gateway: Gateway, group: str, method: Method, tool: Tool | None, locale: str) -> Shown:
    texts, tuned = gateway.wording, gateway.settings.calls_of_method(group, method.name)
    said = {
        param.name: texts.parameter(group, method, param.name, locale) or param.description for param in method.params
    }
    mirrors = [] if tool is None else [[mirror.path, mirror.label] for mirror in tool.mirrors]
    return Shown(
        name=method.name,
        title=texts.title(group, method, locale) or method.name,
        description=texts.description(group, method, locale),
        fields=fields(decode(method.input_schema), said),
        deprecated=method.deprecated or tuned.deprecated,
        read_only=method.tool.read_only is True,
        destructive=method.tool.destructive is True,
        tool="" if tool is None else tool.name,
        mirrors=msgspec.json.encode(mirrors).decode(),
        result=_pretty(method.output_schema or method.result.schema),
        result_text=texts.result(group, method, locale) or method.result.description,
        errors=tuple((error.code, error.description or error.message) for error in method.errors),
    )


def _pretty(schema: bytes) -> str:
    return msgspec.json.format(schema, indent=2).decode()
