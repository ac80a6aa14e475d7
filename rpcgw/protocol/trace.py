"""Trace context (W3C Trace Context, W3C Baggage): where a call comes from in a chain of calls. Pure.

A context is a mapping of `traceparent`, and of `tracestate` and `baggage` where they came along. One whose
`traceparent` is malformed names no chain of calls and counts as none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

KEYS: Final = ("traceparent", "tracestate", "baggage")
NONE: Final[Mapping[str, str]] = {}
_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_LONGEST: Final = 8192


class Fields(Protocol):
    """Values by lower-case name: headers, or a plain mapping."""

    def get(self, name: str, /) -> Any:
        """A value, or None."""


def context(fields: Fields) -> Mapping[str, str]:
    """The trace context that came with a request's headers, or with the `_meta` of an MCP message (SEP-414)."""
    parent = fields.get("traceparent")
    if parent is None or type(parent) is not str or _TRACEPARENT.fullmatch(parent) is None:
        return NONE
    found = {key: fields.get(key) for key in KEYS}
    return {key: value for key, value in found.items() if type(value) is str and len(value) <= _LONGEST}


def trace_id(traced: Mapping[str, str]) -> str:
    """The 32 hex digits that a whole chain of calls has in common; "" where there is no context."""
    parent = traced.get("traceparent")
    return parent[3:35] if parent is not None else ""
