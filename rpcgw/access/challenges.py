"""What tells a client how to show a token, and which (`WWW-Authenticate`). Pure.

Sources: RFC 6750 section 3 (Bearer), RFC 9728 section 5.1 (`resource_metadata`), MCP 2025-11-25, Authorization.
"""

from __future__ import annotations

from collections.abc import Iterable

from rpcgw.exchange import HeaderFields


def bearer(metadata_url: str = "", scopes: Iterable[str] = (), error: str = "", description: str = "") -> HeaderFields:
    """The header of a 401 or 403; what is empty is left out.

    Args:
        metadata_url: Where the protected resource's metadata is.
        scopes: What a token should allow.
        error: `invalid_token` or `insufficient_scope`; nothing where no token came.
        description: Why, for a person; plain ASCII without quotes.
    """
    members = {
        "error": error,
        "error_description": description,
        "scope": " ".join(sorted(scopes)),
        "resource_metadata": metadata_url,
    }
    said = ", ".join(f'{name}="{value}"' for name, value in members.items() if value)
    return (("WWW-Authenticate", f"Bearer {said}".rstrip()),)


def insufficient_scope(metadata_url: str, scopes: Iterable[str]) -> HeaderFields:
    """The header of a 403 to who is known, and lacks a scope: all that the call needs is named."""
    return bearer(metadata_url, scopes, "insufficient_scope")
