"""A span for each JSON-RPC call, as OpenTelemetry's semantic conventions for RPC and JSON-RPC name it. Pure."""

from __future__ import annotations

from typing import Final

from rpcgw.api.errors import MethodNotFound
from rpcgw.kernel.call import Call, Failed, Outcome

SYSTEM: Final = "rpc.system.name"
METHOD: Final = "rpc.method"
REQUEST_ID: Final = "jsonrpc.request.id"
STATUS: Final = "rpc.response.status_code"
CLIENT: Final = "client.address"
QUEUE: Final = "messaging.destination.name"

UNKNOWN: Final = "unknown method"
_LONGEST: Final = 100


def attributes(call: Call, request_id: object, queue: str = "") -> dict[str, str]:
    """What is known of a call before it runs; of a notification `request_id` is None. `queue` is where it waited."""
    found = {
        SYSTEM: "jsonrpc",
        METHOD: call.method[:_LONGEST],
        REQUEST_ID: None if request_id is None else str(request_id)[:_LONGEST],
        CLIENT: call.peer or None,
        QUEUE: queue or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def is_unknown(outcome: Outcome) -> bool:
    """Whether there is no such method: its name is a client's, and must not become a span's."""
    return isinstance(outcome, Failed) and isinstance(outcome.error, MethodNotFound)
