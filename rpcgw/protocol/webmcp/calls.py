"""Calls from a page: what is asked for, and the answer as the page hands it to its agent. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rpcgw.exchange import HeaderFields, Rejected, Reply
from rpcgw.kernel.call import Done, Failed
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.protocol.webmcp import tokens

LARGEST: Final = 65_536
"""The most bytes that a call from a page has."""
JSON: Final[HeaderFields] = (
    ("Content-Type", "application/json"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
)
_CODES: Final[Mapping[int, str]] = {
    401: "token-needed",
    403: "foreign-page",
    404: "unknown-tool",
    409: "confirmation-needed",
    429: "too-many",
    503: "unavailable",
}
MALFORMED: Final = Rejected(400, 0, "The body must be an object with tool, token and arguments")
UNKNOWN: Final = Rejected(404, 0, "There is no such tool on this site now")
UNCONFIRMED: Final = Rejected(409, 0, "The visitor has to agree first")
FOREIGN: Final = Rejected(403, 0, "Only pages of this site may call its tools")
TOKENS: Final = {
    tokens.Refused.INVALID: "The token is not for this tool. Load the page again.",
    tokens.Refused.EXPIRED: "This page is too old. Load it again.",
}

_text = msgspec.json.Encoder().encode


class Asked(msgspec.Struct, frozen=True):
    """What a page asks for; `confirmed` says that the visitor was asked and agreed."""

    tool: str
    token: str
    arguments: dict[str, Any] = {}
    confirmed: bool = False


def read(body: bytes) -> Asked | None:
    """What a body asks for; None where it is not of the form. Numbers are as exact as everywhere."""
    try:
        return msgspec.convert(decode(body), Asked, strict=True)
    except (NotJson, msgspec.ValidationError):
        return None


def done(outcome: Done, *, content: bool) -> bytes:
    """The result of a call that succeeded; `content` says that it is content blocks already."""
    if content:
        structured = b"" if outcome.structured is None else b',"structuredContent":%b' % outcome.structured
        return b'{"content":%b%b,"isError":false}' % (outcome.encoded, structured)
    return b'{"content":[{"type":"text","text":%b}],"structuredContent":{"result":%b},"isError":false}' % (
        _text(outcome.encoded.decode()),
        outcome.encoded,
    )


def failed(outcome: Failed) -> bytes:
    """The result of a call that failed: what was wrong, for the agent to mend."""
    return b'{"content":[{"type":"text","text":%b}],"isError":true}' % _text(outcome.encoded.decode())


def refused(verdict: Rejected, code: str = "") -> Reply:
    """A call that was not run."""
    error = {"code": code or _CODES.get(verdict.status, "malformed"), "message": verdict.message}
    return Reply(verdict.status, msgspec.json.encode({"error": error}), JSON + verdict.headers)
