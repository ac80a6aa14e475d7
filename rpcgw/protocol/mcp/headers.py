"""Header values that repeat what the body says (MCP 2026-07-28, Streamable HTTP, Request Metadata). Pure."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from rpcgw.exchange import Headers

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"
SESSION: Final = "mcp-session-id"
PARAM: Final = "mcp-param-"

BLANKS: Final = " \t"
_SENTINEL_START: Final = "=?base64?"
_SENTINEL_END: Final = "?="
_SAFE: Final = re.compile(r"[\t -~]*")


def values(headers: Headers, name: str) -> list[str]:
    """Every value of a field, blanks around it left out."""
    return [value.strip(BLANKS) for value in headers.getall(name, [])]


def quotable(value: str) -> str:
    """A value as an answer may repeat it: the door hands on bytes that are no UTF-8, and JSON has no form for them."""
    return value.encode(errors="replace").decode()


def decoded(value: str) -> str | None:
    """What a header value means: itself, or what its Base64 sentinel holds; None where it is neither.

    Text without the exact prefix and suffix is literal. Padding, alphabet and UTF-8 are held to the letter.
    """
    value = value.strip(BLANKS)
    if not _is_sentinel(value):
        return value if value.isascii() and (value.isprintable() or _SAFE.fullmatch(value)) else None
    try:
        return base64.b64decode(value[len(_SENTINEL_START) : -len(_SENTINEL_END)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _is_sentinel(value: str) -> bool:
    return (
        value.startswith(_SENTINEL_START)
        and value.endswith(_SENTINEL_END)
        and len(value) >= len(_SENTINEL_START) + len(_SENTINEL_END)
    )
