"""What was made of a message of `/mcp` as a reply, and what the operator is told of what was refused."""

from __future__ import annotations

from typing import Final

from rpcgw.access.challenges import insufficient_scope
from rpcgw.endpoints.coding import takes_gzip
from rpcgw.endpoints.visit import Answer, Visit
from rpcgw.exchange import HeaderFields, Reply
from rpcgw.protocol.mcp import Endpoint, answers
from rpcgw.protocol.mcp.faults import Refused

Made = Answer | Refused | None

_CLIENT_LEFT: Final = Reply(499)
"""Nobody reads it: the status is for the log."""


def of_stateless(visit: Visit, made: Made, *, told: bool) -> Reply:
    """The reply to a request of the stateless era; None where its client has left. `told` as in `_reply`."""
    return _CLIENT_LEFT if made is None else _reply(visit, made, told=told)


def of_session(visit: Visit, made: Made, *, told: bool) -> Reply:
    """The reply to a request of a session; None where its client gave it up, and wants none. `told` as in `_reply`."""
    return answers.accepted() if made is None else _reply(visit, made, told=told)


def _reply(visit: Visit, made: Answer | Refused, *, told: bool) -> Reply:
    """The answer on the wire; a refusal that nobody was `told` of is told here."""
    if isinstance(made, Refused):
        return rendered(visit.endpoint, made) if told else refuse(visit, made)
    ready = made.ready
    if ready is not None and ready.is_large and takes_gzip(visit.inbound.head.headers):
        return Reply(200, ready.gzip(made.body), answers.compressed(visit.locale), made.after)
    return answers.reply(made.text, visit.locale, made.after)


def refuse(visit: Visit, refused: Refused) -> Reply:
    """The reply to what was refused, of which the operator is told."""
    endpoint = visit.endpoint
    visit.services.observer.event(
        "envelope.refused",
        group=endpoint.group,
        version=endpoint.version,
        code=refused.code,
        reason=refused.message,
    )
    return rendered(endpoint, refused)


def rendered(endpoint: Endpoint, refused: Refused) -> Reply:
    """The reply to what was refused, of which the operator knows already."""
    return answers.refusal(refused, _challenge(endpoint, refused))


def _challenge(endpoint: Endpoint, refused: Refused) -> HeaderFields:
    """Where a scope is missing: which a client is to ask for."""
    if refused.status == 403 and isinstance(refused.data, dict):
        return insufficient_scope(endpoint.metadata_url, refused.data["extra"]["scopes"])
    return ()
