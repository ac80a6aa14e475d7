"""`subscriptions/listen`: what a client wants to hear of, and what it hears. Pure.

Source: MCP 2026-07-28, Subscriptions. Of all that a server may tell only that its list of tools changed exists here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rpcgw.kernel.codec import encode
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.faults import INVALID_PARAMS, Fault, RequestId

META_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
TOOLS: Final = "toolsListChanged"


def honoured(params: Mapping[str, Any]) -> Mapping[str, Any] | Fault:
    """Of what a client wants to hear of, what it will hear of."""
    wanted = params.get("notifications")
    if type(wanted) is not dict:
        return Fault(INVALID_PARAMS, "params.notifications must be an object that says what to tell of")
    return {TOOLS: True} if wanted.get(TOOLS) is True else {}


def acknowledged(request_id: RequestId, notifications: Mapping[str, Any]) -> bytes:
    """The first message: what the server will tell of."""
    return _notification("subscriptions/acknowledged", request_id, {"notifications": notifications})


def tools_changed(request_id: RequestId) -> bytes:
    """The list of tools is another one now."""
    return _notification("tools/list_changed", request_id, {})


def closing(request_id: RequestId, endpoint: Endpoint) -> bytes:
    """The last message: the answer to the request, once there is nothing more to hear on this stream."""
    meta = {**endpoint.meta, META_SUBSCRIPTION: request_id}
    return encode({"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", "_meta": meta}})


def _notification(name: str, request_id: RequestId, params: Mapping[str, Any]) -> bytes:
    tagged = {"_meta": {META_SUBSCRIPTION: request_id}, **params}
    return encode({"jsonrpc": "2.0", "method": f"notifications/{name}", "params": tagged})
