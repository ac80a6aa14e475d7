"""Whose access tokens are: what asks authorization servers in this process, for each group that takes such tokens.

Nothing is imported or opened that the configuration does not ask for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from importlib.util import find_spec
from typing import Final

from rpcgw.access.admit import Policy
from rpcgw.access.oauth import Authority, Resource
from rpcgw.adapters.oauth import ANSWER_WITHIN
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.settings import OAuth, Settings
from rpcgw.daemon.runtime import Runtime
from rpcgw.gateway.model import Gateway

EXTRA: Final = "rpcgw[oauth]"


@record(frozen=True, slots=True)
class Authorities:
    """Who says whose access tokens are, by the URL of the resource that they are meant for."""

    by_resource: Mapping[str, Authority] = field(default_factory=dict)

    def bound(self, gateway: Gateway) -> Gateway:
        """A gateway whose endpoints ask them, where they take access tokens."""
        if not self.by_resource:
            return gateway
        rpc = tuple(
            replace(route, policy=self._asking(route.policy), readers=self._asking(route.readers))
            for route in gateway.rpc
        )
        mcp = tuple(
            replace(route, policy=self._asking(route.policy), readers=self._asking(route.readers))
            for route in gateway.mcp
        )
        sites = tuple(
            replace(
                site,
                callers={group: self._asking(policy) for group, policy in site.callers.items()},
                viewers={group: self._asking(policy) for group, policy in site.viewers.items()},
            )
            for site in gateway.sites
        )
        return replace(gateway, rpc=rpc, mcp=mcp, sites=sites)

    def _asking(self, policy: Policy) -> Policy:
        resource = policy.resource
        if resource is None:
            return policy
        return replace(policy, resource=replace(resource, authority=self.by_resource.get(resource.url)))


NOBODY: Final = Authorities()


def missing_packages(settings: Settings) -> Iterator[Problem]:
    """What the configuration needs and is not installed."""
    for group, security in settings.security.items():
        if security.oauth is not None and find_spec("joserfc") is None:
            path = f"groups.{group}.oauth"
            text = f'"{path}" needs the package joserfc, which is not installed.'
            place = settings.places.get(path, Place(settings.source))
            yield Problem(place, "missing-package", text, f"pip install '{EXTRA}'")


@asynccontextmanager
async def open_authorities(runtime: Runtime) -> AsyncIterator[Authorities]:
    """What checks access tokens while this is open."""
    wanted = _wanted(runtime.gateway)
    if not wanted:
        yield NOBODY
        return
    from rpcgw.adapters.http.client import Client  # noqa: PLC0415 -- imported where it is used
    from rpcgw.adapters.oauth.sources import Sources  # noqa: PLC0415 -- as above

    client = Client(total=ANSWER_WITHIN, idle=ANSWER_WITHIN)
    sources = Sources(client, runtime.clock, runtime.observer)
    try:
        yield Authorities({resource.url: sources.authority(resource, given) for resource, given in wanted})
    finally:
        await sources.close()
        await client.close()


def _wanted(gateway: Gateway) -> list[tuple[Resource, OAuth]]:
    served = [(route.endpoint.group, route.policy.resource) for route in gateway.mcp]
    served += [(route.endpoint.group, route.policy.resource) for route in gateway.rpc]
    return [
        (resource, given)
        for group, resource in served
        if (given := gateway.settings.security_of(group).oauth) and resource is not None
    ]
