"""`tools/call`: one call of the executor, and the client that waits for it.

While the call runs, the client can hear of it, give it up, or leave. What is needed for that is made once the call
waits for something: most calls are over before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from math import inf, isfinite
from typing import Any, Final

from rpcgw.api.context import LogLevel
from rpcgw.api.errors import InvalidParams
from rpcgw.endpoints.attended import Attended, Watch, attended
from rpcgw.endpoints.streams import Stream
from rpcgw.endpoints.visit import Answer, Visit
from rpcgw.exchange import Headers
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.gate import Assertion, Passed
from rpcgw.kernel.ports import Observer
from rpcgw.protocol.mcp import answers, calls, notices, trace
from rpcgw.protocol.mcp import headers as fields
from rpcgw.protocol.mcp.calls import Misfit, Planned
from rpcgw.protocol.mcp.capabilities import declared
from rpcgw.protocol.mcp.faults import INTERNAL_ERROR, Fault, Refused, refuse
from rpcgw.protocol.mcp.ladder import META_CAPABILITIES, META_LOG_LEVEL
from rpcgw.protocol.mcp.messages import Legacy, Modern
from rpcgw.protocol.mcp.revisions import SESSION, STATELESS, Revision
from rpcgw.protocol.mcp.sessions import Session
from rpcgw.protocol.mcp.spans import TOOL_ERROR
from rpcgw.protocol.mcp.tools import Tool
from rpcgw.protocol.trace import context

_NO_META: Final[dict[str, Any]] = {}
_QUOTED: Final = 100
_CUT: Final = Fault(INTERNAL_ERROR, "The server is stopping; the call was cut off")


async def call(visit: Visit, request: Modern | Legacy, session: Session | None) -> Answer | Refused | None:
    """Run a tool; None where nobody waits for its answer any more. Without a session it is the stateless era."""
    running = Running(visit, request, session)
    repeated = _repeated(visit, running.revision)
    planned = calls.plan(visit.endpoint, request.params, repeated, visit.locale, visit.principal)
    if not isinstance(planned, Planned):
        return not_run(visit, request, running, planned)
    asked = _kernel_call(visit, planned.tool.method.name, planned.arguments, running, planned.gated)
    return await run(visit, request, planned.tool, running, visit.services.executor.execute(asked))


async def run(
    visit: Visit, request: Modern | Legacy, tool: Tool, running: Running, work: Awaitable[Outcome]
) -> Answer | Refused | None:
    """The answer to a call, while its client may hear of it, give it up, or leave; None as in `call`."""
    made: Answer | Refused | None = None
    try:
        made = await attended(_awaited(visit, request, tool, work, running.revision), running.attend)
    except asyncio.CancelledError:
        made = refuse(_CUT, request.id, running.revision.era)
        raise
    finally:
        running.end(made)
    return made


def revision_of(request: Modern | Legacy, session: Session | None) -> Revision:
    """The revision that a request is of: its own, or its session's."""
    if isinstance(request, Modern):
        return STATELESS[request.revision]
    assert session is not None, "a request of the session era comes in a session"
    return SESSION[session.revision]


def _repeated(visit: Visit, revision: Revision) -> Headers | None:
    """The headers in which a client of the stateless era repeats arguments."""
    return visit.inbound.head.headers if revision.era == "stateless" else None


def not_run(visit: Visit, request: Modern | Legacy, running: Running, planned: Misfit | Fault) -> Answer | Refused:
    """The answer to a call that is refused before anything runs."""
    fault = planned if isinstance(planned, Fault) else planned.fault
    era = running.revision.era
    asked = _kernel_call(visit, _asked_for(visit, request, planned), {}, running)
    tell(visit.services.observer, asked, failure(fault))
    if isinstance(planned, Fault):
        return refuse(fault, request.id, era)
    made = answers.misfitting(fault, request.id, planned.tool, visit.endpoint, era)
    if isinstance(made, Refused):
        return made
    if visit.span is not None:
        visit.span.failed(TOOL_ERROR, fault.message)
    return Answer(made)


def _asked_for(visit: Visit, request: Modern | Legacy, planned: Misfit | Fault) -> str:
    """The method that a client means, as far as it can be known."""
    if isinstance(planned, Misfit):
        return planned.tool.method.name
    name = request.params.get("name")
    tool = visit.endpoint.toolbox.by_name.get(name) if type(name) is str else None
    return quoted(str(name)) if tool is None else tool.method.name


def quoted(name: str) -> str:
    """As much of a name that a client made up as the operator is told."""
    return name[:_QUOTED]


def failure(fault: Fault) -> Failed:
    """What becomes of a call that is refused before anything runs, as the operator is told of it."""
    return Failed(fault.code, fault.message, {}, InvalidParams(fault.message))


def tell(observer: Observer, asked: Call, failed: Failed) -> None:
    """Tell of a call that is not run: it is one that has ended all the same."""
    observer.call_started(asked)
    observer.call_finished(asked, failed, 0.0)


async def _awaited(
    visit: Visit, request: Modern | Legacy, tool: Tool, work: Awaitable[Outcome], revision: Revision
) -> Answer | Refused:
    return ended(visit, request, tool, await work, revision)


def ended(visit: Visit, request: Modern | Legacy, tool: Tool, outcome: Outcome, revision: Revision) -> Answer | Refused:
    """The answer to a call that is over."""
    body = answers.outcome_of(request.id, outcome, tool, visit.endpoint, revision)
    if isinstance(body, Fault):
        return refuse(body, request.id, revision.era)
    if visit.span is not None and isinstance(outcome, Failed):
        visit.span.failed(TOOL_ERROR, outcome.message)
    return Answer(body, outcome.after if isinstance(outcome, Done) else None)


def _kernel_call(
    visit: Visit, method: str, arguments: dict[str, Any], running: Running, gated: Passed | Assertion | None = None
) -> Call:
    endpoint, head = visit.endpoint, visit.inbound.head
    own_id = visit.services.ids.token()
    traced = trace.read(running.meta)
    return Call(
        method=method,
        group=endpoint.group,
        version=endpoint.version,
        params=arguments,
        id=own_id,
        surface="mcp",
        principal=visit.principal,
        locale=visit.locale,
        ray_id=trace.ray_id(traced) or own_id,
        headers=_forwarded(visit, traced),
        strict=True,
        gated=gated,
        client=running,
        trace=visit.span.trace if visit.span is not None else context(running.meta) or context(head.headers),
        peer=head.peer,
        token=endpoint.forward.token(visit.inbound.head.headers),
    )


def _forwarded(visit: Visit, traced: Mapping[str, str]) -> Mapping[str, str]:
    """The trace context, and what the operator forwards of the head."""
    forward = visit.endpoint.forward
    return {**traced, **forward.fields(visit.inbound.head.headers)} if forward.headers else traced


class Running:
    """One call under way, and the way back to its client: the `rpcgw.api.context.Client` of its procedure."""

    __slots__ = ("_request", "_session", "_stream", "_told", "_visit", "meta", "revision")

    def __init__(self, visit: Visit, request: Modern | Legacy, session: Session | None) -> None:
        meta = request.params.get("_meta")
        self.meta: dict[str, Any] = meta if type(meta) is dict else _NO_META
        self.revision = revision_of(request, session)
        self._visit = visit
        self._request = request
        self._session = session
        self._stream: Stream | None = None
        self._told = -inf

    # -- what a procedure may do

    async def progress(self, progress: float, total: float | None, message: str | None, /) -> None:
        """Tell how far the call is, where the client gave a token for it; only ever upwards."""
        token, stream = notices.token_of(self.meta), self._way()
        if token is None or stream is None or not isfinite(progress) or progress <= self._told:
            return
        self._told = progress
        known = total if total is not None and isfinite(total) else None
        await stream.say(notices.progress(token, progress, known, message))

    async def log(self, level: LogLevel, data: object, logger: str | None, /) -> None:
        """Send a message, where a client of the stateless era asks for its level; sessions have no way to ask."""
        stream = self._way()
        if stream is not None and self._session is None and notices.is_asked(level, self.meta.get(META_LOG_LEVEL)):
            await stream.say(notices.log(level, data, logger))

    def has(self, capability: str, /) -> bool:
        """Whether the client declared it: with this request, or when its session began."""
        if self._session is not None:
            return capability in self._session.capabilities
        return capability in declared(self.meta.get(META_CAPABILITIES))

    # -- what may happen meanwhile

    def attend(self, work: Attended[Any]) -> Watch:
        """Watch for what ends the call or its silence: a client that leaves, one that gives up, a long wait."""
        loop = asyncio.get_running_loop()
        departure = self._departure(loop, work) if self._session is None else self._giving_up(work)
        stream = self._way()
        if stream is None:
            return departure
        silence = loop.call_later(self._visit.endpoint.limits.silence, self._break_silence, stream)

        def stop() -> None:
            departure()
            silence.cancel()

        return stop

    def end(self, made: Answer | Refused | None) -> None:
        """Send what the call came to, where a stream has begun; a call that was given up has no answer."""
        if self._stream is None or not self._stream.begun:
            return
        if made is None:
            self._stream.end()
        else:
            self._stream.end(answers.error(made) if isinstance(made, Refused) else made.body)

    def _departure(self, loop: asyncio.AbstractEventLoop, work: Attended[Any]) -> Watch:
        """MCP 2026-07-28, Cancellation: a closed connection gives up its call. Sessions' calls go on."""

        async def watch() -> None:
            await self._visit.inbound.gone()
            work.interrupt()

        watcher = loop.create_task(watch())

        def stop() -> None:
            watcher.cancel()

        return stop

    def _giving_up(self, work: Attended[Any]) -> Watch:
        cancellations = self._visit.services.cancellations
        session_id = self._visit.inbound.head.headers.get(fields.SESSION)
        assert session_id is not None, "a session's request names its session"
        return cancellations.enter(session_id, self._request.id, work.interrupt)

    def _break_silence(self, stream: Stream) -> None:
        if not stream.begun:
            stream.show_life()

    def _way(self) -> Stream | None:
        """The stream to the client; None where the client, or the door, takes an answer in one piece only."""
        if self._stream is None:
            inbound = self._visit.inbound
            if inbound.begin is not None and notices.accepts_events(inbound.head.headers.get("accept")):
                self._stream = Stream(inbound.begin, self._visit.locale, self._visit.endpoint.limits.silence)
        return self._stream
