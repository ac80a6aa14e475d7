"""`tools/call` of the usual shape, answered at once where nothing has to be waited for.

The same call as `tool_calls.call` makes, of the same parts. What is not usual in a request, its tool or its method is
left to that, before anything has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from rpcgw.api.context import Principal
from rpcgw.endpoints import mcp_replies as replies
from rpcgw.endpoints import tool_calls
from rpcgw.endpoints.visit import Services, Visit
from rpcgw.exchange import Headers, Inbound, Reply
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.gate import Shape, Verdict
from rpcgw.kernel.language import ENGLISH
from rpcgw.kernel.messages import Texts
from rpcgw.protocol.mcp import Endpoint, answers, calls, usual
from rpcgw.protocol.mcp.sessions import Session
from rpcgw.protocol.mcp.tools import Tool
from rpcgw.protocol.mcp.usual import Said, Usual
from rpcgw.protocol.trace import context

_REMEMBERED: Final = 256
"""Heads of which is remembered what they say: a client's are alike from call to call."""


class _Facts(msgspec.Struct, frozen=True):
    """What a head means for its call, beside what it says."""

    said: Said
    locale: str
    texts: Texts
    trace: Mapping[str, str]
    forwarded: Mapping[str, str]
    token: str | None


class QuickCalls:
    """An `Entrance.quick` of one MCP endpoint. For calls that are not traced."""

    def __init__(self, endpoint: Endpoint, services: Services) -> None:
        self._endpoint = endpoint
        self._services = services
        self._known: dict[Headers, _Facts | None] = {}

    def __call__(self, principal: Principal, inbound: Inbound) -> Reply | Coroutine[Any, Any, Reply] | None:
        """The answer, the rest of it, or None where the request is not usual."""
        headers = inbound.head.headers
        facts = self._known[headers] if headers in self._known else self._learn(headers)
        asked = None if facts is None else usual.read(inbound.body, facts.said)
        tool = None if asked is None else self._tools.get(asked.name)
        if facts is None or asked is None or tool is None:
            return None
        session = None
        if facts.said.session is not None:
            session = self._services.sessions.recall(self._endpoint, principal, facts.said.session)
            if session is None:
                return None
        verdict = tool.method.gate(asked.arguments, facts.texts)
        visit = Visit(self._endpoint, self._services, principal, inbound, facts.locale)
        if isinstance(verdict, Shape):
            return _refused(visit, asked, session)
        outcome = self._services.executor.begin(self._call(visit, facts, tool, asked, verdict))
        if not isinstance(outcome, Done):
            return _rest(visit, asked, tool, session, outcome)
        body = answers.done(asked.id, outcome, self._endpoint, "stateless" if session is None else "session")
        return answers.reply(body, facts.locale)

    @cached_property
    def _tools(self) -> Mapping[str, Tool]:
        """Those of whose calls everything is in the body, and whose methods do not speak to their clients."""
        return {name: tool for name, tool in self._endpoint.toolbox.by_name.items() if _is_usual(tool)}

    def _learn(self, headers: Headers) -> _Facts | None:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        facts = self._known[headers] = self._facts(headers)
        return facts

    def _facts(self, headers: Headers) -> _Facts | None:
        said, endpoint = usual.said(headers), self._endpoint
        if said is None:
            return None
        locale = endpoint.language(headers.get("accept-language"))
        return _Facts(
            said,
            locale,
            endpoint.messages.get(locale, ENGLISH),
            context(headers),
            endpoint.forward.fields(headers),
            endpoint.forward.token(headers),
        )

    def _call(self, visit: Visit, facts: _Facts, tool: Tool, asked: Usual, gated: Verdict) -> Call:
        own_id = self._services.ids.token()
        return Call(
            method=tool.method.name,
            group=self._endpoint.group,
            version=self._endpoint.version,
            params=asked.arguments,
            id=own_id,
            surface="mcp",
            principal=visit.principal,
            locale=facts.locale,
            ray_id=own_id,
            headers=facts.forwarded,
            strict=True,
            gated=gated,
            trace=facts.trace,
            peer=visit.inbound.head.peer,
            token=facts.token,
        )


def _is_usual(tool: Tool) -> bool:
    method = tool.method
    return not (tool.mirrors or tool.leniency or method.scopes or method.content or method.signature.contexts)


def _refused(visit: Visit, asked: Usual, session: Session | None) -> Reply:
    """The answer to arguments of the wrong shape."""
    request = asked.request()
    planned = calls.plan(visit.endpoint, request.params, None, visit.locale, visit.principal)
    assert not isinstance(planned, calls.Planned), "the gate has refused the same arguments"
    made = tool_calls.not_run(visit, request, tool_calls.Running(visit, request, session), planned)
    return _of(visit, made, session)


async def _rest(visit: Visit, asked: Usual, tool: Tool, session: Session | None, work: Awaitable[Outcome]) -> Reply:
    """The answer to a call that waits for something."""
    request = asked.request()
    running = tool_calls.Running(visit, request, session)
    return _of(visit, await tool_calls.run(visit, request, tool, running, work), session)


def _of(visit: Visit, made: replies.Made, session: Session | None) -> Reply:
    of = replies.of_stateless if session is None else replies.of_session
    return of(visit, made, told=True)
