"""JSON Web Tokens: a signature that checks, by one of an issuer's keys, with an algorithm that the operator pinned.

Sources: RFC 7515 (JWS), RFC 8725 (best current practices).
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError

from rpcgw.access.oauth import Expected, Invalid, Unavailable, expires, is_access_token, principal_of
from rpcgw.adapters.oauth.keys import Key, Keys, KeysUnavailable
from rpcgw.api.context import Principal
from rpcgw.kernel.codec import decode, encode

LONGEST: Final = 16_384
"""How many characters a token may have."""
_PARTS: Final = 3

Verified = tuple[Principal | Invalid | Unavailable, float]
"""Whose a token is, and until when that holds, in seconds since the epoch."""


class Jwts:
    """`rpcgw.adapters.oauth.authority.Source`: tokens that carry their claims themselves."""

    def __init__(self, keys: Keys, expected: Expected, algorithms: Collection[str]) -> None:
        self._keys = keys
        self._expected = expected
        self._algorithms = frozenset(algorithms)

    async def ask(self, token: str, now: float) -> Verified:
        """Whose a token is; `now` is seconds since the epoch."""
        header = read_header(token)
        if header is None:
            return Invalid("it is no JWT"), 0.0
        algorithm = header.get("alg")
        known = isinstance(algorithm, str) and algorithm in self._algorithms
        if not known or not is_access_token(header):
            return Invalid("the token is signed in a way that is not taken here"), 0.0
        try:
            key = await self._keys.key(str(header.get("kid", "")))
        except KeysUnavailable as error:
            return Unavailable(str(error)), 0.0
        claims = None if key is None else self._claims(token, key)
        if claims is None:
            return Invalid("the signature is not one of the issuer's"), 0.0
        who = principal_of(claims, self._expected, now)
        # A refusal is not remembered: a token that does not hold yet will.
        return who, 0.0 if isinstance(who, Invalid) else expires(claims, self._expected)

    def _claims(self, token: str, key: Key) -> Mapping[str, Any] | None:
        try:
            said = jwt.decode(token, key, algorithms=list(self._algorithms)).claims
            claims: Mapping[str, Any] = decode(
                encode(said)
            )  # names and claims end up in logs and keys: JSON to the letter
            return claims
        except (JoseError, ValueError, TypeError, RecursionError):
            return None


def read_header(token: str) -> Mapping[str, Any] | None:
    """A JWT's header, which nobody has vouched for yet; None where it is no JWT."""
    parts = token.split(".")
    if len(parts) != _PARTS or len(token) > LONGEST or not token.isascii():
        return None
    try:
        header = decode(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except ValueError:
        return None
    return header if isinstance(header, dict) else None
