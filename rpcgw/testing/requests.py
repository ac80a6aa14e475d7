"""What a client of each protocol sends, as heads and bodies. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rpcgw.exchange import Fields, Head, Inbound
from rpcgw.kernel import codec
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from rpcgw.protocol.mcp.revisions import NEWEST_SESSION, STATELESS

Params = Mapping[str, Any] | Sequence[Any] | None

NEWEST: Final = next(reversed(STATELESS))
TOKEN: Final = "progress"  # noqa: S105 -- a progress token is no secret
_CLIENT: Final = {"name": "rpcgw.testing", "version": "1"}
_ACCEPT: Final = {"accept": "application/json, text/event-stream"}
_PLAIN: Final = re.compile(r"[!-~]([ -~]*[!-~])?")


def request(
    path: str, message: Any, *, token: str | None, locale: str, headers: Mapping[str, str] | None = None
) -> Inbound:
    """A POST of JSON, by somebody on this machine."""
    fields = {"content-type": "application/json", **_ACCEPT, **(headers or {})}
    if token is not None:
        fields["authorization"] = f"Bearer {token}"
    if locale:
        fields["accept-language"] = locale
    return Inbound(Head("POST", path, "", Fields(fields), unix=True), codec.encode(message))


def message(method: str, params: Any, number: int | None = 1) -> dict[str, Any]:
    """A JSON-RPC request; a notification where it has no number."""
    made: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        made["id"] = number
    if params is not None:
        made["params"] = params
    return made


def stateless(method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the stateless era, and the headers that repeat what it says (MCP 2026-07-28)."""
    meta = {
        META_VERSION: NEWEST,
        META_CAPABILITIES: {},
        META_LOG_LEVEL: "debug",
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "progressToken": TOKEN,
    }
    headers = {"mcp-protocol-version": NEWEST, "mcp-method": method}
    if "name" in params:
        headers["mcp-name"] = header_value(params["name"])
    return message(method, {**params, "_meta": meta}), headers


def initialize() -> dict[str, Any]:
    """What begins a session."""
    params = {"protocolVersion": NEWEST_SESSION.name, "capabilities": {}, "clientInfo": _CLIENT}
    return message("initialize", params)


def in_session(method: str, params: Mapping[str, Any], session_id: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the session era."""
    headers = {"mcp-session-id": session_id, "mcp-protocol-version": NEWEST_SESSION.name}
    return message(method, {**params, "_meta": {"progressToken": TOKEN}}), headers


def mirrored(endpoint: Endpoint, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat arguments which the tool's schema wants to see there."""
    tool = endpoint.toolbox.by_name.get(name)
    found: dict[str, str] = {}
    for mirror in tool.mirrors if tool is not None else ():
        value: Any = arguments
        for step in mirror.path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            found[mirror.header] = header_value(str(value).lower() if isinstance(value, bool) else str(value))
    return found


def header_value(text: str) -> str:
    """A text as a header may carry it: itself where it is plain ASCII, else in the Base64 form of MCP."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
