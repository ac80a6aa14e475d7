"""What each kind of endpoint lets in, as policies. Pure."""

from __future__ import annotations

from rpcgw.access.admit import JSON_OR_NONE, Policy
from rpcgw.access.guards import Guards
from rpcgw.access.oauth import Resource
from rpcgw.access.tokens import Tokens

_READING = frozenset({"GET", "HEAD"})


def rpc_policy(
    guards: Guards,
    tokens: Tokens,
    resource: Resource | None = None,
    *,
    protected_api: bool,
    protected_doc: bool,
    scoped: bool = False,
) -> Policy:
    """`/rpc`: calls by POST, documents by GET; each asks for a token of its own accord.

    A body that names no media type is taken (the original's clients send none). `text/plain` and forms are not: a page
    may send those anywhere without asking first (Fetch, section 2.2.2, CORS-safelisted headers).
    """
    asked = {"GET": protected_doc or scoped, "HEAD": protected_doc or scoped, "POST": protected_api}
    return Policy(
        guards,
        methods=tuple(asked),
        tokens={method: tokens for method, needed in asked.items() if needed},
        media_types={"POST": JSON_OR_NONE},
        voluntary=_READING if scoped and not protected_doc else frozenset(),
        resource=resource,
    )


def document_policy(
    guards: Guards,
    tokens: Tokens,
    resource: Resource | None = None,
    *,
    protected_doc: bool,
    scoped: bool = False,
) -> Policy:
    """Documents alone, by GET and HEAD; a token only where documents are protected.

    Where they are `scoped`, what they show depends on the token that a reader may show.
    """
    return Policy(
        guards,
        methods=("GET", "HEAD"),
        tokens=dict.fromkeys(("GET", "HEAD"), tokens) if protected_doc or scoped else {},
        voluntary=_READING if scoped and not protected_doc else frozenset(),
        resource=resource,
    )
