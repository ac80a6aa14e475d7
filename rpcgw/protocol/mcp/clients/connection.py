"""How a client reaches one MCP server: address, name, and the header that a token goes into. Pure.

No token is known here. What stands for one is the placeholder of the client that is written for, or `<token>` where the
client has none.
"""

from __future__ import annotations

import re
from typing import Final

from rpcgw.api.records import record

AUTHORIZATION: Final = "Authorization"
VARIABLE: Final = "RPCGW_TOKEN"
"""The environment variable that placeholders name."""
PLACEHOLDER: Final = "<token>"
"""What a person replaces, where the client cannot look anything up."""

_LONGEST: Final = 40
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


@record(frozen=True, slots=True)
class Connection:
    """One server in one version, as a client is told of it.

    `name` is the key under which clients list it, `url` where it takes POST. Where it is `protected`, the token goes
    into `header`: behind `Bearer` in Authorization, bare in any other.
    """

    name: str
    url: str
    protected: bool = False
    header: str = AUTHORIZATION
    description: str | None = None

    @property
    def bearer(self) -> bool:
        """Whether the token is a bearer token (RFC 6750 section 2.1)."""
        return self.header.lower() == AUTHORIZATION.lower()

    def credential(self, token: str) -> str:
        """The header's value with `token` in it."""
        return f"Bearer {token}" if self.bearer else token

    def headers(self, token: str) -> dict[str, dict[str, str]]:
        """`{"headers": {...}}` with `token` for the token; empty where none is needed."""
        return {"headers": {self.header: self.credential(token)}} if self.protected else {}

    def manifest(self, file: str) -> str:
        """Where one of this server's client configurations is."""
        return f"{self.url.rstrip('/')}/manifest/{file}"


def server_key(name: str | None, title: str | None, group: str) -> str:
    """What clients call a server: after its registry name, else its title, else its group.

    Lower-case letters, digits, `-` and `_`, a letter first: every client takes that as a key and as a prefix of tools.
    """
    candidates = ((name or "").rpartition("/")[2], title or "", f"rpcgw-{group}")
    key = next(filter(None, map(_safe, candidates)))
    return key if key[0].isalpha() else f"mcp-{key}"


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-_")[:_LONGEST].rstrip("-_")
