"""Spans over OpenTelemetry's SDK."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rpcgw.adapters.telemetry.tracing import OtelTracer
from rpcgw.protocol.trace import trace_id

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "tracestate": "a=b", "baggage": "shop=tea"}


class Bench:
    """A tracer, and what it has made so far."""

    def __init__(self) -> None:
        self.made = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.made))
        self.tracer = OtelTracer(provider.get_tracer("test"))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_span_hands_on_the_context_that_it_came_with(bench: Bench) -> None:
    """Its own id in the trace of its parent; state and baggage as they came (W3C Trace Context, W3C Baggage)."""
    with bench.tracer.span("call", "server", {}, parent=PARENT) as span:
        handed = dict(span.trace)
    [made] = bench.made.get_finished_spans()
    assert made.context is not None
    assert handed == {**PARENT, "traceparent": f"00-{TRACE}-{made.context.span_id:016x}-01"}


def test_a_span_without_a_parent_lies_below_the_current_one(bench: Bench) -> None:
    """And is the root of a trace where there is none; afterwards nothing is current any more."""
    with (
        bench.tracer.span("outer", "server", {}, parent={}) as outer,
        bench.tracer.span("inner", "client", {}, parent={}) as inner,
    ):
        assert trace_id(inner.trace) == trace_id(outer.trace)
    inner_made, outer_made = bench.made.get_finished_spans()
    assert inner_made.parent == outer_made.context
    assert outer_made.parent is None
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_what_leaves_a_block_is_its_error(bench: Bench) -> None:
    """By the class alone: an exception's text may hold what nobody should read."""
    with pytest.raises(KeyError), bench.tracer.span("call", "server", {"a": "b"}, parent=PARENT):
        raise KeyError("a secret")
    [made] = bench.made.get_finished_spans()
    assert dict(made.attributes or {}) == {"a": "b", "error.type": "KeyError"}
    assert (made.status.is_ok, made.status.description, made.events) == (False, None, ())


def test_a_context_that_is_the_parent_is_not_linked_too(bench: Bench) -> None:
    """Only another one is."""
    other = {"traceparent": "00-11111111111111111111111111111111-2222222222222222-01"}
    for link in (None, PARENT, other):
        with bench.tracer.span("call", "server", {}, parent=PARENT, link=link):
            pass
    assert [[f"{link.context.span_id:x}" for link in span.links] for span in bench.made.get_finished_spans()] == [
        [],
        [],
        ["2" * 16],
    ]
