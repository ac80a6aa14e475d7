"""HTTP requests as numbers, and as lines of the access log: `rpcgw.exchange.Traffic` of a worker."""

from __future__ import annotations

from collections.abc import Callable

from rpcgw.adapters.telemetry import families
from rpcgw.adapters.telemetry.slots import Slots, thrice
from rpcgw.exchange import Answered, Head, Traffic


class Counted:
    """Counts the answers of each endpoint: by status, their time, both bodies' sizes. `access` is told of each too."""

    def __init__(self, slots: Slots, access: Traffic | None = None) -> None:
        self._slots = slots
        self._access = access

    def __call__(self, endpoint: str) -> Answered:
        """What counts for one endpoint; all but its statuses is bound here."""
        slots, access = self._slots, None if self._access is None else self._access(endpoint)
        by_status: dict[int, Callable[[float, float, float], None]] = {}
        took = slots.histogram(families.REQUEST_SECONDS, endpoint)
        took_in = slots.histogram(families.REQUEST_BYTES, endpoint)
        gave_out = slots.histogram(families.RESPONSE_BYTES, endpoint)

        def answered(head: Head, status: int, received: int, sent: int, seconds: float) -> None:
            tell = by_status.get(status)
            if tell is None:
                number = slots.number(families.REQUESTS, endpoint, str(status))
                tell = by_status[status] = thrice(number, took, took_in, gave_out)
            tell(seconds, received, sent)
            if access is not None:
                access(head, status, received, sent, seconds)

        return answered
