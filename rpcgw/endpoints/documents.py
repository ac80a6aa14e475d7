"""GET `server.json` and client configurations: who and where a group's MCP server is (C-05, C-06).

They hold no secret, and who installs a server reads them before it has a token: so a group's `protected_api` does not
hold for them. `protected_doc` does, as for every other document. Host and Origin are checked as everywhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import msgspec

from rpcgw.access.admit import Policy, Refuse, admitter, refuser, too_large
from rpcgw.api.context import Principal
from rpcgw.endpoints.entity import known
from rpcgw.exchange import Entrance, Head, HeaderFields, Inbound, Rejected, Reply
from rpcgw.kernel.ports import Clock, Observer
from rpcgw.protocol.mcp import clients
from rpcgw.protocol.mcp.documents import Document, Edition, Publication

KEPT: Final = 300
"""Seconds for which a client may keep a document without asking again."""

_LARGEST_BODY: Final = 1024
_JSON: Final[HeaderFields] = (("Content-Type", "application/json"),)
_ABSENT: Final = Rejected(404, 0, "There is no MCP server of this group in this version")
_NO_ADDRESS: Final = {
    "error": "The address of this server is not known, so no client configuration can be made",
    "hint": "set server.public_url",
}

Answer = Callable[[Principal, Inbound], Awaitable[Reply]]
Admit = Callable[[Head], Principal | Reply]


async def answer_server(publication: Publication, edition: Edition, _: Principal, inbound: Inbound) -> Reply:
    """`server.json` of one version."""
    return _reply(edition.server, publication, inbound.head)


async def answer_client(publication: Publication, edition: Edition, _: Principal, inbound: Inbound) -> Reply:
    """One client's configuration; 404 with the names that there are for any other."""
    if edition.clients is None:
        return _not_found(_NO_ADDRESS)
    name = clients.normal(inbound.head.path.rstrip("/").rpartition("/")[2])
    document = edition.clients.get(name)
    if document is None:
        names = [f"{client.name}.{kind}" for client in clients.CLIENTS for kind in clients.notations(client)]
        return _not_found({"error": f"There is no client configuration {name[:100]}", "known": [clients.INDEX, *names]})
    return _reply(document, publication, inbound.head)


def entrances(publication: Publication, policy: Policy, clock: Clock, observer: Observer) -> tuple[Entrance, ...]:
    """The paths of a publication: below the prefix (version 1), below each version, and below any other `vN`."""
    refuse = refuser(observer, _rejected)
    admit = admitter(policy, clock, refuse)
    below, editions = publication.prefix.rstrip("/"), publication.editions
    roots = [(below, "", editions.get(1))]
    roots += [(f"{below}/v{version}", "_ver", edition) for version, edition in editions.items()]
    roots += [(f"{below}/{{ver}}", "_ver", None)]
    return tuple(
        Entrance(
            name=f"{publication.name}_{name}{ending}",
            pattern=f"{root}/{path}",
            methods=policy.methods,
            max_body_bytes=_LARGEST_BODY,
            admit=partial(_absent, policy, refuse) if edition is None else admit,
            too_large=partial(refuse, too_large(_LARGEST_BODY, "fixed: a document is asked for without a body")),
            refuse=refuse,
            answer=_nobody if edition is None else partial(answer, publication, edition),
            origins=publication.origins,
            expose=("ETag",),
        )
        for root, ending, edition in roots
        for path, name, answer in _KINDS
    )


_KINDS: Final = (
    ("server.json", "ufo_mcp_server_json", answer_server),
    ("manifest/{aiName}", "ufo_mcp_manifest", answer_client),
)


def _absent(policy: Policy, refuse: Refuse, head: Head) -> Reply:
    return refuse(policy.guards.check(head) or _ABSENT, head)


async def _nobody(_: Principal, inbound: Inbound) -> Reply:
    raise AssertionError(f"{inbound.head.path} lets nobody in")


def _reply(document: Document, publication: Publication, head: Head) -> Reply:
    kept = f"{'private' if publication.private else 'public'}, max-age={KEPT}"
    fields: HeaderFields = (("ETag", document.etag), ("Cache-Control", kept))
    if document.etag in known(head):
        return Reply(304, headers=fields)
    return Reply(200, document.body, (("Content-Type", document.media_type), *fields))


def _rejected(verdict: Rejected) -> Reply:
    return Reply(verdict.status, msgspec.json.encode({"error": verdict.message}), _JSON + verdict.headers)


def _not_found(body: dict[str, Any]) -> Reply:
    return Reply(404, msgspec.json.encode(body), _JSON)
