"""One call and its outcome: the values that the pipeline is about. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from rpcgw.api.context import ANONYMOUS, CallContext, Client, Principal, Surface
from rpcgw.api.errors import RpcError
from rpcgw.kernel.codec import encode
from rpcgw.kernel.gate import Verdict


class Call(msgspec.Struct, frozen=True):
    """One procedure call, whatever surface it came through.

    `params` are named, positional, or None where absent. `id` is the kernel's own, never the client's. `gated` is the
    verdict of the method's gate where the surface has asked it already (MCP), None where the pipeline has to.
    `refused` is an error that the surface found and the pipeline is to tell (a batch's reference that leads nowhere).
    `headers` are fields of the request that the operator forwards, and its trace context; `token` is what the caller
    showed, only where somebody is to use it. `trace` is the W3C trace context that the call belongs to (empty: none),
    `peer` the address that it came from. `client` is who waits for the call, where the surface lets procedures speak to
    them.
    `depth` is how many calls it was made out of, one out of the other.
    `strict` surfaces (MCP, the page) enforce the advertised form, of results too; the others also take the kernel's
    lenient forms.
    """

    method: str
    group: str
    version: int
    params: dict[str, Any] | list[Any] | None
    id: str
    surface: Surface
    principal: Principal = ANONYMOUS
    locale: str = "en"
    ray_id: str = ""
    headers: Mapping[str, str] = {}
    timeout: float | None = None
    ignore_cache: bool = False
    strict: bool = False
    gated: Verdict | None = None
    refused: RpcError | None = None
    client: Client | None = None
    depth: int = 0
    trace: Mapping[str, str] = {}
    peer: str = ""
    token: str | None = None


class Done(msgspec.Struct, frozen=True):
    """The call succeeded: `encoded` is the result's JSON, ready to be spliced. `after` fires `rpc.post_response`.

    `structured` is the JSON object that a `ToolResult` carries beside its blocks.
    """

    encoded: bytes
    cached: bool = False
    after: Callable[[], Awaitable[None]] | None = None
    structured: bytes | None = None


class Failed(msgspec.Struct, frozen=True):
    """The call failed: the error as the client may see it, rendered for the environment.

    `ready` is the error object's JSON where it was made already, for several calls that fail alike.
    """

    code: int
    message: str
    data: dict[str, Any]
    error: RpcError
    ready: bytes | None = None

    def body(self) -> dict[str, Any]:
        """The JSON-RPC error object."""
        return {"code": self.code, "message": self.message, "data": self.data}

    @property
    def encoded(self) -> bytes:
        """The same as JSON, ready to be spliced."""
        return encode(self.body()) if self.ready is None else self.ready


Outcome = Done | Failed

__all__ = ["Call", "CallContext", "Done", "Failed", "Outcome"]
