"""Opaque tokens: the authorization server says of each what it is (RFC 7662)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from rpcgw.access.oauth import Expected, Invalid, Unavailable, expires, principal_of
from rpcgw.adapters.oauth.jwt import Verified
from rpcgw.kernel.codec import decode
from rpcgw.kernel.ports import HttpClient, SendError

LONGEST: Final = 16_384
"""How many characters a token may have."""


class Introspection:
    """`rpcgw.adapters.oauth.authority.Source`: what the server says holds for `remember` seconds, the token's end past.

    Neither the issuer nor the end need be said (section 2.2): who is asked issued the token, and says that it holds.
    """

    def __init__(
        self, client: HttpClient, endpoint: str, credentials: Mapping[str, str], expected: Expected, remember: float
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._fields = credentials
        self._expected = expected
        self._remember = remember

    async def ask(self, token: str, now: float) -> Verified:
        """Whose a token is; `now` is seconds since the epoch."""
        if len(token) > LONGEST:
            return Invalid("it is too long"), 0.0
        try:
            answered = await self._client.ask(
                self._endpoint, self._fields, urlencode({"token": token, "token_type_hint": "access_token"}).encode()
            )
        except SendError as error:
            return Unavailable(f"{self._endpoint}: {error}"), 0.0
        claims = _claims(answered.body) if answered.status == 200 else None
        if claims is None:
            return Unavailable(f"{self._endpoint}: answered {answered.status}, and no claims"), 0.0
        until = now + self._remember
        if claims.get("active") is not True:
            return Invalid("the token does not hold"), until
        said = {"iss": self._expected.issuer, "exp": until, **claims}
        who = principal_of(said, self._expected, now)
        return who, until if isinstance(who, Invalid) else min(until, expires(said, self._expected))


def basic(client_id: str, client_secret: str) -> dict[str, str]:
    """The header fields of a form that a client sends, with its name and secret (RFC 6749 section 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return {
        "Accept": "application/json",
        "Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
    }


def _claims(body: bytes) -> dict[str, Any] | None:
    try:
        claims = decode(body)
    except ValueError:
        return None
    return claims if isinstance(claims, dict) else None
