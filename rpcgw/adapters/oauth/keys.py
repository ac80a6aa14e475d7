"""An issuer's keys (RFC 7517): fetched when first needed, anew after a while, and once for a key that nobody knows.

One set is shared by all calls of a process. While the key server is away the last good set does, for a bounded time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from rpcgw.api.records import record
from rpcgw.kernel.codec import decode
from rpcgw.kernel.ports import Answered, HttpClient, SendError

MOST_BYTES: Final = 1_048_576
MOST_KEYS: Final = 256
PAUSE: Final = 5.0
"""Seconds between two fetches for keys that nobody knows: a client must not make us ask for each of its requests."""
_FIELDS: Final = {"Accept": "application/json"}

Key = RSAKey | ECKey | OKPKey


class KeysUnavailable(Exception):
    """There is no set of keys that may be used any more; the text says what went wrong last."""


@record(frozen=True, slots=True)
class _Fetched:
    keys: Mapping[str, Key]
    at: float


class Keys:
    """One issuer's keys.

    Args:
        client: Asks the key server.
        url: Where the set is.
        refresh: Seconds after which it is fetched anew; the old one is used meanwhile.
        stale: Seconds for which an old one is used when no new one can be had.
        monotonic: Seconds of a clock that never goes back.
        tell: Told why a fetch failed.
    """

    def __init__(
        self,
        client: HttpClient,
        url: str,
        *,
        refresh: float,
        stale: float,
        monotonic: Callable[[], float],
        tell: Callable[[str], None],
    ) -> None:
        self._client = client
        self._url = url
        self._refresh = refresh
        self._stale = stale
        self._monotonic = monotonic
        self._tell = tell
        self._fetched: _Fetched | None = None
        self._tried = -PAUSE
        self._fetching: asyncio.Task[None] | None = None
        self._trouble = "they were never fetched"

    async def key(self, name: str) -> Key | None:
        """The key of a name; None where the issuer has none of it.

        Raises:
            KeysUnavailable: Nobody can say.
        """
        if (found := _named(self._usable(), name)) is not None:
            if self._is_old():
                self._begin()
            return found
        if self._fetching is not None or self._monotonic() - self._tried >= PAUSE:
            await self._fetch()
        if (known := self._usable()) is None:
            raise KeysUnavailable(self._trouble)
        return _named(known, name)

    async def close(self) -> None:
        """End a fetch under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])

    def _usable(self) -> Mapping[str, Key] | None:
        fetched = self._fetched
        return None if fetched is None or self._monotonic() - fetched.at > self._stale else fetched.keys

    def _is_old(self) -> bool:
        now, fetched = self._monotonic(), self._fetched
        return fetched is not None and now - fetched.at > self._refresh and now - self._tried >= PAUSE

    async def _fetch(self) -> None:
        """Once, however many wait for it; who stops waiting does not stop it."""
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._tried = self._monotonic()
            self._fetching = asyncio.get_running_loop().create_task(self._run())
        return self._fetching

    async def _run(self) -> None:
        try:
            answered = await self._client.ask(self._url, _FIELDS, most=MOST_BYTES)
            self._fetched = _Fetched(_keys_of(answered), self._monotonic())
        except (SendError, ValueError) as error:
            self._trouble = f"{self._url}: {error}"
            self._tell(self._trouble)
        finally:
            self._fetching = None


def _named(keys: Mapping[str, Key] | None, name: str) -> Key | None:
    """A key by its name; a token that names none can only mean the one that there is."""
    if keys is None:
        return None
    return next(iter(keys.values())) if not name and len(keys) == 1 else keys.get(name)


def _keys_of(answered: Answered) -> dict[str, Key]:
    if answered.status != 200:
        raise ValueError(f"answered {answered.status}")
    return read_keys(answered.body)


def read_keys(body: bytes) -> dict[str, Key]:
    """The keys of a set by their names; one without a name is named "".

    Only public keys of pairs that may check signatures count. Shared secrets are none: whoever has one can sign.

    Raises:
        ValueError: It is no set of keys, has none that can be used, or has too many.
    """
    try:
        given = decode(body)
    except ValueError as error:
        raise ValueError("the key set is no JSON") from error
    listed = given.get("keys") if isinstance(given, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the key set has no list of keys")  # noqa: TRY004 -- what is wrong is a value of another host
    if len(listed) > MOST_KEYS:
        raise ValueError(f"the key set has more than {MOST_KEYS} keys")
    found = {key.kid or "": key for entry in listed if (key := _key(entry)) is not None}
    if not found:
        raise ValueError("the key set has no key that can check signatures")
    return found


def _key(entry: Any) -> Key | None:
    """A key that can be used, or None: a set may hold kinds that are not known here (RFC 7517 section 5)."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return None
    try:
        key = JWKRegistry.import_key(entry)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if isinstance(key, RSAKey | ECKey | OKPKey) else None
