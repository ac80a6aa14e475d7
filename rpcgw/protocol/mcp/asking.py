"""What a client of the stateless revision sends: a request with its `_meta`, and the headers that repeat it. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from rpcgw.protocol.mcp.mirrors import Mirror
from rpcgw.protocol.mcp.revisions import STATELESS

NEWEST: Final = next(reversed(STATELESS))
META_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
ACCEPT: Final = "application/json, text/event-stream"

PROGRESS: Final = "notifications/progress"
MESSAGE: Final = "notifications/message"

_PROGRESS_TOKEN: Final = "call"  # noqa: S105 -- names a call
_PLAIN: Final = re.compile(r"[!-~]([ -~]*[!-~])?")


def request(
    method: str, params: Mapping[str, Any], client: Mapping[str, str], *, level: str | None = "debug"
) -> tuple[dict[str, Any], dict[str, str]]:
    """A request that wants to be told of progress, and of messages from a level on; and its headers.

    Args:
        method: `tools/call`, say.
        params: Its params, without `_meta`.
        client: The name and version of who asks.
        level: The mildest messages that are wanted. None: it wants to be told of nothing before its answer.
    """
    meta = {META_VERSION: NEWEST, META_CAPABILITIES: {}, META_CLIENT: dict(client)}
    if level is not None:
        meta |= {META_LOG_LEVEL: level, "progressToken": _PROGRESS_TOKEN}
    headers = {"accept": ACCEPT, fields.VERSION: NEWEST, fields.METHOD: method}
    if "name" in params:
        headers[fields.NAME] = header_value(params["name"])
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, headers


def mirrored(mirrors: Iterable[Mirror], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat arguments which a tool's schema wants to see there."""
    found: dict[str, str] = {}
    for mirror in mirrors:
        value: Any = arguments
        for step in mirror.path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            found[mirror.header] = header_value(str(value).lower() if isinstance(value, bool) else str(value))
    return found


def header_value(text: str) -> str:
    """A text as a header may carry it: itself where it is plain ASCII, else in MCP's Base64 form."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
