"""The events of a call, in the order in which they fire.

`RequestReceived` -> `PreExecute` -> `PreResponse` -> `PostExecute`, and `PostResponse` once the answer is on the wire;
`ErrorRaised` once for each failure. Listeners are ordered by priority (high first), sync or async, hold no state of a
call, and may raise an `RpcError` to veto. An event's open fields may be replaced; the rest is there to be read.
"""

from __future__ import annotations

from typing import Any

from rpcgw.api.context import CallContext
from rpcgw.api.errors import RpcError
from rpcgw.api.records import record


@record(slots=True)
class RequestReceived:
    """`rpc.request`: a call was accepted and nothing has run, the method is not even looked up.

    `params` are as they came, by name or by position. They may be replaced or changed: they are checked afterwards.
    """

    context: CallContext
    params: dict[str, Any] | list[Any]


@record(slots=True)
class PreExecute:
    """`rpc.pre_execute`: bound, checked, converted `params`. They may be replaced, and are then not checked again."""

    context: CallContext
    params: dict[str, Any]


@record(slots=True)
class PreResponse:
    """`rpc.pre_response`: `result` is the procedure's value and may be replaced."""

    context: CallContext
    params: dict[str, Any]
    result: Any


@record(slots=True)
class PostExecute:
    """`rpc.post_execute`: the raw `result` of the procedure, to look at."""

    context: CallContext
    params: dict[str, Any]
    result: Any


@record(slots=True)
class ErrorRaised:
    """`rpc.error`: fires once for each failure. `error` may be replaced; `cause` is what was really raised."""

    context: CallContext
    cause: BaseException
    error: RpcError


@record(slots=True)
class PostResponse:
    """`rpc.post_response`: the answer is on the wire; once for each executed success, never from the cache."""

    context: CallContext
    params: dict[str, Any]
    result: Any


EVENT_NAMES: dict[type, str] = {
    RequestReceived: "rpc.request",
    PreExecute: "rpc.pre_execute",
    PreResponse: "rpc.pre_response",
    PostExecute: "rpc.post_execute",
    ErrorRaised: "rpc.error",
    PostResponse: "rpc.post_response",
}
"""Each event class's name in the original's words."""
