"""`rpcgw.kernel.ports.TokenExchange` over an authorization server (RFC 8693)."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from rpcgw.kernel.codec import decode
from rpcgw.kernel.ports import HttpClient, SendError

MOST_KEPT: Final = 1000
"""How many tokens one worker keeps; the one that was got longest ago goes first."""
MARGIN: Final = 30.0
"""Seconds before its end from which a token is not given out any more."""
_GRANT: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 -- the name of a kind

_Key = tuple[bytes, str, tuple[str, ...]]


class Exchange:
    """One authorization server. What it gave is kept until it ends; what it did not say the end of is not kept.

    Calls that want the same token at the same time wait for one exchange.
    """

    def __init__(
        self, client: HttpClient, endpoint: str, credentials: Mapping[str, str], monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._fields = credentials
        self._monotonic = monotonic
        self._kept: OrderedDict[_Key, tuple[str, float]] = OrderedDict()
        self._asking: dict[_Key, asyncio.Task[str]] = {}

    async def exchange(self, token: str, audience: str, scopes: tuple[str, ...]) -> str:
        """An access token for `audience` in the name of whom `token` stands for."""
        key = (hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest(), audience, scopes)
        found = self._kept.get(key)
        if found is not None and self._monotonic() < found[1]:
            return found[0]
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.get_running_loop().create_task(self._exchanged(key, token))
            asking.add_done_callback(lambda done: self._over(key, done))
        # Whoever stops waiting stops nobody else.
        return await asyncio.shield(asking)

    def _over(self, key: _Key, done: asyncio.Task[str]) -> None:
        del self._asking[key]
        if not done.cancelled():
            done.exception()  # those who waited have it; where nobody waits any more it is no news

    async def _exchanged(self, key: _Key, token: str) -> str:
        given = await self._ask(token, key[1], key[2])
        made = given.get("access_token")
        if not isinstance(made, str):
            raise SendError(f"{self._endpoint}: answered without a token")
        if isinstance(seconds := given.get("expires_in"), int | float):
            self._kept[key] = (made, self._monotonic() + seconds - MARGIN)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made

    async def _ask(self, token: str, audience: str, scopes: tuple[str, ...]) -> dict[str, Any]:
        form = {
            "grant_type": _GRANT,
            "subject_token": token,
            "subject_token_type": _ACCESS_TOKEN,
            "audience": audience,
            **({"scope": " ".join(scopes)} if scopes else {}),
        }
        answered = await self._client.ask(self._endpoint, self._fields, urlencode(form).encode())
        given = _read(answered.body)
        if answered.status != 200:
            raise SendError(f"{self._endpoint}: {given.get('error', 'refused')}", status=answered.status)
        return given


def _read(body: bytes) -> dict[str, Any]:
    try:
        given = decode(body)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
