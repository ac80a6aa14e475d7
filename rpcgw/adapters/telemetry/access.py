"""The access log: a line for each HTTP request that an endpoint, or nothing, answered. Health and metrics have none."""

from __future__ import annotations

from rpcgw.adapters.telemetry.log import Log
from rpcgw.exchange import Answered, Head
from rpcgw.protocol.trace import context, trace_id

_LONGEST = 500


class AccessLog:
    """Lines of an access log: `rpcgw.exchange.Traffic`. A query is left out: it may hold what nobody should read."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __call__(self, endpoint: str) -> Answered:
        """What writes the lines of one endpoint."""
        log = self._log

        def answered(head: Head, status: int, received: int, sent: int, seconds: float) -> None:
            fields = {
                "timestamp": log.now(),
                "level": "info",
                "event": "access",
                "endpoint": endpoint,
                "http_method": head.method[:_LONGEST],
                "path": head.path[:_LONGEST],
                "status": status,
                "bytes_in": received,
                "bytes_out": sent,
                "duration_ms": round(seconds * 1e3, 3),
                "peer": head.peer,
                "user_agent": (head.headers.get("user-agent") or "")[:_LONGEST],
            }
            if traced := context(head.headers):
                fields["trace_id"] = trace_id(traced)
            log.line(fields)

        return answered
