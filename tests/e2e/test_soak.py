"""Sessions opened and dropped without pause: what a worker holds stays what it was. `make soak` does it for longer."""

from __future__ import annotations

import json
import os
import socket
import statistics
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tests.e2e.kernel_plugin import Notes, kernel_daemon, result
from tests.support.daemon import Daemon, wait_until
from tests.support.figures import Figure
from tests.support.http import exchange

SECONDS = float(os.environ.get("SOAK", "20"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS + 240)]

CALLERS = 6
TTL = 2
"""Seconds after which a dropped session is over: they end while others begin."""
MEBIBYTE = 1 << 20
NOISE = 6 * MEBIBYTE
REMEMBERED, EACH = 10_000, 800
"""A worker remembers so many sessions, at so many bytes at most: until then it may grow."""
JSON = {"Content-Type": "application/json"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def test_a_soak_leaves_memory_and_descriptors_flat(tmp_path: Path, figure: Figure) -> None:
    """Half of the sessions end by DELETE and half are dropped, some in the middle of a request."""
    with kernel_daemon(Notes(tmp_path), ufo_mcp={"session_ttl": TTL}) as served:
        worker = Path("/proc", str(result(served, "Demo.pid")))
        over, sessions = threading.Event(), count()
        with ThreadPoolExecutor(CALLERS) as threads:
            users = [threads.submit(use, served, over, sessions) for _ in range(CALLERS)]
            try:
                over.wait(SECONDS / 2)
                warm, begun = memory(worker), next(sessions)
                over.wait(SECONDS / 2)
                after, total = memory(worker), next(sessions)
            finally:
                over.set()
        for user in users:
            user.result()
        open_now = descriptors(worker)
        idle = descriptors(worker, at_most=open_now)
    case = f"Sessions opened and dropped for {SECONDS:g} s"
    figure(case, "sessions", total)
    figure(
        case,
        "memory more than at half time",
        (after - warm) / MEBIBYTE,
        "MiB",
        promised=f"at most {NOISE // MEBIBYTE} MiB",
    )
    figure(case, "file descriptors afterwards", idle, promised="as at the beginning")
    assert total > 100
    growing = min(total, REMEMBERED) - min(begun, REMEMBERED)
    assert after - warm <= NOISE + growing * EACH
    assert idle <= 40


def use(served: Daemon, over: threading.Event, sessions: count[int]) -> None:
    """One client after the other, each with a connection of its own."""
    while not over.is_set():
        number = next(sessions)
        with closing(served.connect()) as connection:
            answer = exchange(connection, "POST", "/mcp", message("initialize", INITIALIZE), JSON)
            session = answer.header("Mcp-Session-Id")
            assert session is not None, answer
            held = {**JSON, "Mcp-Session-Id": session}
            called = {"name": "Demo.echo", "arguments": {"value": number}}
            assert exchange(connection, "POST", "/mcp", message("tools/call", called), held).status == 200
            if number % 2:
                assert exchange(connection, "DELETE", "/mcp", None, held).status == 200
        if number % 10 == 0:
            leave_in_the_middle(served, held)


def leave_in_the_middle(served: Daemon, held: dict[str, str]) -> None:
    """A client that is gone before its answer: it has asked for something slow, or not even to the end."""
    body = message("tools/call", {"name": "Demo.sleep", "arguments": {"seconds": 0.2}}).encode()
    fields = "".join(f"{name}: {value}\r\n" for name, value in held.items())
    head = f"POST /mcp HTTP/1.1\r\nHost: {served.host}:{served.port}\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode()
    for sent in (head + body, head + body[:10]):
        with socket.create_connection((served.host, served.port), timeout=20) as connection:
            connection.sendall(sent)


def message(method: str, params: object) -> str:
    """A request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def memory(worker: Path) -> float:
    """Bytes that a process has for itself alone, the median of some moments."""
    found = []
    for _ in range(9):
        fields = dict(line.split(":", 1) for line in (worker / "status").read_text().splitlines())
        found.append(int(fields["RssAnon"].split()[0]) * 1024)
    return statistics.median(found)


def descriptors(worker: Path, at_most: int = 1_000_000) -> int:
    """How many files and sockets a process holds, once that has settled."""
    counts: list[int] = []

    def steady() -> bool:
        counts.append(len(list((worker / "fd").iterdir())))
        return counts[-1] <= at_most and len(counts) > 25 and len(set(counts[-25:])) == 1

    wait_until(steady, 60, lambda: f"no end of changes: {counts[-30:]}")
    return counts[-1]
