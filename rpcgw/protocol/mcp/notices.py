"""What a client hears of a call that still runs: notifications, and the stream of events that carries them. Pure.

Sources: MCP 2026-07-28, Progress, Logging, Streamable HTTP; the HTML standard, Server-sent events.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from rpcgw.api.context import LOG_LEVELS, LogLevel
from rpcgw.exchange import HeaderFields
from rpcgw.kernel.codec import encode
from rpcgw.protocol.mcp.faults import RequestId

CANCELLED: Final = "notifications/cancelled"
KEEP_ALIVE: Final = b": still at it\n\n"
"""A comment: clients skip it, and what stands between sees that the connection lives."""

_EVENTS: Final = "text/event-stream"
_REFUSED: Final = re.compile(r"q\s*=\s*0(\.0*)?")
_STREAM: Final[HeaderFields] = (
    ("Content-Type", _EVENTS),
    ("Cache-Control", "no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),
    ("Vary", "Accept-Language"),
)


def event(message: bytes) -> bytes:
    """One message as an event; JSON as it is written here stands on one line."""
    return b"event: message\ndata: %b\n\n" % message


@lru_cache(maxsize=256)
def stream_headers(locale: str) -> HeaderFields:
    """The headers of an answer that is a stream; proxies are asked neither to collect nor to change it."""
    return (*_STREAM, ("Content-Language", locale))


@lru_cache(maxsize=256)
def accepts_events(accept: str | None) -> bool:
    """Whether a client lists event streams by name in its `Accept`; a wildcard is no wish for one."""
    return any(_is_wanted(choice) for choice in (accept or "").lower().split(","))


def _is_wanted(choice: str) -> bool:
    media, *parameters = (part.strip() for part in choice.split(";"))
    return media == _EVENTS and not any(map(_REFUSED.fullmatch, parameters))


def token_of(meta: dict[str, Any]) -> RequestId | None:
    """The token under which a client wants to hear of progress; None where it does not."""
    token = meta.get("progressToken")
    return token if type(token) is str or type(token) is int else None


def progress(token: RequestId, done: float, total: float | None, message: str | None) -> bytes:
    """How far a call is."""
    params: dict[str, Any] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None:
        params["message"] = message
    return encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def is_asked(level: LogLevel, threshold: Any) -> bool:
    """Whether a message of a level is to be sent to a client that asks for a threshold; None asks for none."""
    return threshold is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(threshold)


def log(level: LogLevel, data: object, logger: str | None) -> bytes:
    """A message on the way."""
    named = {} if logger is None else {"logger": logger}
    params = {"level": level, **named, "data": data}
    return encode({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


def cancelled(params: dict[str, Any]) -> RequestId | None:
    """Which request a client gives up; None where it does not say."""
    request_id = params.get("requestId")
    return request_id if type(request_id) is str or type(request_id) is int else None
