"""`make bench`: rpcgw beside a bare aiohttp handler and the official Python SDKs, in one run.

One small `tools/call` with two validated arguments, stateless, keep-alive. Each server runs alone on one core, the load
comes from another. The floor runs again between every two others; a figure is the ratio to the floor runs around it.
First one call of each is compared with the expected answer; a server with a wrong answer gets no figure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import urllib.request
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parent))

import load
from servers import CLIENTS, ROOT, Server, cpu_seconds, peer, rpcgw, running

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(tool: str) -> tuple[bytes, dict[str, str]]:
    """A stateless call of revision 2026-07-28."""
    params = {"name": tool, "arguments": {"cents": 1999, "percent": 15}, "_meta": META}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    return _call(params), headers


def legacy(tool: str) -> tuple[bytes, dict[str, str]]:
    """A call of a session revision on a server that keeps no sessions."""
    params = {"name": tool, "arguments": {"cents": 1999, "percent": 15}}
    return _call(params), {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def _call(params: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


@dataclass(frozen=True, slots=True)
class Case:
    """A server and the call that it gets; in a `session`, which is begun first."""

    server: Server
    call: tuple[bytes, dict[str, str]]
    session: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One run: requests a second, CPU microseconds a request, latencies in milliseconds."""

    rps: float
    cpu: float
    p50: float
    p99: float


FLOOR = Case(peer("bare aiohttp", "floor.py", Path(sys.executable)), modern("discounted"))
CASES = (
    Case(rpcgw(), modern("Catalog.discounted")),
    Case(rpcgw("rpcgw in a session"), legacy("Catalog.discounted"), session=True),
    Case(peer("mcp 1.x stateless", "sdk1.py", CLIENTS / "mcp1" / "bin" / "python"), legacy("discounted")),
    Case(peer("mcp 2.x 2026-07-28", "sdk2.py", CLIENTS / "mcp2" / "bin" / "python"), modern("discounted")),
)
TARGETS = (
    ("rpcgw over bare aiohttp", "rpcgw", "bare aiohttp", 0.5),
    ("rpcgw over mcp 1.x stateless", "rpcgw", "mcp 1.x stateless", 18.0),
    ("rpcgw over mcp 2.x 2026-07-28", "rpcgw", "mcp 2.x 2026-07-28", 5.0),
    ("session over stateless", "rpcgw in a session", "rpcgw", 0.85),
)


def headers_of(port: int, case: Case) -> dict[str, str]:
    """The call's header fields, with a new session's id where it is made in one."""
    headers = case.call[1]
    if not case.session:
        return headers
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return {**headers, "Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}


def expected(port: int, body: bytes, headers: dict[str, str], name: str) -> bytes:
    """The answer to one call, checked by its meaning; the bytes are what every further answer must be."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp", body, {"Content-Type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        raw: bytes = reply.read()
    result = json.loads(raw)["result"]
    if result["structuredContent"] != {"result": 1699} or result["content"][0]["text"] != "1699" or result["isError"]:
        raise SystemExit(f"{name} answers {raw!r}")
    return raw


def measure(case: Case, *, connections: int, seconds: float) -> Figure:
    """One run of one server, after a short warm-up."""
    with running(case.server, core=0) as (port, pid):
        body, headers = case.call[0], headers_of(port, case)
        answer = expected(port, body, headers, case.server.name)
        request = load.Request(load.http(port, "/mcp", body, headers), answer)
        uvloop.run(load.run(port, request, connections=connections, seconds=seconds / 4))
        before = cpu_seconds(pid)
        result = uvloop.run(load.run(port, request, connections=connections, seconds=seconds))
        cpu = cpu_seconds(pid) - before
    if result.wrong or not result.answers:
        raise SystemExit(f"{case.server.name}: {len(result.wrong)} wrong answers, the first: {result.wrong[:1]}")
    return Figure(
        result.answers / result.seconds,
        cpu / result.answers * 1e6,
        result.percentile(0.5) * 1e3,
        result.percentile(0.99) * 1e3,
    )


@dataclass(slots=True)
class Row:
    """A server's ratios to the floor around each of its runs, and its raw figures."""

    ratios: list[float]
    cpu_ratios: list[float]
    figures: list[Figure]


def compare(cases: list[Case], *, rounds: int, connections: int, seconds: float) -> tuple[dict[str, Row], list[Figure]]:
    """Floor, server, floor, server, floor ...; the direction alternates from round to round."""
    rows = {case.server.name: Row([], [], []) for case in cases}
    floors = [measure(FLOOR, connections=connections, seconds=seconds)]
    for number in range(rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            figure = measure(case, connections=connections, seconds=seconds)
            floors.append(measure(FLOOR, connections=connections, seconds=seconds))
            around = floors[-2:]
            row = rows[case.server.name]
            row.figures.append(figure)
            row.ratios.append(figure.rps / statistics.mean(f.rps for f in around))
            row.cpu_ratios.append(figure.cpu / statistics.mean(f.cpu for f in around))
    return rows, floors


def report(rows: dict[str, Row], floors: list[Figure]) -> tuple[str, dict[str, float]]:
    """The table for people, and the targets' values by name."""
    lines = [f"{'server':22} {'rps':>8} {'x floor':>8} {'CPU us':>8} {'x floor':>8} {'p50 ms':>8} {'p99 ms':>8}"]
    middle = {"bare aiohttp": 1.0}
    lines.append(_line("bare aiohttp", floors, 1.0, 1.0))
    for name, row in rows.items():
        middle[name] = statistics.median(row.ratios)
        lines.append(_line(name, row.figures, middle[name], statistics.median(row.cpu_ratios)))
    values = {
        title: middle[ours] / middle[theirs]
        for title, ours, theirs, _ in TARGETS
        if ours in middle and theirs in middle
    }
    return "\n".join(lines), values


def _line(name: str, figures: list[Figure], ratio: float, cpu_ratio: float) -> str:
    rps, cpu, p50, p99 = (statistics.median(getattr(f, key) for f in figures) for key in ("rps", "cpu", "p50", "p99"))
    return f"{name:22} {rps:8.0f} {ratio:8.3f} {cpu:8.1f} {cpu_ratio:8.2f} {p50:8.2f} {p99:8.2f}"


def main() -> None:
    """Run, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each run")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--only", default="", help="measure these servers only, by the beginning of their names")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--assert", dest="judge", action="store_true", help="exit 1 where a target is missed")
    options = parser.parse_args()

    os.sched_setaffinity(0, {1})
    cases = [case for case in CASES if case.server.name.startswith(options.only)]
    for case in [case for case in cases if not case.server.present]:
        print(f"{case.server.name}: not measured (run make setup)")
        cases.remove(case)
    rows, floors = compare(cases, rounds=options.rounds, connections=options.connections, seconds=options.seconds)
    table, values = report(rows, floors)
    spread = max(f.rps for f in floors) / min(f.rps for f in floors) - 1
    digest = sha256((ROOT / "gateway.yaml.example").read_bytes()).hexdigest()[:12]
    print(
        f"{platform.python_version()} on {platform.machine()}, {options.connections} connections, "
        f"{options.rounds} rounds of {options.seconds:g} s, gateway.yaml.example {digest}\n"
    )
    print(table, "\n")
    missed = verdicts(values, noisy=spread > 0.25)
    print(f"\nthe floor wandered by {spread:.0%}")
    if options.json:
        options.json.write_text(json.dumps({"targets": values, "spread": spread, "table": table}, indent=2))
    if options.judge and missed and spread <= 0.25:
        raise SystemExit(1)


def verdicts(values: dict[str, float], *, noisy: bool) -> int:
    """Print each target with its verdict; how many were missed."""
    missed = 0
    for title, _, _, least in TARGETS:
        if title not in values:
            continue
        met = values[title] >= least
        missed += not met
        word = "noisy" if noisy else "met" if met else "MISSED"
        print(f"{title:32} {values[title]:7.2f}  at least {least:g}: {word}")
    return missed


if __name__ == "__main__":
    main()
