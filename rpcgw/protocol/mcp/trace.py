"""Trace context that a client sends in `params._meta` (W3C Trace Context; MCP SEP-414). Pure.

It is carried on as it came: a malformed one is nobody's to refuse here, it only names no chain of calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

KEYS: Final = ("traceparent", "tracestate", "baggage")
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_NONE: Final[Mapping[str, str]] = {}


def read(meta: Any) -> Mapping[str, str]:
    """The trace members of a `_meta`, unchanged."""
    if type(meta) is not dict or "traceparent" not in meta:
        return _NONE
    return {key: meta[key] for key in KEYS if type(meta.get(key)) is str}


def ray_id(traced: Mapping[str, str]) -> str:
    """The trace id; "" where there is none that could be read."""
    found = _TRACEPARENT.fullmatch(traced.get("traceparent", "")) if traced else None
    return found[1] if found else ""
