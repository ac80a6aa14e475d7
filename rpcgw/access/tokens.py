"""Tokens of a group: who holds one of them. Pure; only the tokens' SHA-256 is known here, never a token.

A token comes in the group's own header or as `Authorization: Bearer` (RFC 6750 section 2.1), never in the query string,
which ends up in logs and histories. All entries are compared in constant time, whatever the outcome.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rpcgw.api.context import Principal
from rpcgw.exchange import Headers

AUTHORIZATION: Final = "authorization"
WRONG_TOKEN: Final = "wrong token"  # noqa: S105 -- the name of a guard
"""Who refused a request whose token nobody has, in logs and metrics."""
_BEARER = "bearer "


class Denied(Enum):
    """Why nobody was recognised."""

    ABSENT = "no token"
    WRONG = "not a token of this group"
    EXPIRED = "a token that has expired"


@dataclass(frozen=True, slots=True)
class Holder:
    """One token: SHA-256 of it, whom it stands for, and when it ends (seconds since the epoch; None: never)."""

    digest: bytes
    principal: Principal
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a protected group accepts. `header` is the lower-case name of the group's own token header.

    `validator` says whose a token is that no holder has. Without it no holders at all means that nobody is let in.
    """

    header: str
    holders: tuple[Holder, ...]
    validator: Callable[[str], Principal | None] | None = None

    def identify(self, headers: Headers, now: float) -> Principal | Denied:
        """Who sent this; `now` is seconds since the epoch."""
        presented = self.presented(headers)
        return Denied.ABSENT if presented is None else self.holder(presented, now)

    def presented(self, headers: Headers) -> str | None:
        """The token that came. The group's own header wins; another scheme of Authorization is not our business."""
        own = headers.get(self.header)
        if own is not None and self.header != AUTHORIZATION:
            return own
        value = headers.get(AUTHORIZATION)
        if value is not None and value[: len(_BEARER)].lower() == _BEARER:
            return value[len(_BEARER) :].strip(" ")
        return own

    def holder(self, token: str, now: float) -> Principal | Denied:
        """Whom a token stands for; `now` is seconds since the epoch."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        found: Holder | None = None
        for holder in self.holders:
            if hmac.compare_digest(holder.digest, digest):
                found = holder
        if found is None:
            known = None if self.validator is None else self.validator(token)
            return Denied.WRONG if known is None else known
        return Denied.EXPIRED if found.expires is not None and found.expires <= now else found.principal


def compile_tokens(
    header: str,
    entries: Iterable[tuple[str, str, float | None]],
    validator: Callable[[str], Principal | None] | None = None,
) -> Tokens:
    """Make tokens of (name, SHA-256 in hex, expiry or None), and of who knows further ones.

    Raises:
        ValueError: A digest is not 64 hex digits.
    """
    holders = tuple(Holder(_digest(sha256), Principal(name), end) for name, sha256, end in entries)
    return Tokens(header.lower(), holders, validator)


def _digest(sha256: str) -> bytes:
    digest = bytes.fromhex(sha256)
    if len(digest) != hashlib.sha256().digest_size:
        raise ValueError(f"{sha256!r} is no SHA-256: 64 hex digits are needed")
    return digest
