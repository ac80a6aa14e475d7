"""Messages of a queue: `{"request": {...}, "token": "..."}`, read and written. Pure.

Anybody may produce them. Beside the two members a message may name the API `group` (else `general`), the `version`
(2 or "v2", else 1), the `locale`, and `headers`: tracing fields for the callback. A bare JSON-RPC request is a message
without a token. Other members are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.kernel.codec import NotJson, decode, encode
from rpcgw.protocol.jsonrpc.envelope import Fault, Request, read_request
from rpcgw.protocol.jsonrpc.special import SPECIAL, written_special

TRACING: Final = ("x-request-id", "x-correlation-id", "traceparent", "tracestate", "baggage")
"""The fields of a request that its webhook carries too, and no others."""
_LONGEST_FIELD: Final = 8192
_VERSION: Final = re.compile(r"v?([1-9][0-9]{0,8})")
_FIELD: Final = re.compile(r"[\x20-\x7e\x80-\xff]*")


class Fields(Protocol):
    """Values by lower-case name: headers, or a plain mapping."""

    def get(self, name: str, /) -> Any:
        """A value, or None."""


class Job(msgspec.Struct, frozen=True):
    """A call that waits in a queue. `token` is what its producer shows, None where it shows none."""

    request: Request
    token: str | None = None
    group: str = DEFAULT_GROUP
    version: int = 1
    locale: str = ""
    headers: Mapping[str, str] = {}


def read_job(body: bytes) -> Job | str:
    """A message, or why it cannot be read."""
    try:
        value = decode(body)
    except NotJson as problem:
        return f"the message is no JSON: {problem.reason}"
    if type(value) is not dict:
        return "the message must be a JSON object"
    bare = "request" not in value and "method" in value
    request = read_request(value if bare else value.get("request"))
    if isinstance(request, Fault):
        return f"the request cannot be read: {request.error.message} {_listed(request.error.extra)}".rstrip()
    return Job(request) if bare else _with_members(request, value)


def write_job(job: Job) -> bytes:
    """A message that `read_job` reads as the same job."""
    request = job.request
    special = written_special(request.special)
    params: Any = request.params
    if special:
        params = {**(request.params if isinstance(request.params, dict) else {}), SPECIAL: special}
    envelope = {"jsonrpc": "2.0", "id": request.id, "method": request.method, "params": params}
    message = {
        "request": {name: value for name, value in envelope.items() if value is not None},
        "token": job.token,
        "group": job.group,
        "version": job.version,
        "locale": job.locale or None,
        "headers": dict(job.headers) or None,
    }
    return encode({name: value for name, value in message.items() if value is not None})


def tracing(fields: Fields) -> dict[str, str]:
    """Of a message's or a request's fields, by lower-case name, those that a webhook carries on."""
    found = {name: fields.get(name) for name in TRACING}
    return {name: value for name, value in found.items() if isinstance(value, str) and _is_field(value)}


def _with_members(request: Request, value: dict[str, Any]) -> Job | str:
    token, group, locale = value.get("token"), value.get("group", DEFAULT_GROUP), value.get("locale", "")
    headers = value.get("headers", {})
    version = _VERSION.fullmatch(str(value.get("version", 1)))
    checks = (
        ("token", token is None or type(token) is str),
        ("group", type(group) is str),
        ("version", version is not None and type(value.get("version", 1)) in (int, str)),
        ("locale", type(locale) is str),
        ("headers", type(headers) is dict),
    )
    if wrong := [name for name, fine in checks if not fine]:
        return f"the message's {', '.join(wrong)} cannot be read"
    assert version is not None, "it has been checked"
    lower = {name.lower(): field for name, field in headers.items()}
    return Job(request, token, group, int(version[1]), locale, tracing(lower))


def _is_field(value: str) -> bool:
    """Whether a text can be sent as a header's value."""
    return len(value) <= _LONGEST_FIELD and _FIELD.fullmatch(value) is not None


def _listed(extra: Mapping[str, object]) -> str:
    texts = {name: found if isinstance(found, list) else [found] for name, found in extra.items()}
    return "; ".join(f"{name}: {text}" for name, found in texts.items() for text in found)
