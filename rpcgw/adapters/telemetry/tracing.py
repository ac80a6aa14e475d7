"""Traces by OpenTelemetry: `rpcgw.kernel.ports.Tracer` over its SDK, spans sent to a collector by OTLP/HTTP.

Imported only where tracing is on: OpenTelemetry takes a tenth of a second and some MiB.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from rpcgw import __version__
from rpcgw.config.settings import TracingSettings
from rpcgw.kernel import ports

_KINDS: Mapping[ports.SpanKind, SpanKind] = {
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
}
_W3C = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])
_LAST_WORDS = 2.0
"""Seconds that spans have to be sent when a process ends."""


class Opened:
    """`rpcgw.kernel.ports.Span` over a span that is the current one."""

    __slots__ = ("_span", "trace")

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        self.trace: Mapping[str, str] = carrier

    def set(self, name: str, value: str | int) -> None:
        """Say something of it."""
        self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        """Give it another name."""
        self._span.update_name(name)

    def failed(self, kind: str, message: str = "") -> None:
        """It ends in an error."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR, message or None))


class OtelTracer:
    """`rpcgw.kernel.ports.Tracer`. Spans are current ones: what a procedure traces by itself lies below them."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def span(
        self,
        name: str,
        kind: ports.SpanKind,
        attributes: Mapping[str, str],
        *,
        parent: Mapping[str, str],
        link: Mapping[str, str] | None = None,
    ) -> Iterator[Opened]:
        """A span of the trace of `parent`; of the current one, or of its own, where that is empty."""
        around = _W3C.extract(parent, context=contexts.Context()) if parent else contexts.get_current()
        links = [Link(_context_of(link))] if link and link != parent else []
        span = self._tracer.start_span(name, around, _KINDS[kind], attributes, links)
        token = contexts.attach(trace.set_span_in_context(span, around))
        opened = Opened(span)
        try:
            yield opened
        except BaseException as error:
            opened.failed(type(error).__name__)
            raise
        finally:
            contexts.detach(token)
            span.end()


@contextmanager
def tracing(settings: TracingSettings, processor: SpanProcessor | None = None) -> Iterator[OtelTracer]:
    """The tracer of a process, which procedures' own tracers join; at the end the last spans are sent.

    What is not set is taken from OpenTelemetry's environment variables. `processor` takes the spans instead of a
    collector.
    """
    resource = Resource.create(_named(settings) | {"service.version": __version__})
    provider = TracerProvider(ParentBased(TraceIdRatioBased(settings.sample)), resource, shutdown_on_exit=False)
    provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter(_endpoint(settings))))
    trace.set_tracer_provider(provider)
    try:
        yield OtelTracer(provider.get_tracer("rpcgw", __version__))
    finally:
        _shut_down(provider)


def _named(settings: TracingSettings) -> dict[str, str]:
    if settings.service_name is None and os.environ.get("OTEL_SERVICE_NAME"):
        return {}
    return {"service.name": settings.service_name or "rpcgw"}


def _endpoint(settings: TracingSettings) -> str | None:
    return None if settings.endpoint is None else f"{settings.endpoint.rstrip('/')}/v1/traces"


def _shut_down(provider: TracerProvider) -> None:
    """A collector that is away must not hold up the end: in a thread that ends with the process."""
    closing = threading.Thread(target=provider.shutdown, daemon=True)
    closing.start()
    closing.join(_LAST_WORDS)


def _context_of(carrier: Mapping[str, str]) -> trace.SpanContext:
    return trace.get_current_span(_W3C.extract(carrier, context=contexts.Context())).get_span_context()
