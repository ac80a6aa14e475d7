"""GET /.well-known/oauth-protected-resource: where a group's callers get tokens (RFC 9728). Open to everybody.

Each endpoint has its document at the path that its own path is appended to (section 3.1), for each version too; clients
that only try the root find the first endpoint's there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

import msgspec

from rpcgw.access.admit import Policy, admitter, refuser, too_large
from rpcgw.access.oauth import Resource
from rpcgw.api.context import Principal
from rpcgw.endpoints.entity import entity
from rpcgw.exchange import Entrance, HeaderFields, Inbound, Rejected, Reply
from rpcgw.gateway.model import Gateway, McpRoute, RpcRoute
from rpcgw.gateway.oauth import WELL_KNOWN
from rpcgw.kernel.ports import Clock, Observer

_JSON: Final[HeaderFields] = (("Content-Type", "application/json"),)
_LARGEST_BODY: Final = 1024


def entrances(gateway: Gateway, clock: Clock, observer: Observer) -> tuple[Entrance, ...]:
    """The documents of all endpoints that take access tokens; none where there is none."""
    served: dict[str, Entrance] = {}
    routes: list[McpRoute | RpcRoute] = [*gateway.mcp, *gateway.rpc]
    for route in routes:
        if route.policy.resource is not None:
            for path in (*_paths(route), WELL_KNOWN):
                served.setdefault(path, _entrance(path, route, route.policy.resource, clock, observer))
    return tuple(served.values())


def document(resource: Resource) -> bytes:
    """A resource's metadata as JSON (RFC 9728 section 2)."""
    described = {
        "resource": resource.url,
        "authorization_servers": resource.authorization_servers,
        "scopes_supported": sorted(resource.scopes_supported),
        "bearer_methods_supported": ["header"],
    }
    return msgspec.json.encode({name: value for name, value in described.items() if value})


async def answer(body: bytes, _: Principal, inbound: Inbound) -> Reply:
    """The document."""
    return entity(body, _JSON, inbound.head, private=False, vary="Accept-Encoding")


def _paths(route: McpRoute | RpcRoute) -> Iterator[str]:
    below = route.endpoint.prefix.rstrip("/")
    yield f"{WELL_KNOWN}{below}"
    for version in _versions(route):
        yield f"{WELL_KNOWN}{below}/v{version}"


def _versions(route: McpRoute | RpcRoute) -> Iterable[int]:
    return route.endpoint.toolboxes if isinstance(route, McpRoute) else route.endpoint.versions


def _entrance(path: str, route: McpRoute | RpcRoute, resource: Resource, clock: Clock, observer: Observer) -> Entrance:
    policy = Policy(route.policy.guards, methods=("GET", "HEAD"))
    refuse = refuser(observer, _rejected)
    return Entrance(
        name="oauth_protected_resource",
        pattern=path,
        methods=policy.methods,
        max_body_bytes=_LARGEST_BODY,
        admit=admitter(policy, clock, refuse),
        too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a document is asked for without a body")),
        answer=partial(answer, document(resource)),
        origins=route.endpoint.origins,
    )


def _rejected(verdict: Rejected) -> Reply:
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), _JSON + verdict.headers)
