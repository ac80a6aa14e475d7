"""A call under a span of its own, where calls are traced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from rpcgw.kernel.call import Call, Failed, Outcome
from rpcgw.kernel.ports import SpanKind, Tracer
from rpcgw.protocol.jsonrpc import spans

Run = Callable[[Call], Awaitable[Outcome]]


async def under_a_span(tracer: Tracer, kind: SpanKind, call: Call, about: Mapping[str, str], run: Run) -> Outcome:
    """Run a call as part of the trace that it came with; it carries the span's own context on."""
    with tracer.span(call.method[:100], kind, about, parent=call.trace) as span:
        outcome = await run(msgspec.structs.replace(call, trace=span.trace))
        if spans.is_unknown(outcome):
            span.rename(spans.UNKNOWN)
        if isinstance(outcome, Failed):
            span.set(spans.STATUS, str(outcome.code))
            span.failed(str(outcome.code), outcome.message)
    return outcome
