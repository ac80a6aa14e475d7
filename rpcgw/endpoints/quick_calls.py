"""`tools/call` of the usual shape, answered at once where nothing has to be waited for.

The same call as `tool_calls.call` makes, of the same parts. What is not usual in a request, its tool or its method is
left to that, before anything has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

import msgspec

from rpcgw.api.context import Principal
from rpcgw.endpoints import mcp_replies as replies
from rpcgw.endpoints import tool_calls
from rpcgw.endpoints.visit import Services, Visit
from rpcgw.exchange import Head, HeaderFields, Inbound, Reply, once_a_head
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.gate import Shape
from rpcgw.kernel.language import ENGLISH
from rpcgw.kernel.messages import Texts
from rpcgw.protocol.mcp import Endpoint, answers, calls, usual
from rpcgw.protocol.mcp.faults import Fault, Refused, refuse
from rpcgw.protocol.mcp.revisions import SESSION, STATELESS, Era
from rpcgw.protocol.mcp.sessions import Session
from rpcgw.protocol.mcp.tools import Tool
from rpcgw.protocol.mcp.usual import Said, Usual
from rpcgw.protocol.trace import context


class _Facts(msgspec.Struct, frozen=True):
    """What a head means for its call, beside what it says; `fields` are those of an answer."""

    said: Said
    fields: HeaderFields
    locale: str
    texts: Texts
    trace: Mapping[str, str]
    forwarded: Mapping[str, str]
    token: str | None

    @property
    def era(self) -> Era:
        return "stateless" if self.said.session is None else "session"


class QuickCalls:
    """An `Entrance.quick` of one MCP endpoint. For calls that are not traced."""

    def __init__(self, endpoint: Endpoint, services: Services) -> None:
        self._endpoint = endpoint
        self._services = services
        self._facts_of = once_a_head(self._facts)

    def __call__(self, principal: Principal, inbound: Inbound) -> Reply | Coroutine[Any, Any, Reply] | None:
        """The answer, the rest of it, or None where the request is not usual."""
        endpoint, services, head = self._endpoint, self._services, inbound.head
        facts = self._facts_of(head)
        asked = None if facts is None else usual.read(inbound.body, facts.said)
        tool = None if asked is None else endpoint.toolbox.usual.get(asked.params.name)
        if facts is None or asked is None or tool is None:
            return self._unknown(asked, facts, principal, head.peer)
        session = None
        if facts.said.session is not None:
            session = services.sessions.recall(endpoint, principal, facts.said.session)
            if session is None:
                return None
        verdict = tool.method.gate(asked.params.arguments, facts.texts)
        if isinstance(verdict, Shape):
            not_run = self._not_run(tool.method.name, facts, principal, head.peer)
            return self._refused(asked, tool, verdict, facts, not_run)
        own_id = services.ids.token()
        call = Call(
            method=tool.method.name,
            group=endpoint.group,
            version=endpoint.version,
            params=asked.params.arguments,
            id=own_id,
            surface="mcp",
            principal=principal,
            locale=facts.locale,
            ray_id=own_id,
            headers={**facts.forwarded},
            strict=True,
            gated=verdict,
            trace=facts.trace,
            peer=head.peer,
            token=facts.token,
        )
        outcome = services.executor.begin(call)
        if isinstance(outcome, Failed):
            return self._failed(asked, tool, session, facts, outcome)
        if not isinstance(outcome, Done):
            visit = Visit(endpoint, services, principal, inbound, facts.locale)
            return _rest(visit, asked, tool, session, outcome)
        body = answers.done(asked.id, outcome, endpoint, "stateless" if session is None else "session")
        return Reply(200, body, facts.fields)

    def _refused(self, asked: Usual, tool: Tool, shape: Shape, facts: _Facts, call: Call) -> Reply:
        """The answer to arguments of the wrong shape, with which `call` is not run."""
        fault, failed = self._misfit(tool, shape, facts.texts)
        tool_calls.tell(self._services.observer, call, failed)
        return self._reply(answers.misfitting(fault, asked.id, tool, self._endpoint, facts.era), facts)

    def _misfit(self, tool: Tool, shape: Shape, texts: Texts) -> tuple[Fault, Failed]:
        """What a client and the operator are told of arguments of the wrong shape, made once where it is kept."""
        memo, key = shape.memo, (self, tool.name)
        if memo is not None and key in memo:
            known: tuple[Fault, Failed] = memo[key]
            return known
        fault = calls.misfit(tool, shape, texts).fault
        made = fault, tool_calls.failure(fault)
        if memo is not None:
            memo[key] = made
        return made

    def _unknown(self, asked: Usual | None, facts: _Facts | None, principal: Principal, peer: str) -> Reply | None:
        """The answer to a usual call of a tool that is not there; None where the request is anything else."""
        endpoint, services = self._endpoint, self._services
        if facts is None or asked is None or asked.params.name in endpoint.toolbox.by_name:
            return None
        session = facts.said.session
        if session is not None and services.sessions.recall(endpoint, principal, session) is None:
            return None
        fault = calls.unknown(asked.params.name)
        call = self._not_run(tool_calls.quoted(asked.params.name), facts, principal, peer)
        tool_calls.tell(services.observer, call, tool_calls.failure(fault))
        return self._reply(refuse(fault, asked.id, facts.era), facts)

    def _not_run(self, method: str, facts: _Facts, principal: Principal, peer: str) -> Call:
        """A call as the operator is told of it."""
        endpoint, own_id = self._endpoint, self._services.ids.token()
        return Call(
            method=method,
            group=endpoint.group,
            version=endpoint.version,
            params={},
            id=own_id,
            surface="mcp",
            principal=principal,
            locale=facts.locale,
            ray_id=own_id,
            headers=facts.forwarded,
            strict=True,
            trace=facts.trace,
            peer=peer,
            token=facts.token,
        )

    def _failed(self, asked: Usual, tool: Tool, session: Session | None, facts: _Facts, failed: Failed) -> Reply:
        """The answer to a call that failed at once."""
        endpoint = self._endpoint
        revision = STATELESS[facts.said.revision] if session is None else SESSION[session.revision]
        body = answers.outcome_of(asked.id, failed, tool, endpoint, revision)
        return self._reply(refuse(body, asked.id, revision.era) if isinstance(body, Fault) else body, facts)

    def _reply(self, made: bytes | Refused, facts: _Facts) -> Reply:
        return replies.rendered(self._endpoint, made) if isinstance(made, Refused) else Reply(200, made, facts.fields)

    def _facts(self, head: Head) -> _Facts | None:
        headers, endpoint = head.headers, self._endpoint
        said = usual.said(headers)
        if said is None:
            return None
        locale = endpoint.language(headers.get("accept-language"))
        return _Facts(
            said,
            answers.spoken(locale),
            locale,
            endpoint.messages.get(locale, ENGLISH),
            context(headers),
            endpoint.forward.fields(headers),
            endpoint.forward.token(headers),
        )


async def _rest(visit: Visit, asked: Usual, tool: Tool, session: Session | None, work: Awaitable[Outcome]) -> Reply:
    """The answer to a call that waits for something."""
    request = asked.request()
    running = tool_calls.Running(visit, request, session)
    made = await tool_calls.run(visit, request, tool, running, work)
    of = replies.of_stateless if session is None else replies.of_session
    return of(visit, made, told=True)
