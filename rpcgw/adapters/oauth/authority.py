"""Who issued tokens say that callers are: asked once for each token, remembered for as long as the answer holds."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final, Protocol

from rpcgw.access.oauth import Invalid, Unavailable
from rpcgw.adapters.oauth.jwt import Verified
from rpcgw.api.context import Principal

MOST_REMEMBERED: Final = 10_000
"""How many tokens one worker remembers; the one that was learnt of longest ago goes first."""


class Source(Protocol):
    """Where it is said whose a token is."""

    async def ask(self, token: str, now: float) -> Verified:
        """Whose it is, and until when that holds (seconds since the epoch)."""


class RememberingAuthority:
    """`rpcgw.access.oauth.Authority` over one source. Tokens are remembered by their SHA-256."""

    def __init__(self, source: Source, most: int = MOST_REMEMBERED) -> None:
        self._source = source
        self._most = most
        self._known: OrderedDict[bytes, tuple[Principal | Invalid, float]] = OrderedDict()

    def recall(self, token: str, now: float) -> Principal | Invalid | None:
        """What was said of a token, where that still holds."""
        found = self._known.get(_digest(token))
        return found[0] if found is not None and now < found[1] else None

    async def identify(self, token: str, now: float) -> Principal | Invalid | Unavailable:
        """Whose a token is."""
        said, until = await self._source.ask(token, now)
        if not isinstance(said, Unavailable) and now < until:
            digest = _digest(token)
            self._known[digest] = (said, until)
            self._known.move_to_end(digest)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return said


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
