"""Traces: what a daemon sends to a real collector by OTLP/HTTP, and what it hands on."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.collector import Collector, Span, collecting
from tests.support.daemon import RPCGW, Daemon, clean_environment, daemon, end, folder
from tests.support.mcp import Session, Stateless
from tests.support.receiver import receiver

PLUGIN = '''
import logging

from opentelemetry import trace

import rpcgw as rpc


@rpc.procedure("Shop", groups=["general", "mcp"])
class Shop:
    """Sells."""

    async def buy(self, name: str) -> str:
        with trace.get_tracer("shop").start_as_current_span("ask the till"):
            logging.getLogger("shop").warning("sold")
        return name

    def in_thread(self) -> str:
        with trace.get_tracer("shop").start_as_current_span("work"):
            return "done"

    async def sold(self) -> None:
        raise rpc.LogicError("sold out")
'''
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
OTHER = "00-11111111111111111111111111111111-2222222222222222-01"
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_SERVICE_NAME": "tools"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


def config(collector: Collector, **more: Any) -> dict[str, Any]:
    return {
        "ufo_json_rpc": {"security": {"protected_api": False}},
        "tracing": {"enabled": True, "endpoint": collector.url},
        **more,
    }


@contextlib.contextmanager
def traced(collector: Collector, **more: Any) -> Iterator[Daemon]:
    with daemon(config=config(collector, **more), plugins={"shop.py": PLUGIN}, env=SOON) as running:
        yield running


def call(tool: str, meta: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    """A `tools/call` of the session era."""
    return {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}


def of(span: Span, *names: str) -> list[Any]:
    return [span.attributes.get(name) for name in names]


def test_a_tool_call_is_a_span_by_the_conventions_of_mcp(collector: Collector) -> None:
    """Named by the tool; its attributes as OpenTelemetry's conventions for MCP have them; what a procedure traces lies below."""
    with traced(collector) as running:
        Stateless(running).send(
            "tools/call", {"name": "Shop.buy", "arguments": {"name": "tea"}}, headers={"traceparent": PARENT}
        )
        span, below = collector.span("tools/call Shop.buy"), collector.span("ask the till")
        assert (span.kind, span.trace, span.parent, span.error) == ("server", TRACE, SPAN, None)
        assert span.attributes == {
            "mcp.method.name": "tools/call",
            "mcp.protocol.version": "2026-07-28",
            "jsonrpc.request.id": "1",
            "gen_ai.tool.name": "Shop.buy",
            "gen_ai.operation.name": "execute_tool",
            "network.transport": "tcp",
            "network.protocol.name": "http",
            "client.address": "127.0.0.1",
        }
        assert (below.trace, below.parent) == (TRACE, span.id)
        assert span.service["service.name"] == "tools"
        assert [line["trace_id"] for event in ("call", "sold") for line in running.logs(event)] == [TRACE, TRACE]


def test_the_context_of_a_message_goes_before_that_of_its_request(collector: Collector) -> None:
    """MCP SEP-414: `_meta` names the parent; the HTTP request's own context is linked."""
    with traced(collector) as running:
        session = Session(running)
        meta = {"traceparent": PARENT, "baggage": "shop=tea"}
        session.send("tools/call", call("Shop.buy", meta, name="tea"), headers={"traceparent": OTHER})
        span = collector.span("tools/call Shop.buy")
        assert (span.trace, span.parent) == (TRACE, SPAN)
        assert span.links == (("1" * 32, "2" * 16),)
        assert span.attributes["mcp.session.id"] == session.id
        assert span.attributes["mcp.protocol.version"] == "2025-11-25"


def test_every_request_of_mcp_is_a_span(collector: Collector) -> None:
    """Beginning a session, asking for tools, and what is refused; nothing that a client made up becomes a name."""
    with traced(collector) as running:
        session = Session(running)
        session.send("tools/list")
        session.send("no/such-method")
        session.send("tools/call", call("No.such_tool"))
        found = {span.name: span for span in collector.spans(4)}
        assert {"initialize", "tools/list", "unknown method", "tools/call"} <= set(found)
        refused = found["unknown method"]
        assert of(refused, "mcp.method.name", "error.type", "rpc.response.status_code") == [
            "no/such-method",
            "-32601",
            "-32601",
        ]
        assert of(found["tools/call"], "gen_ai.tool.name", "error.type") == [None, "-32602"]
        assert found["initialize"].parent == ""


def test_a_result_that_says_is_error_is_an_error(collector: Collector) -> None:
    """`error.type` is `tool_error`, though the answer is a result."""
    with traced(collector) as running:
        Stateless(running).send("tools/call", {"name": "Shop.sold", "arguments": {}})
        span = collector.span("tools/call Shop.sold")
        assert (span.attributes["error.type"], span.error) == ("tool_error", "sold out")


def test_calls_of_json_rpc(collector: Collector) -> None:
    """Each call of a batch is a span, a notification too; a method that there is not is no name."""
    with traced(collector) as running:
        batch = [
            {"jsonrpc": "2.0", "id": "a", "method": "Shop.sold"},
            {"jsonrpc": "2.0", "method": "Shop.in_thread"},
            {"jsonrpc": "2.0", "id": "b", "method": "Shop.nothing"},
        ]
        running.post("/rpc", batch, {"traceparent": PARENT})
        found = {span.name: span for span in collector.spans(4)}
        assert set(found) == {"Shop.sold", "Shop.in_thread", "work", "unknown method"}
        sold = found["Shop.sold"]
        assert of(sold, "rpc.system.name", "rpc.method", "jsonrpc.request.id") == ["jsonrpc", "Shop.sold", "a"]
        assert (sold.trace, sold.parent, sold.kind) == (TRACE, SPAN, "server")
        assert sold.attributes["error.type"] == sold.attributes["rpc.response.status_code"]
        assert "jsonrpc.request.id" not in found["Shop.in_thread"].attributes
        assert found["work"].parent == found["Shop.in_thread"].id


def test_a_deferred_call_and_its_callback_belong_to_the_trace(collector: Collector) -> None:
    """Accepted, run and delivered: each span lies below the one before, and the receiver is told of the last."""
    with receiver() as hooks:
        jobs = {"webhooks": {"allow": [f"{hooks.url}/"], "allow_private": True}}
        with traced(collector, jobs=jobs) as running:
            params = {"name": "tea", "$rpc": {"callback": f"{hooks.url}/done"}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "Shop.buy", "params": params}
            running.post("/rpc", request, {"traceparent": PARENT, "tracestate": "a=b"})
            [received] = hooks.wait()
            spans = {span.kind: span for span in collector.spans(3, lambda span: span.name in {"Shop.buy", "POST"})}
        assert [spans[kind].parent for kind in ("server", "consumer", "client")] == [
            SPAN,
            spans["server"].id,
            spans["consumer"].id,
        ]
        assert received.headers["traceparent"] == f"00-{TRACE}-{spans['client'].id}-01"
        assert received.headers["tracestate"] == "a=b"


def test_what_a_caller_does_not_sample_is_not_sent(collector: Collector) -> None:
    """The caller's decision holds; the trace is handed on and logged all the same."""
    with traced(collector) as running:
        running.post(
            "/rpc",
            {"jsonrpc": "2.0", "id": 1, "method": "Shop.buy", "params": ["x"]},
            {"traceparent": PARENT[:-1] + "0"},
        )
        running.post("/rpc", {"jsonrpc": "2.0", "id": 2, "method": "Shop.in_thread"})
        collector.span("Shop.in_thread")
        assert collector.spans(0, lambda span: span.name == "Shop.buy") == []
        assert running.wait_log("call")["trace_id"] == TRACE


def test_a_collector_that_is_away_costs_nothing() -> None:
    """Calls are answered, the log says what cannot be sent, and the daemon ends in time."""
    gone = Collector("http://127.0.0.1:9")
    with traced(gone) as running:
        request = {"jsonrpc": "2.0", "id": 1, "method": "Shop.buy", "params": ["x"]}
        assert running.post("/rpc", request).json()["result"] == "x"
        assert running.stop() == 0


def test_stdio_is_traced_too(collector: Collector) -> None:
    """`rpcgw mcp` over two pipes: the transport is one."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "traceparent": PARENT,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    with folder(config=json.dumps(config(collector)), plugins={"shop.py": PLUGIN}) as place:
        done = subprocess.run(
            [RPCGW, "mcp", "-c", "gateway.yaml"],
            cwd=place,
            env=clean_environment(place, SOON),
            input=json.dumps(message) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        span = collector.span("tools/list")
        assert (span.trace, span.attributes["network.transport"]) == (TRACE, "pipe")
        assert "network.protocol.name" not in span.attributes


def test_nothing_is_imported_where_nothing_is_traced() -> None:
    """Off, OpenTelemetry costs neither memory nor time."""
    plugin = 'import sys\nimport rpcgw as rpc\n@rpc.procedure("Demo")\nclass Demo:\n    async def known(self) -> bool:\n        return "opentelemetry" in sys.modules\n'
    with daemon(plugins={"demo.py": plugin}) as running:
        assert running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Demo.known"}).json()["result"] is False


def test_a_job_of_a_queue_belongs_to_the_trace(collector: Collector, redis_url: str) -> None:
    """What the daemon puts into a queue, another process runs and delivers, as one trace."""
    with receiver() as hooks:
        queue = {"type": "redis", "config": {"name": "later", "dsn": redis_url}}
        more = {
            "ufo_json_rpc": {"security": {"protected_api": False}, "async": [queue]},
            "jobs": {"webhooks": {"allow": [f"{hooks.url}/"], "allow_private": True}},
        }
        with traced(collector, **more) as running, working(running):
            params = {"name": "tea", "$rpc": {"callback": f"{hooks.url}/done"}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "Shop.buy", "params": params}
            running.post("/rpc", request, {"traceparent": PARENT})
            [received] = hooks.wait()
            spans = {span.kind: span for span in collector.spans(3, lambda span: span.name in {"Shop.buy", "POST"})}
        assert {span.trace for span in spans.values()} == {TRACE}
        assert spans["consumer"].parent == spans["server"].id
        assert spans["consumer"].attributes["messaging.destination.name"] == "later"
        assert received.headers["traceparent"] == f"00-{TRACE}-{spans['client'].id}-01"


@contextlib.contextmanager
def working(running: Daemon) -> Iterator[None]:
    """A worker of the queue, until the block ends."""
    place = running.folder
    with (place / "worker.log").open("wb") as log:
        command = [str(RPCGW), "worker", "later", "-c", "gateway.yaml"]
        process = subprocess.Popen(command, cwd=place, env=clean_environment(place, SOON), stdout=log, stderr=log)
    try:
        yield
    finally:
        end(process)
