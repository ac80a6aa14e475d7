"""Tokens of a group: who holds one of them. Pure; only the tokens' SHA-256 is known here, never a token.

A token comes in the group's own header or as `Authorization: Bearer` (RFC 6750 section 2.1), never in the query string,
which ends up in logs and histories. All entries are compared in constant time, whatever the outcome.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final

from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.exchange import Headers

AUTHORIZATION: Final = "authorization"
WRONG_TOKEN: Final = "wrong token"  # noqa: S105 -- the name of a guard
"""Who refused a request whose token nobody has, in logs and metrics."""
_BEARER = "bearer "


@record(frozen=True)
class Denied:
    """Why nobody was recognised. `failed`: nobody can tell whose the token is."""

    value: str
    failed: bool = False

    ABSENT: ClassVar[Denied]
    WRONG: ClassVar[Denied]
    EXPIRED: ClassVar[Denied]


Denied.ABSENT = Denied("no token")
Denied.WRONG = Denied("not a token of this group")
Denied.EXPIRED = Denied("a token that has expired")


@record(frozen=True, slots=True)
class Holder:
    """One token: SHA-256 of it, whom it stands for, and when it ends (seconds since the epoch; None: never)."""

    digest: bytes
    principal: Principal
    expires: float | None = None


@record(frozen=True, slots=True)
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
        """The token that came. The group's own header wins."""
        own = headers.get(self.header)
        if own is not None and self.header != AUTHORIZATION:
            return own
        bearer = bearer_of(headers)
        return own if bearer is None else bearer

    def holder(self, token: str, now: float) -> Principal | Denied:
        """Whom a token stands for; `now` is seconds since the epoch."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        found: Holder | None = None
        for holder in self.holders:
            if hmac.compare_digest(holder.digest, digest):
                found = holder
        if found is None:
            return Denied.WRONG if self.validator is None else _asked(self.validator, token)
        return Denied.EXPIRED if found.expires is not None and found.expires <= now else found.principal


def bearer_of(headers: Headers) -> str | None:
    """The token of `Authorization: Bearer`; another scheme is not our business.

    Of two such fields none counts: whoever stands before us may have judged by the other one.
    """
    values = headers.getall(AUTHORIZATION, [])
    value = values[0] if len(values) == 1 else None
    if value is not None and value[: len(_BEARER)].lower() == _BEARER:
        return value[len(_BEARER) :].strip(" ")
    return None


def compile_tokens(
    header: str,
    entries: Iterable[tuple[str, str, float | None]],
    validator: Callable[[str], Principal | None] | None = None,
    scopes: Mapping[str, frozenset[str]] | None = None,
) -> Tokens:
    """Make tokens of (name, SHA-256 in hex, expiry or None), and of who knows further ones; `scopes` are by name.

    Raises:
        ValueError: A digest is not 64 hex digits.
    """
    allowed = scopes or {}
    holders = tuple(
        Holder(_digest(sha256), Principal(name, allowed.get(name, frozenset()), expires=end), end)
        for name, sha256, end in entries
    )
    return Tokens(header.lower(), holders, validator)


def _asked(validator: Callable[[str], Principal | None], token: str) -> Principal | Denied:
    """Whose a plugin says that a token is. What it raises, and what is no answer, never lets anybody in.

    The words of an exception are kept back: they may be the token.
    """
    try:
        known: object = validator(token)
    except BaseException as error:  # noqa: BLE001 -- the author's code; nobody is let in
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Denied(f"the validator raised {type(error).__name__} ({frame.filename}:{frame.lineno})", failed=True)
    if known is None:
        return Denied.WRONG
    if isinstance(known, Principal):
        return known
    if inspect.iscoroutine(known):
        known.close()
    return Denied(f"the validator answered {type(known).__name__}, which is no rpc.Principal", failed=True)


def _digest(sha256: str) -> bytes:
    digest = bytes.fromhex(sha256)
    if len(digest) != hashlib.sha256().digest_size:
        raise ValueError(f"{sha256!r} is no SHA-256: 64 hex digits are needed")
    return digest
