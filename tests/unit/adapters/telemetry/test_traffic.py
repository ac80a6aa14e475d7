"""HTTP requests, counted and logged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from rpcgw.adapters.telemetry.access import AccessLog
from rpcgw.adapters.telemetry.collector import registry
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.adapters.telemetry.slotfile import SlotFile
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.adapters.telemetry.traffic import Counted
from rpcgw.config.settings import Logging
from rpcgw.exchange import Fields, Head

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
HEAD = Head("POST", "/mcp", "", Fields({}))


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SlotFile]:
    file = SlotFile(str(tmp_path / "g1-0.slot"))
    yield file
    file.close()


@pytest.fixture
def metrics(tmp_path: Path) -> CollectorRegistry:
    return registry(str(tmp_path))


def test_an_answer_counts_by_its_endpoint_and_status(file: SlotFile, metrics: CollectorRegistry) -> None:
    """Each status is a series of its own."""
    answered = Counted(Slots(file))("mcp")
    for status in (200, 200, 404):
        answered(HEAD, status, 10, 100, 0.01)
    counts = [
        metrics.get_sample_value("rpcgw_requests_total", {"endpoint": "mcp", "status": s}) for s in ("200", "404")
    ]
    assert counts == [2, 1]


def test_times_and_sizes_are_distributions(file: SlotFile, metrics: CollectorRegistry) -> None:
    """Seconds, and the bytes of both bodies, in buckets by endpoint."""
    Counted(Slots(file))("mcp")(HEAD, 200, 300, 5000, 0.02)
    found = {
        name: (
            metrics.get_sample_value(f"{name}_sum", {"endpoint": "mcp"}),
            metrics.get_sample_value(f"{name}_bucket", {"endpoint": "mcp", "le": bound}),
        )
        for name, bound in (
            ("rpcgw_request_duration_seconds", "0.025"),
            ("rpcgw_request_size_bytes", "1024.0"),
            ("rpcgw_response_size_bytes", "4096.0"),
        )
    }
    assert found == {
        "rpcgw_request_duration_seconds": (0.02, 1),
        "rpcgw_request_size_bytes": (300, 1),
        "rpcgw_response_size_bytes": (5000, 0),
    }


def test_the_access_log_has_a_line_for_each_answer(tmp_path: Path, file: SlotFile) -> None:
    """What was asked by whom, what was answered, how large and how long; never the query."""
    sink = Sink(str(tmp_path / "access.log"))
    asked = Head("GET", "/rpc", "token=secret", Fields({"user-agent": "curl/8", "traceparent": PARENT}), "10.0.0.7")
    Counted(Slots(file), AccessLog(Log(Logging(), sink)))("rpc")(asked, 200, 0, 512, 0.0125)
    sink.close()
    [line] = [json.loads(line) for line in (tmp_path / "access.log").read_bytes().splitlines()]
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info",
        "event": "access",
        "endpoint": "rpc",
        "http_method": "GET",
        "path": "/rpc",
        "status": 200,
        "bytes_in": 0,
        "bytes_out": 512,
        "duration_ms": 12.5,
        "peer": "10.0.0.7",
        "user_agent": "curl/8",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    }
