"""A span for each MCP request, as OpenTelemetry's semantic conventions for MCP name it (still in development). Pure.

The convention: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md, "Server".
"""

from __future__ import annotations

from typing import Any, Final, Literal

from rpcgw.exchange import Head
from rpcgw.protocol.mcp.faults import Refused
from rpcgw.protocol.mcp.messages import Legacy, Modern

Transport = Literal["tcp", "unix", "pipe"]

METHOD: Final = "mcp.method.name"
REVISION: Final = "mcp.protocol.version"
SESSION: Final = "mcp.session.id"
REQUEST_ID: Final = "jsonrpc.request.id"
TOOL: Final = "gen_ai.tool.name"
OPERATION: Final = "gen_ai.operation.name"
STATUS: Final = "rpc.response.status_code"
TRANSPORT: Final = "network.transport"
PROTOCOL: Final = "network.protocol.name"
CLIENT: Final = "client.address"

TOOL_ERROR: Final = "tool_error"
"""`error.type` of a result that says `isError`."""
LEFT: Final = "cancelled"
"""`error.type` where nobody waits for the answer any more."""

_LONGEST: Final = 100
_CALL: Final = "tools/call"


def name(method: str, tool: str | None, *, known: bool) -> str:
    """The span's name: of few values, so that an unknown method or tool never becomes part of it."""
    if not known:
        return "unknown method"
    return method if tool is None else f"{method} {tool}"


def attributes(
    request: Modern | Legacy, head: Head, revision: str | None, tool: str | None, transport: Transport
) -> dict[str, str]:
    """What is known of a request before it is answered; `tool` is the name of one that there is."""
    found = {
        METHOD: request.method[:_LONGEST],
        REQUEST_ID: str(request.id)[:_LONGEST],
        REVISION: revision,
        SESSION: head.headers.get("mcp-session-id"),
        TOOL: tool,
        OPERATION: "execute_tool" if request.method == _CALL else None,
        TRANSPORT: transport,
        PROTOCOL: None if transport == "pipe" else "http",
        CLIENT: head.peer or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def asked_for(request: Modern | Legacy, tools: Any) -> str | None:
    """The tool that a `tools/call` names, if there is one of that name."""
    asked = request.params.get("name") if request.method == _CALL else None
    return asked if type(asked) is str and asked in tools else None


def refusal(refused: Refused) -> tuple[str, str]:
    """`error.type` and the status' description of a request that is refused."""
    return str(refused.code), refused.message
