"""What a client of each protocol sends, as heads and bodies. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rpcgw.exchange import Fields, Head, Inbound
from rpcgw.kernel import codec
from rpcgw.protocol.mcp.asking import ACCEPT
from rpcgw.protocol.mcp.revisions import NEWEST_SESSION

Params = Mapping[str, Any] | Sequence[Any] | None

CLIENT: Final = {"name": "rpcgw.testing", "version": "1"}


def request(
    path: str, message: Any, *, token: str | None, locale: str, headers: Mapping[str, str] | None = None
) -> Inbound:
    """A POST of JSON, by somebody on this machine."""
    fields = {"content-type": "application/json", "accept": ACCEPT, **(headers or {})}
    if token is not None:
        fields["authorization"] = f"Bearer {token}"
    if locale:
        fields["accept-language"] = locale
    return Inbound(Head("POST", path, "", Fields(fields), unix=True), codec.encode(message))


def message(method: str, params: Any, number: int = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    made: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        made["params"] = params
    return made


def initialize() -> dict[str, Any]:
    """What begins a session."""
    params = {"protocolVersion": NEWEST_SESSION.name, "capabilities": {}, "clientInfo": CLIENT}
    return message("initialize", params)


def in_session(method: str, params: Mapping[str, Any], session_id: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the session era."""
    headers = {"mcp-session-id": session_id, "mcp-protocol-version": NEWEST_SESSION.name}
    return message(method, {**params, "_meta": {"progressToken": "call"}}), headers
