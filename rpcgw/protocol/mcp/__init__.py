"""MCP as pure functions: revisions, the two ladders of refusals, tools, results, sessions. No I/O, no clock.

A request is read in this order: `classify` says which era it speaks and whether it is well formed, `calls` what a
`tools/call` asks for, `answers` and `listing` what the answer looks like. They all look things up in an
`endpoint.Endpoint`.
"""

from rpcgw.protocol.mcp.endpoint import UNKNOWN_VERSION, Endpoint, Limits, ServerInfo
from rpcgw.protocol.mcp.tools import Toolbox, ToolSettings, build

__all__ = ["UNKNOWN_VERSION", "Endpoint", "Limits", "ServerInfo", "ToolSettings", "Toolbox", "build"]
