"""MCP messages under spans of their own, where they are traced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from rpcgw.endpoints.visit import Answer, Visit
from rpcgw.exchange import Reply
from rpcgw.kernel.ports import Span
from rpcgw.protocol.mcp import spans
from rpcgw.protocol.mcp.faults import Refused
from rpcgw.protocol.mcp.messages import Legacy, Modern
from rpcgw.protocol.mcp.sessions import Session
from rpcgw.protocol.trace import NONE, context

Made = Answer | Refused | None
Handle = Callable[[Visit, Any, Any], Awaitable[Made]]


async def under_a_span(
    handle: Handle, visit: Visit, request: Modern | Legacy, session: Session | None, *, known: bool
) -> Made:
    """Answer a message as part of the trace that its `_meta` names; else of the one that its HTTP request names.

    `known` says whether there is such a method.
    """
    revision = request.revision if isinstance(request, Modern) else session.revision if session else None
    with _opened(visit, request, revision, known=known) as span:
        made = await handle(msgspec.structs.replace(visit, span=span), request, session)
        if isinstance(made, Refused):
            kind, message = spans.refusal(made)
            span.set(spans.STATUS, kind)
            span.failed(kind, message)
        if made is None:
            span.failed(spans.LEFT)
    return made


async def beginning(initialize: Callable[[Visit, Legacy], Awaitable[Reply]], visit: Visit, request: Legacy) -> Reply:
    """The same for a request that begins a session."""
    with _opened(visit, request, None, known=True) as span:
        reply = await initialize(visit, request)
        if reply.status >= 400:
            span.failed(str(reply.status))
    return reply


def _opened(
    visit: Visit, request: Modern | Legacy, revision: str | None, *, known: bool
) -> AbstractContextManager[Span]:
    tracer, head = visit.services.tracer, visit.inbound.head
    assert tracer is not None, "messages are traced"
    tool = spans.asked_for(request, visit.endpoint.toolbox.by_name)
    meta = request.params.get("_meta")
    own, around = context(meta) if isinstance(meta, dict) else NONE, context(head.headers)
    return tracer.span(
        spans.name(request.method, tool, known=known),
        "server",
        spans.attributes(request, head, revision, tool, visit.services.transport),
        parent=own or around,
        link=around if own else None,
    )
