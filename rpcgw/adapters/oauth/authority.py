"""Who issued tokens say that callers are: asked once for each token, remembered for as long as the answer holds."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from typing import Final, Protocol

from rpcgw.access.oauth import Invalid, Unavailable
from rpcgw.adapters.oauth.jwt import Verified
from rpcgw.api.context import Principal

MOST_REMEMBERED: Final = 10_000
"""How many good tokens one worker remembers, and how many others; what was learnt of longest ago goes first."""

_Memory = OrderedDict[bytes, tuple[Principal | Invalid, float]]


class Source(Protocol):
    """Where it is said whose a token is."""

    async def ask(self, token: str, now: float) -> Verified:
        """Whose it is, and until when that holds (seconds since the epoch)."""


class RememberingAuthority:
    """`rpcgw.access.oauth.Authority` over one source. Tokens are remembered by their SHA-256.

    Made-up tokens crowd out no good one: they are remembered apart.
    """

    def __init__(self, source: Source, most: int = MOST_REMEMBERED) -> None:
        self._source = source
        self._most = most
        self._good: _Memory = OrderedDict()
        self._refused: _Memory = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[Principal | Invalid | Unavailable]] = {}

    def recall(self, token: str, now: float) -> Principal | Invalid | None:
        """What was said of a token, where that still holds."""
        digest = _digest(token)
        found = self._good.get(digest) or self._refused.get(digest)
        return found[0] if found is not None and now < found[1] else None

    async def identify(self, token: str, now: float) -> Principal | Invalid | Unavailable:
        """Whose a token is: asked once, however many wait for it; who stops waiting does not stop it."""
        digest = _digest(token)
        asking = self._asking.get(digest)
        if asking is None:
            asking = self._asking[digest] = asyncio.get_running_loop().create_task(self._ask(token, digest, now))
        return await asyncio.shield(asking)

    async def _ask(self, token: str, digest: bytes, now: float) -> Principal | Invalid | Unavailable:
        try:
            said, until = await self._source.ask(token, now)
        finally:
            del self._asking[digest]
        if not isinstance(said, Unavailable) and now < until:
            self._remember(digest, said, until)
        return said

    def _remember(self, digest: bytes, said: Principal | Invalid, until: float) -> None:
        self._good.pop(digest, None)
        self._refused.pop(digest, None)
        memory = self._refused if isinstance(said, Invalid) else self._good
        memory[digest] = (said, until)
        if len(memory) > self._most:
            memory.popitem(last=False)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
