"""Access tokens that an authorization server issued: what their claims must say, and who shows one. Pure.

Sources: OAuth 2.1, RFC 9068 (JWT access tokens), RFC 7662 (introspection), RFC 9728 (protected resource metadata), MCP
2025-11-25, Authorization. Signatures are checked before, by an `Authority`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeGuard

from rpcgw.access.tokens import bearer_of
from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.exchange import Headers

_TYPES: Final = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
"""What a JWT may call itself; an ID token has no type of its own and is told by its audience."""

_FAR: Final = 1e12
"""Seconds since the epoch that no date has."""

EXPIRED: Final = "the token has expired"


@record(frozen=True, slots=True)
class Invalid:
    """A token that is not taken; `reason` is for logs, and short enough for a client."""

    reason: str


@record(frozen=True, slots=True)
class Unavailable:
    """Nobody can say whose a token is: the authorization server is away; `reason` is for logs."""

    reason: str


@record(frozen=True, slots=True)
class Expected:
    """What a token's claims must say: who issued it, whom it is for; `leeway` in seconds."""

    issuer: str
    audiences: frozenset[str]
    leeway: float = 30.0


class Authority(Protocol):
    """Says whose an access token is."""

    def recall(self, token: str, now: float) -> Principal | Invalid | None:
        """Whose it is, where that is known and still holds; `now` is seconds since the epoch."""

    async def identify(self, token: str, now: float) -> Principal | Invalid | Unavailable:
        """Whose it is; may ask other hosts."""


@record(frozen=True, slots=True)
class Resource:
    """A group as a protected resource.

    `metadata_url` is where clients learn of the authorization servers, `scopes` what every token must allow. Without an
    `authority` no access token is taken: the gateway is compiled without one, and whoever serves it puts one in.
    """

    url: str
    metadata_url: str
    authorization_servers: tuple[str, ...]
    expected: Expected
    scopes: frozenset[str] = frozenset()
    scopes_supported: frozenset[str] = frozenset()
    authority: Authority | None = None


def presented(headers: Headers) -> str | None:
    """The access token that came; only as `Authorization: Bearer` (OAuth 2.1 section 5.1)."""
    return bearer_of(headers)


def is_access_token(header: Mapping[str, Any]) -> bool:
    """Whether a JWT's header says that it may be an access token (RFC 9068 section 2.1)."""
    kind = header.get("typ", "")
    return isinstance(kind, str) and kind.lower() in _TYPES


def principal_of(claims: Mapping[str, Any], expected: Expected, now: float) -> Principal | Invalid:
    """Who a token with these claims stands for; `now` is seconds since the epoch."""
    refused = _refused(claims, expected, now)
    if refused:
        return Invalid(refused)
    subject = claims.get("sub") or claims.get("client_id")
    if not isinstance(subject, str):
        return Invalid("the token names no subject")
    return Principal(subject, scopes_of(claims), claims, expires(claims, expected))


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """What a token allows: `scope` as words (RFC 9068 section 2.2.3), or a list `scp` as some servers write it."""
    said = claims.get("scope", claims.get("scp", ""))
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else ()
    return frozenset(word for word in words if isinstance(word, str))


def expires(claims: Mapping[str, Any], expected: Expected) -> float:
    """Until when a token with these claims holds, in seconds since the epoch; 0 where they do not say it."""
    end = claims.get("exp")
    return end + expected.leeway if _is_time(end) else 0.0


def _refused(claims: Mapping[str, Any], expected: Expected, now: float) -> str:
    begin = claims.get("nbf", 0)
    if claims.get("iss") != expected.issuer:
        return "the token is another issuer's"
    if not _audiences(claims.get("aud")) & expected.audiences:
        return "the token is meant for another audience"
    if expires(claims, expected) <= now:
        return EXPIRED
    if not _is_time(begin) or begin - expected.leeway > now:
        return "the token does not hold yet"
    return ""


def _audiences(said: object) -> frozenset[str]:
    """One or several (RFC 7519 section 4.1.3)."""
    named = said if isinstance(said, list) else [said]
    return frozenset(name for name in named if isinstance(name, str))


def _is_time(value: object) -> TypeGuard[float]:
    # Some decoders let NaN and infinity through, and whole numbers that no float can hold.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _FAR
