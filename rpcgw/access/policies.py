"""What each kind of endpoint lets in, as policies. Pure."""

from __future__ import annotations

from rpcgw.access.admit import JSON_OR_NONE, Policy
from rpcgw.access.guards import Guards
from rpcgw.access.tokens import Tokens


def rpc_policy(guards: Guards, tokens: Tokens, *, protected_api: bool, protected_doc: bool) -> Policy:
    """`/rpc`: calls by POST, documents by GET; each asks for a token of its own accord.

    A body that names no media type is taken (the original's clients send none). `text/plain` and forms are not: a page
    may send those anywhere without asking first (Fetch, section 2.2.2, CORS-safelisted headers).
    """
    asked = {"GET": protected_doc, "HEAD": protected_doc, "POST": protected_api}
    return Policy(
        guards,
        methods=tuple(asked),
        tokens={method: tokens for method, needed in asked.items() if needed},
        media_types={"POST": JSON_OR_NONE},
    )


def document_policy(guards: Guards, tokens: Tokens, *, protected_doc: bool) -> Policy:
    """Documents alone, by GET and HEAD; a token only where documents are protected."""
    methods = ("GET", "HEAD")
    return Policy(guards, methods=methods, tokens=dict.fromkeys(methods, tokens) if protected_doc else {})
