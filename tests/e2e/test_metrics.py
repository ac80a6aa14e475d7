"""What `/metrics` counts, scraped from a real daemon."""

from __future__ import annotations

import re

from tests.support.daemon import Daemon
from tests.support.mcp import Stateless


def scraped(daemon: Daemon, series: str) -> float:
    """A series' value now, 0 where it is not there yet."""
    text = daemon.get("/metrics").body.decode()
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_requests_by_endpoint_and_status(example_daemon: Daemon) -> None:
    """Every answer counts under its endpoint's name and its status, refusals too."""
    good = 'rpcgw_requests_total{endpoint="mcp_ufo_mcp_endpoint",status="200"}'
    refused = 'rpcgw_requests_total{endpoint="mcp_ufo_mcp_endpoint",status="405"}'
    before = scraped(example_daemon, good), scraped(example_daemon, refused)
    Stateless(example_daemon, "/mcp").send("tools/list")
    example_daemon.get("/mcp")
    assert (scraped(example_daemon, good), scraped(example_daemon, refused)) == (before[0] + 1, before[1] + 1)


def test_unknown_names_are_no_labels(example_daemon: Daemon) -> None:
    """A method that nobody brings counts as `unknown`, whatever a client calls it."""
    series = 'rpcgw_calls_total{group="internal",method="unknown",outcome="refused",surface="rpc",version="1"}'
    before = scraped(example_daemon, series)
    example_daemon.post("/rpc/internal", {"jsonrpc": "2.0", "id": 1, "method": "No.such_method"})
    assert scraped(example_daemon, series) == before + 1
    assert "No.such_method" not in example_daemon.get("/metrics").body.decode()
