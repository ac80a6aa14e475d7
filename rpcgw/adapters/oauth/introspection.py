"""Opaque tokens: the authorization server says of each what it is (RFC 7662)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, urlencode

from rpcgw.access.oauth import Expected, Invalid, Unavailable, expires, principal_of
from rpcgw.adapters.oauth.jwt import Verified
from rpcgw.kernel.codec import decode
from rpcgw.kernel.ports import Answered, HttpClient, SendError

LONGEST: Final = 16_384
"""How many characters a token may have."""
AT_ONCE: Final = 16
"""How many tokens one worker asks of at a time."""
WAITING: Final = 256
"""How many more may wait for that; whoever comes then is to try again soon."""


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
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def ask(self, token: str, now: float) -> Verified:
        """Whose a token is; `now` is seconds since the epoch."""
        if len(token) > LONGEST:
            return Invalid("it is too long"), 0.0
        try:
            answered = await self._asked(token)
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
        if isinstance(who, Invalid):
            return who, until
        if "exp" not in claims:  # how long it holds nobody said, but for how long that is taken for granted
            who = replace(who, expires=None)
        return who, min(until, expires(said, self._expected))

    async def _asked(self, token: str) -> Answered:
        """The server's answer, once it is this token's turn: whoever makes tokens up does not flood it through us."""
        form = urlencode({"token": token, "token_type_hint": "access_token"}).encode()
        if self._turns.locked() and self._waiting >= WAITING:
            raise SendError(f"{WAITING} other tokens wait to be asked of")
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._client.ask(self._endpoint, self._fields, form)
        finally:
            self._turns.release()


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
