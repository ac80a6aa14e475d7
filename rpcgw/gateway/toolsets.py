"""What the tools of each MCP endpoint are, as a text that differs where a list of tools would. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import msgspec

from rpcgw.gateway.model import McpRoute
from rpcgw.gateway.wording import MethodWording
from rpcgw.protocol.mcp.tools import Tool

_SHOWN: Final = 32


def toolsets(routes: Iterable[McpRoute], wording: MethodWording) -> dict[str, str]:
    """By endpoint's name; what is hashed lies ready, so that thousands of tools cost milliseconds."""
    return {route.endpoint.name: _toolset(route, wording) for route in routes}


def _toolset(route: McpRoute, wording: MethodWording) -> str:
    seen = sha256()
    locales = wording.texts.available(route.endpoint.group)
    for version, toolbox in sorted(route.endpoint.toolboxes.items()):
        for tool in toolbox.listed:
            seen.update(b"\n".join(_parts(version, tool, route.endpoint.group, wording, locales)))
    return seen.hexdigest()[:_SHOWN]


def _parts(version: int, tool: Tool, group: str, wording: MethodWording, locales: Iterable[str]) -> Iterable[bytes]:
    method = tool.method
    yield f"{version} {tool.name} {sorted(method.scopes)} {method.tool}".encode()
    yield method.input_schema
    yield method.output_schema or b""
    for locale in locales:
        said = (wording.title(group, method, locale), wording.description(group, method, locale))
        yield msgspec.json.encode(said)
