"""JSON-RPC 2.0 envelopes: bytes -> requests and faults. Pure; never raises, whatever the bytes.

Sources: JSON-RPC 2.0 sections 4 (request), 4.1 (notification), 6 (batch). Where the specification leaves a choice: a
missing `jsonrpc` counts as "2.0", an id is a string or an integer (`null` looks like a notification and is refused),
unknown members are ignored, and of a member given twice the last one holds.
"""

from __future__ import annotations

from typing import Any

import msgspec

from rpcgw.api.errors import BatchError, InvalidRequest, ParseError, RpcError
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.kernel.language import Phrase
from rpcgw.protocol.jsonrpc.special import NO_SPECIAL, SPECIAL, Special, read_special

Id = str | int


class Request(msgspec.Struct, frozen=True):
    """One call as the client asks for it. Without an `id` it is a notification. Empty params are None."""

    method: str
    params: dict[str, Any] | list[Any] | None
    id: Id | None
    special: Special = NO_SPECIAL


class Fault(msgspec.Struct, frozen=True):
    """What cannot be run and why. `id` is the client's where it could be read; a `silent` one is never answered."""

    error: RpcError
    id: Id | None = None
    silent: bool = False


class Batch(msgspec.Struct, frozen=True):
    """Several requests in the client's order, each one sound or a fault of its own."""

    items: tuple[Request | Fault, ...]


Message = Request | Fault | Batch

_ABSENT: Any = object()
_NO_OBJECT = Phrase("envelope.no_object")
_BAD_VERSION = Phrase("envelope.version")
_BAD_METHOD = Phrase("envelope.method")
_BAD_ID = Phrase("envelope.id")
_BAD_PARAMS = Phrase("envelope.params")


def read(body: bytes, max_batch: int) -> Message:
    """What a body asks for; a batch of more than `max_batch` requests is one fault."""
    try:
        value = decode(body)
    except NotJson as problem:
        return Fault(ParseError(extra={"reason": problem.reason}))
    if type(value) is not list:
        return read_request(value)
    if not value:
        return Fault(InvalidRequest(Phrase("error.empty_batch")))
    if len(value) > max_batch:
        return Fault(BatchError(Phrase("error.long_batch", most=max_batch, given=len(value))))
    return Batch(tuple(read_request(item) for item in value))


def read_request(value: Any) -> Request | Fault:
    """One request of a body that has been decoded."""
    if type(value) is not dict:
        return Fault(InvalidRequest(extra={"request": [_NO_OBJECT]}))
    method = value.get("method")
    identifier = value.get("id", _ABSENT)
    params = value.get("params")
    if not (
        value.get("jsonrpc", "2.0") == "2.0"
        and type(method) is str
        and method.strip()
        and (identifier is _ABSENT or _is_id(identifier))
        and (params is None or type(params) is dict or type(params) is list)
    ):
        return _fault(value)
    known = None if identifier is _ABSENT else identifier
    if type(params) is dict and SPECIAL in params:
        return _with_special(method, params, known)
    return Request(method, params or None, known)


def _with_special(method: str, params: dict[str, Any], identifier: Id | None) -> Request | Fault:
    """Split `$rpc` off, so that a method never sees it."""
    special = read_special(params[SPECIAL])
    if isinstance(special, RpcError):
        return Fault(special, identifier, silent=identifier is None)
    own = {name: value for name, value in params.items() if name != SPECIAL}
    return Request(method, own or None, identifier, special)


def _is_id(value: Any) -> bool:
    return type(value) is str or type(value) is int


def _fault(value: dict[str, Any]) -> Fault:
    """Every wrong member of an envelope at once; the id goes back where it is one."""
    method, identifier = value.get("method"), value.get("id", _ABSENT)
    checks = (
        ("jsonrpc", value.get("jsonrpc", "2.0") == "2.0", _BAD_VERSION),
        ("method", isinstance(method, str) and bool(method.strip()), _BAD_METHOD),
        ("id", identifier is _ABSENT or _is_id(identifier), _BAD_ID),
        ("params", isinstance(value.get("params"), dict | list | None), _BAD_PARAMS),
    )
    extra = {member: [message] for member, fine, message in checks if not fine}
    return Fault(InvalidRequest(extra=extra), identifier if _is_id(identifier) else None)
