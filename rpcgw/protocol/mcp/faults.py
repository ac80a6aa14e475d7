"""The errors of the MCP envelope: codes, statuses, and the values that carry them. Pure.

What a procedure raises is none of these: it travels inside a tool result (T-16).
"""

from __future__ import annotations

from typing import Final

import msgspec

from rpcgw.api.errors import ScopeMissing
from rpcgw.protocol.mcp.revisions import Era

RequestId = int | str

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
TOO_MANY_REQUESTS: Final = -32029
NOT_NOW: Final = -32053
FORBIDDEN: Final = ScopeMissing.code

_STATELESS_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
    INVALID_PARAMS: 400,
    INTERNAL_ERROR: 500,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    TOO_MANY_REQUESTS: 429,
    NOT_NOW: 503,
}
"""HTTP statuses of errors in the stateless era (MCP 2026-07-28, Streamable HTTP; -32602 and -32603 follow the SDKs)."""


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a well-formed request, before anybody says how it travels. `data` None is not sent.

    `retry_after`: in how many seconds it is worth another try.
    """

    code: int
    message: str
    data: object = None
    retry_after: float | None = None


class Refused(msgspec.Struct, frozen=True):
    """A verdict: this status, this error. `id` is None where the request's id is not known: then none is sent."""

    status: int
    code: int
    message: str
    data: object = None
    id: RequestId | None = None
    retry_after: float | None = None


def status_of(code: int, era: Era) -> int:
    """The HTTP status of an error to a well-formed request.

    403 where a scope is missing: clients ask for more rights by the status (MCP 2025-11-25, Authorization). Else 200 in
    a session: its clients read the error only then, and take a 4xx for a broken transport.
    """
    if code == FORBIDDEN:
        return 403
    return 200 if era == "session" else _STATELESS_STATUS[code]


def refuse(fault: Fault, request_id: RequestId | None, era: Era) -> Refused:
    """A fault on its way to the client."""
    return Refused(status_of(fault.code, era), fault.code, fault.message, fault.data, request_id, fault.retry_after)
