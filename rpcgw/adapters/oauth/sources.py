"""How a process learns whose access tokens are: settings -> authorities, with one set of keys for each issuer."""

from __future__ import annotations

from rpcgw.access.oauth import Resource
from rpcgw.adapters.oauth.authority import RememberingAuthority, Source
from rpcgw.adapters.oauth.introspection import Introspection, basic
from rpcgw.adapters.oauth.jwt import Jwts
from rpcgw.adapters.oauth.keys import Keys
from rpcgw.config.settings import OAuth
from rpcgw.kernel.ports import Clock, HttpClient, Observer


class Sources:
    """Makes authorities; `close` ends what they have under way."""

    def __init__(self, client: HttpClient, clock: Clock, observer: Observer) -> None:
        self._client = client
        self._clock = clock
        self._observer = observer
        self._keys: dict[tuple[str, float, float], Keys] = {}

    def authority(self, resource: Resource, given: OAuth) -> RememberingAuthority:
        """Who says whose tokens are that are meant for a resource."""
        return RememberingAuthority(self._source(resource, given))

    async def close(self) -> None:
        """Fetches end."""
        for keys in self._keys.values():
            await keys.close()

    def _source(self, resource: Resource, given: OAuth) -> Source:
        if given.introspection is not None:
            fields = basic(given.introspection.client_id, given.introspection.client_secret)
            endpoint = given.introspection.endpoint
            return Introspection(self._client, endpoint, fields, resource.expected, given.remember)
        assert given.jwks_uri is not None, "one of the two is given"
        return Jwts(self._keys_of(given.jwks_uri, given), resource.expected, given.algorithms)

    def _keys_of(self, url: str, given: OAuth) -> Keys:
        key = (url, given.refresh, given.stale)
        if key not in self._keys:
            self._keys[key] = Keys(
                self._client,
                url,
                refresh=given.refresh,
                stale=given.stale,
                monotonic=self._clock.monotonic,
                tell=self._tell,
            )
        return self._keys[key]

    def _tell(self, reason: str) -> None:
        self._observer.event("oauth.keys_unavailable", level="warning", reason=reason)
