"""The ladder that a request of the stateless era climbs before anybody looks for its method. Pure.

First failure wins, in this order (MCP 2026-07-28, Streamable HTTP and Base Protocol):

1. `params._meta` holds the revision (a text) and the client's capabilities (an object): -32602
2. `MCP-Protocol-Version` is there, once, and says what `_meta` says: -32020
3. the revision is one that is served: -32022 with `supported` and `requested`
4. `Mcp-Method` is there, once, and says what `method` says: -32020
5. `Mcp-Name` is there, once, and says what `params` says, for the methods that name something: -32020
6. `logLevel`, where given, is one of the protocol's: -32602

A client that contradicts itself is told so before it is told that its revision is not served. Whether the method
exists is no rung. A body that names nothing usable passes rung 5: what is wrong with its params is the method's
business.
"""

from __future__ import annotations

from typing import Final

from rpcgw.api.context import LOG_LEVELS
from rpcgw.exchange import Headers
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.faults import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, Fault
from rpcgw.protocol.mcp.messages import Modern
from rpcgw.protocol.mcp.revisions import STATELESS

META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"

NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Which member of `params` the header `Mcp-Name` repeats, by method."""

_QUOTED: Final = 100
_NONE: Final[list[str]] = []


def climb(request: Modern, headers: Headers) -> Fault | None:
    """None where a request of the stateless era may go on to its method."""
    if _agrees(request, headers):
        return None
    return (
        _meta(request)
        or _version_header(request, headers)
        or _version_served(request)
        or _method_header(request, headers)
        or _name_header(request, headers)
        or _log_level(request)
    )


def _agrees(request: Modern, headers: Headers) -> bool:
    """Whether all is there and repeated to the letter, as nearly always: then no rung can refuse it."""
    meta, method, member = request.meta, request.method, NAMED_BY.get(request.method)
    name = "" if member is None else request.params.get(member)
    return (
        request.revision in STATELESS
        and meta.get(META_VERSION) == request.revision
        and type(meta.get(META_CAPABILITIES)) is dict
        and META_LOG_LEVEL not in meta
        and headers.getall(fields.VERSION, _NONE) == [request.revision]
        and headers.getall(fields.METHOD, _NONE) == [method]
        and (member is None or (headers.getall(fields.NAME, _NONE) == [name] and fields.decoded(str(name)) == name))
    )


def _meta(request: Modern) -> Fault | None:
    meta = request.meta
    if type(meta.get(META_VERSION)) is str and type(meta.get(META_CAPABILITIES)) is dict:
        return None
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in meta]
    if missing:
        return Fault(INVALID_PARAMS, f"params._meta must hold {' and '.join(missing)} in every request")
    return Fault(INVALID_PARAMS, f"params._meta: {META_VERSION} must be a text, {META_CAPABILITIES} an object")


def _version_header(request: Modern, headers: Headers) -> Fault | None:
    found = headers.getall(fields.VERSION, _NONE)
    if len(found) == 1 and found[0].strip(fields.BLANKS) == request.revision:
        return None
    return _mismatch("MCP-Protocol-Version", found, request.revision)


def _version_served(request: Modern) -> Fault | None:
    if request.revision in STATELESS:
        return None
    data = {"supported": list(STATELESS), "requested": request.revision}
    return Fault(UNSUPPORTED_VERSION, f"Unsupported protocol version: {request.revision[:_QUOTED]}", data)


def _method_header(request: Modern, headers: Headers) -> Fault | None:
    found = headers.getall(fields.METHOD, _NONE)
    if len(found) == 1 and found[0].strip(fields.BLANKS) == request.method:
        return None
    return _mismatch("Mcp-Method", found, request.method)


def _name_header(request: Modern, headers: Headers) -> Fault | None:
    member = NAMED_BY.get(request.method)
    if member is None:
        return None
    name = request.params.get(member)
    if type(name) is not str:
        return None
    found = headers.getall(fields.NAME, _NONE)
    if len(found) == 1 and fields.decoded(found[0]) == name:
        return None
    return _mismatch("Mcp-Name", found, name)


def _log_level(request: Modern) -> Fault | None:
    level = request.meta.get(META_LOG_LEVEL)
    if level is None or (type(level) is str and level in LOG_LEVELS):
        return None
    return Fault(INVALID_PARAMS, f"{META_LOG_LEVEL} must be one of {', '.join(sorted(LOG_LEVELS))}")


def _mismatch(label: str, found: list[str], expected: str) -> Fault:
    """A header must be there exactly once and repeat what the body says; values are compared to the letter."""
    if len(found) != 1:
        problem = "is sent more than once" if found else "is missing"
        return Fault(HEADER_MISMATCH, f"Header mismatch: {label} {problem}; it must repeat {expected[:_QUOTED]!r}")
    text = f"Header mismatch: {label} says {found[0][:_QUOTED]!r}, the body says {expected[:_QUOTED]!r}"
    return Fault(HEADER_MISMATCH, text)
