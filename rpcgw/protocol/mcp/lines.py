"""MCP over standard input and output: a line as the request that a client would have sent over HTTP. Pure.

A pipe has no headers. Those of MCP's HTTP transport only repeat the body, so here they are made of it, and the endpoint
that answers HTTP answers lines as well. Source: MCP 2025-11-25 and 2026-07-28, Transports, stdio.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from rpcgw.exchange import HeaderFields
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.faults import RequestId
from rpcgw.protocol.mcp.ladder import META_VERSION, NAMED_BY
from rpcgw.protocol.mcp.tools import Tool, Toolbox

_LEGIBLE: Final[HeaderFields] = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
)
_CANCEL: Final = "notifications/cancelled"
_FIRST: Final = "initialize"
_NO_PARAMS: Final[dict[str, Any]] = {}


class Line(msgspec.Struct, frozen=True):
    """One line of a client's.

    `fields` are the headers to it. `id` is a request's own, None for all else. `silent`: it is a notification or a
    response, and nothing is ever said to those. `opens`: what follows belongs to the session that it begins. `cancels`
    is the id of the request that it takes back.
    """

    body: bytes
    fields: HeaderFields = _LEGIBLE
    id: RequestId | None = None
    silent: bool = False
    opens: bool = False
    cancels: RequestId | None = None


def read(body: bytes) -> Line:
    """What a line is, as far as its transport must know; whether it is well formed is for the endpoint to say."""
    try:
        message = decode(body)
    except NotJson:
        return Line(body)
    if type(message) is not dict:
        return Line(body)
    params = message.get("params")
    params = params if type(params) is dict else _NO_PARAMS
    method, request_id = message.get("method"), _id(message.get("id"))
    silent = ("id" not in message and type(method) is str) or (method is None and _is_response(message))
    claim = _claim(params)
    return Line(
        body,
        _LEGIBLE if claim is None else _LEGIBLE + _repeated(claim, method, params),
        request_id,
        silent,
        method == _FIRST and claim is None,
        _id(params.get("requestId")) if silent and method == _CANCEL else None,
    )


def without_mirrors(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose tools ask for no headers that repeat arguments: nobody routes on those of a pipe."""
    boxes = {version: _without_mirrors(toolbox) for version, toolbox in endpoint.toolboxes.items()}
    return replace(endpoint, toolboxes=boxes)


def _without_mirrors(toolbox: Toolbox) -> Toolbox:
    plain: Mapping[Tool, Tool] = {tool: replace(tool, mirrors=()) for tool in toolbox.listed}
    by_name = {name: plain[tool] for name, tool in toolbox.by_name.items()}
    return Toolbox(tuple(plain.values()), by_name)


def _id(value: Any) -> RequestId | None:
    return value if type(value) is int or type(value) is str else None


def _is_response(message: dict[str, Any]) -> bool:
    return "result" in message or "error" in message


def _claim(params: dict[str, Any]) -> str | None:
    meta = params.get("_meta")
    claim = meta.get(META_VERSION) if type(meta) is dict else None
    return claim if type(claim) is str else None


def _repeated(claim: str, method: Any, params: dict[str, Any]) -> HeaderFields:
    """The headers by which the stateless era repeats its body."""
    made = [("MCP-Protocol-Version", claim)]
    if type(method) is str:
        made.append(("Mcp-Method", method))
        name = params.get(NAMED_BY.get(method, ""))
        if type(name) is str:
            encoded = b64encode(name.encode("utf-8", "surrogatepass")).decode()
            made.append(("Mcp-Name", f"=?base64?{encoded}?="))
    return tuple(made)
