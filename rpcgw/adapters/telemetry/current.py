"""Which call is running, and what lines say of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from rpcgw.kernel.call import Call
from rpcgw.protocol.trace import trace_id

CURRENT: ContextVar[Call | None] = ContextVar("rpcgw_current_call", default=None)
"""The call whose code is running: its ids are added to what the code logs."""


def context() -> Mapping[str, Any]:
    """The ids of the call whose code is running, and what a plugin has bound by structlog, if it uses that."""
    look = getattr(sys.modules.get("structlog.contextvars"), "get_contextvars", dict)
    bound: Mapping[str, Any] = look()
    call = CURRENT.get()
    if call is None:
        return bound
    ids = {"id": call.id, "ray_id": call.ray_id, "group": call.group, "method": call.method}
    if call.trace:
        ids["trace_id"] = trace_id(call.trace)
    return {**bound, **ids}
