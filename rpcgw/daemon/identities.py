"""What procedures may do with callers' tokens in this process, by group. Nothing is opened that nobody asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from rpcgw.adapters.oauth import ANSWER_WITHIN
from rpcgw.config.settings import OAuthClient, Settings
from rpcgw.kernel.identity import Identity
from rpcgw.kernel.ports import Clock, HttpClient, TokenExchange


@asynccontextmanager
async def open_identities(settings: Settings, clock: Clock) -> AsyncIterator[Mapping[str, Identity]]:
    """By group, where procedures see callers' tokens or may have them exchanged, while this is open."""
    groups = dict.fromkeys(route.group for route in settings.routes)
    shown = {group: settings.security_of(group).forward.token for group in groups}
    exchanging = {
        group: security.oauth.exchange
        for group in groups
        if (security := settings.security_of(group)).oauth is not None and security.oauth.exchange is not None
    }
    if not exchanging:
        yield {group: Identity(shown=True) for group in groups if shown[group]}
        return
    from rpcgw.adapters.http.client import Client  # noqa: PLC0415 -- imported where it is used

    client = Client(total=ANSWER_WITHIN, idle=ANSWER_WITHIN)
    try:
        yield {
            group: Identity(shown[group], _exchange(client, exchanging.get(group), clock))
            for group in groups
            if shown[group] or group in exchanging
        }
    finally:
        await client.close()


def _exchange(client: HttpClient, given: OAuthClient | None, clock: Clock) -> TokenExchange | None:
    if given is None:
        return None
    from rpcgw.adapters.oauth.exchange import Exchange  # noqa: PLC0415 -- imported where it is used
    from rpcgw.adapters.oauth.introspection import basic  # noqa: PLC0415 -- as above

    return Exchange(client, given.endpoint, basic(given.client_id, given.client_secret), clock.monotonic)
