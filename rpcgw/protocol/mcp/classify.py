"""What a POST body is: one decision for both eras, the body first, the header a cross-check. Pure.

How the era is decided, first match wins (what the official PHP and TypeScript SDKs do):

1. the body claims a revision in `params._meta`: the era of that revision; one that nobody knows counts as stateless
2. `MCP-Protocol-Version` names a stateless revision: stateless, and a request without the claim is refused
3. otherwise: session. There a header that names no session revision is refused, with a code that no client reads as a
   sign of a stateless server (such a client would not fall back on `initialize`)

A claim that is no text is refused and never falls back on a session.
"""

from __future__ import annotations

from typing import Any, Final

from rpcgw.exchange import Headers
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.faults import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Refused,
    RequestId,
    refuse,
)
from rpcgw.protocol.mcp.ladder import META_VERSION, climb
from rpcgw.protocol.mcp.messages import Batch, Legacy, Message, Modern, Notice
from rpcgw.protocol.mcp.revisions import SESSION, STATELESS, Era

_ABSENT: Final = object()
_QUOTED = 100
_NO_META: Final[dict[str, Any]] = {}

_Envelope = tuple[RequestId | None, str | None, dict[str, Any]]
"""The id (None for a notification), the method (None for a response) and the params of one message."""


def classify(headers: Headers, body: bytes, max_batch: int = 100) -> Message:
    """What a POST asks for, or why it is refused. Never raises, whatever the bytes are."""
    try:
        raw = decode(body)
    except NotJson as error:
        return Refused(400, PARSE_ERROR, f"The body is no valid JSON: {error.reason}")
    if isinstance(raw, list):
        return _batch(raw, headers, max_batch)
    envelope = _envelope(raw)
    if isinstance(envelope, Refused):
        return envelope
    request_id, method, params = envelope
    return _by_era(request_id, method, params, headers)


def _envelope(raw: Any) -> _Envelope | Refused:
    if not isinstance(raw, dict):
        return _invalid("The body must be a JSON-RPC message: a JSON object", None)
    request_id = raw.get("id")
    if type(request_id) is not int and type(request_id) is not str and "id" in raw:
        return _invalid("The id must be a text or a whole number", None)
    flaw = _flaw(raw)
    if flaw:
        return _invalid(flaw, request_id)
    return request_id, raw.get("method"), raw.get("params") or {}


def _flaw(raw: dict[str, Any]) -> str:
    if raw.get("jsonrpc") != "2.0":
        return 'The member "jsonrpc" must be "2.0"'
    if type(raw.get("method")) is not str and ("method" in raw or not ("result" in raw or "error" in raw)):
        return 'The member "method" must be a text'
    params = raw.get("params")
    if params is not None and type(params) is not dict:
        return 'The member "params" must be an object'
    return ""


def _by_era(request_id: RequestId | None, method: str | None, params: dict[str, Any], headers: Headers) -> Message:
    meta = params.get("_meta")
    if type(meta) is not dict:
        meta = _NO_META
    claim = meta.get(META_VERSION, _ABSENT)
    if claim is _ABSENT:
        stateless = any(value in STATELESS for value in fields.values(headers, fields.VERSION))
    elif type(claim) is str:
        stateless = claim not in SESSION
    else:
        return Refused(400, INVALID_PARAMS, f"params._meta: {META_VERSION} must be a text", None, request_id)
    if not stateless:
        return _session(request_id, method, params, headers, claim if type(claim) is str else None)
    if method is None:
        return _invalid("A client sends requests and notifications, no responses", request_id)
    if request_id is None:
        return Notice(method, params, "stateless")
    request = Modern(request_id, method, params, meta, claim if type(claim) is str else "")
    fault = climb(request, headers)
    return request if fault is None else refuse(fault, request_id, "stateless")


def _session(
    request_id: RequestId | None, method: str | None, params: dict[str, Any], headers: Headers, claim: str | None
) -> Message:
    refused = _session_header(request_id, headers, claim)
    if refused is not None:
        return refused
    return _legacy(request_id, method, params)


def _legacy(request_id: RequestId | None, method: str | None, params: dict[str, Any]) -> Legacy | Notice:
    if request_id is None or method is None:
        return Notice(method or "", params, "session")
    return Legacy(request_id, method, params)


def _session_header(request_id: RequestId | None, headers: Headers, claim: str | None) -> Refused | None:
    """MCP 2025-06-18 and later: a revision that is not served is 400. Any session revision is served in any session."""
    found = fields.values(headers, fields.VERSION)
    for value in found:
        if value not in SESSION and value not in STATELESS:
            data = {"supported": list(SESSION), "requested": fields.quotable(value[:_QUOTED])}
            return Refused(400, INVALID_REQUEST, "MCP-Protocol-Version names no revision served here", data, request_id)
    if claim is not None and any(value != claim for value in found):
        text = f"Header mismatch: MCP-Protocol-Version {found[0]!r}, the body says {claim!r}"
        return Refused(400, HEADER_MISMATCH, text, None, request_id)
    return None


def _batch(raw: list[Any], headers: Headers, max_batch: int) -> Batch | Refused:
    if not raw:
        return _invalid("A batch must not be empty", None)
    if len(raw) > max_batch:
        return _invalid(f"A batch may hold {max_batch} messages at most", None)
    era: Era = "stateless" if any(value in STATELESS for value in fields.values(headers, fields.VERSION)) else "session"
    if era == "stateless" or any(map(_claims, raw)):
        return _invalid("This revision has no batches: send one message a request", None)
    return _session_header(None, headers, None) or Batch(tuple(map(_item, raw)))


def _item(raw: Any) -> Legacy | Notice | Refused:
    envelope = _envelope(raw)
    if isinstance(envelope, Refused):
        return envelope
    request_id, method, params = envelope
    if method == "initialize":
        return _invalid("initialize must not be part of a batch", request_id)
    return _legacy(request_id, method, params)


def _claims(raw: Any) -> bool:
    """Whether one message of a batch claims a stateless revision, or claims badly."""
    params = raw.get("params") if type(raw) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    claim = meta.get(META_VERSION, _ABSENT) if type(meta) is dict else _ABSENT
    return claim is not _ABSENT and not (type(claim) is str and claim in SESSION)


def _invalid(message: str, request_id: RequestId | None) -> Refused:
    return Refused(400, INVALID_REQUEST, message, None, request_id)
