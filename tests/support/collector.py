"""A collector of traces: takes what OpenTelemetry's exporter sends by OTLP/HTTP, as any real one does."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.daemon import wait_until

KINDS = {2: "server", 3: "client", 4: "producer", 5: "consumer"}
ERROR = 2


@dataclass(frozen=True)
class Span:
    """One span as it came; `parent` is empty where it has none, `error` is the status' message where it is an error."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    links: tuple[tuple[str, str], ...]
    error: str | None
    service: dict[str, Any]


@dataclass
class Collector:
    """What came so far; `url` is what the daemon is configured with."""

    url: str
    _spans: list[Span] = field(default_factory=list)

    def take(self, request: ExportTraceServiceRequest) -> None:
        """Keep the spans of one request."""
        for of_resource in request.resource_spans:
            service = _values(of_resource.resource.attributes)
            for of_scope in of_resource.scope_spans:
                self._spans += [_span(span, service) for span in of_scope.spans]

    def spans(self, count: int, about: Callable[[Span], bool] = lambda _: True) -> list[Span]:
        """Wait until so many spans of a kind have come; return them in the order in which they ended."""
        wait_until(
            lambda: len(list(filter(about, self._spans))) >= count, 30, lambda: f"{count} spans in {self._spans}"
        )
        return list(filter(about, self._spans))

    def span(self, name: str) -> Span:
        """Wait for the span of a name; there is one."""
        [found] = self.spans(1, lambda span: span.name == name)
        return found


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    """Listen until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                collector.take(ExportTraceServiceRequest.FromString(body))
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _span(span: Any, service: dict[str, Any]) -> Span:
    return Span(
        name=span.name,
        kind=KINDS.get(span.kind, str(span.kind)),
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        attributes=_values(span.attributes),
        links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        error=span.status.message if span.status.code == ERROR else None,
        service=service,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
