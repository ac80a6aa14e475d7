"""GET `<prefix>/postman`: the Postman collection of a JSON-RPC endpoint's group, in each of its versions."""

from __future__ import annotations

from functools import partial
from typing import Final

from rpcgw.access.admit import Policy, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints.entity import entity
from rpcgw.exchange import Entrance, Inbound, Reply
from rpcgw.kernel.ports import Clock, Observer
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.protocol.jsonrpc import UNKNOWN_VERSION, Endpoint, answers

_LARGEST_BODY: Final = 1024


async def answer(endpoint: Endpoint, version: int, switches: Offered, principal: Principal, inbound: Inbound) -> Reply:
    """The collection of one version, in the client's language; 404 where there is none."""
    locale = endpoint.negotiate(inbound.head.headers.get("accept-language"))
    collection = None
    if endpoint.collection is not None:
        collection = endpoint.collection(version, locale, principal.scopes, switches.off(endpoint.group))
    if collection is None:
        return answers.rejected(answers.NOT_FOUND, endpoint.names)
    fields = (*answers.JSON, ("Content-Language", locale))
    return entity(collection, fields, inbound.head, private=endpoint.private, vary="Accept-Language")


def entrances(
    endpoint: Endpoint, policy: Policy, clock: Clock, observer: Observer, switches: Offered = EVERYTHING
) -> tuple[Entrance, ...]:
    """The paths of an endpoint's collections: below the prefix, below each version, and below any other `vN`."""
    refuse = refuser(observer, partial(answers.rejected, names=endpoint.names))
    below = endpoint.prefix.rstrip("/")
    base = endpoint.name.removesuffix("_api_server")
    roots = [(below, f"{base}_api_postman", 1)]
    roots += [(f"{below}/v{version}", f"{base}_api_postman_ver", version) for version in endpoint.versions]
    roots += [(f"{below}/{{ver}}", f"{base}_api_postman_ver", UNKNOWN_VERSION)]
    return tuple(
        Entrance(
            name=name,
            pattern=f"{root}/postman",
            methods=policy.methods,
            max_body_bytes=_LARGEST_BODY,
            admit=admitter(policy, clock, refuse),
            too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a document is asked for without a body")),
            refuse=refuse,
            answer=partial(answer, endpoint, version, switches),
            origins=endpoint.origins,
            expose=("ETag",),
        )
        for root, name, version in roots
    )
