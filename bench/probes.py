"""What no load tells: starts, memory, stalls of the loop, what a second worker brings."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace

import uvloop

from bench import cases, gateways
from bench.asking import Asker, ask
from bench.calls import PRICE, REDUCED, Call, WrongAnswerError, initialize, rpc, tool, tools
from bench.loads import by_client
from bench.machine import CORES
from bench.measuring import MIB, Plan
from bench.servers import DoesNotServeError, Program, Running, running
from bench.verdicts import Reading, spread
from rpcgw.cli.load.client import Load, Place, load, percentile
from rpcgw.cli.load.processes import resident
from rpcgw.cli.load.wire import Answered, Asked

KIB = 1024

STARTS = 5
MILLION = 1_000_000
WARM_CALLS = 50_000
SESSIONS = 10_000
WARM_SESSIONS = 500
SCRAPES = 7
TOOLS = 1000
WORKER_ROUNDS = 3

PING = rpc("ping", {}, "PONG")
"""What a daemon without plugins answers, too."""

Readings = Mapping[str, Reading]
Probe = Callable[[Plan], Readings]


def all_of(names: Iterable[str], plan: Plan) -> dict[str, Readings]:
    """What the probes of these names find; one that fails finds nothing, and says so."""
    found: dict[str, Readings] = {}
    for name in sorted(names):
        try:
            found[name] = PROBES[name](plan)
        except (DoesNotServeError, WrongAnswerError, OSError) as error:
            plan.tell(f"  {name}: no figure: {error}")
        else:
            told = ", ".join(f"{part} {reading.value}" for part, reading in found[name].items())
            plan.tell(f"  {name}: {told}")
    return found


# -- starts


def starts(_plan: Plan) -> Readings:
    """Seconds from the start of the process to the first answer, over the bare handler's right before.

    All code has its bytecode, that of plugins too: so it is at every start but the first.
    """
    ours = {"without plugins": (gateways.gateway(), PING), "1,000 tools": (gateways.many(TOOLS), tools(TOOLS))}
    ratios: dict[str, list[float]] = {name: [] for name in ours}
    floors = []
    for _ in range(STARTS):
        for name, (program, call) in ours.items():
            floors.append(_first_answer(_floor(), cases.FLOOR.call))
            ratios[name].append(_first_answer(program, call) / floors[-1])
    return {name: Reading(statistics.median(seen), spread(floors)) for name, seen in ratios.items()}


def _first_answer(program: Program, call: Call) -> float:
    with running(program) as server:
        answer = ask(server.port, call.asked)
        seconds = time.perf_counter() - server.began
        call.check(answer)
    return seconds


def _floor() -> Program:
    return Program((sys.executable, str(cases.FLOOR_SCRIPT), "{port}"))


# -- memory


def memory(plan: Plan) -> Readings:
    """Memory of a worker: idle over the bare handler's, and what a million calls and thousands of sessions leave."""
    return {"idle": _idle(), "growth": _growth(plan), "session": _session()}


def _idle() -> Reading:
    sizes = []
    for program, call in ((gateways.gateway(), PING), (_floor(), cases.FLOOR.call)):
        with running(program) as server:
            call.check(ask(server.port, call.asked))
            sizes.append(resident(server.worker()))
    return Reading(sizes[0] / sizes[1])


def _growth(plan: Plan) -> Reading:
    call = tool(cases.SMALL, PRICE, REDUCED)
    with running(gateways.shipped()) as server:
        answer = ask(server.port, call.asked)
        call.check(answer)
        _calls(plan, server, call.asked, answer, WARM_CALLS)
        before = resident(server.worker())
        _calls(plan, server, call.asked, answer, MILLION)
        return Reading((resident(server.worker()) - before) / MIB)


def _calls(plan: Plan, server: Running, asked: Asked, answer: Answered, count: int) -> None:
    done = 0
    while done < count:
        done += plan.driver(server.port, asked, answer, 16, plan.seconds).answers


def _session() -> Reading:
    with running(gateways.shipped()) as server, Asker(server.port) as asker:
        open_sessions(asker, WARM_SESSIONS)
        before = resident(server.worker())
        open_sessions(asker, SESSIONS)
        return Reading((resident(server.worker()) - before) / SESSIONS / KIB)


def open_sessions(asker: Asker, count: int) -> None:
    """Begin so many sessions and leave them."""
    for _ in range(count):
        if asker.ask(initialize()).header("Mcp-Session-Id") is None:
            raise WrongAnswerError("initialize begins no session")


# -- the loop


def stall(_plan: Plan) -> Readings:
    """The longest that one call in a closed loop waits while /metrics is scraped, in ms: the median of scrapes.

    It is watched by the same without a scrape: where that is half as long, the machine stalls and not the loop.
    """
    with running(gateways.many(TOOLS)) as server:
        _use_all(server)
        call = tool("Offers.discounted", PRICE, REDUCED)
        answer = ask(server.port, call.asked)
        call.check(answer)
        quiet, scraped = [], []
        for _ in range(SCRAPES):
            quiet.append(uvloop.run(_longest(server.port, call.asked, answer, scrape=False)))
            scraped.append(uvloop.run(_longest(server.port, call.asked, answer, scrape=True)))
    longest, base = statistics.median(scraped), statistics.median(quiet)
    if base > max(longest / 2, _STEADY):
        return {"longest": Reading(longest, float("inf"), f"without a scrape it is {base:.1f} ms")}
    return {"longest": Reading(longest)}


_STEADY = 2.0


def _use_all(server: Running) -> None:
    """Call every tool once: what was never called has no series."""
    with Asker(server.port) as asker:
        for number in range(TOOLS - gateways.OFFERED):
            call = tool(f"Many.method{number}", {"query": "x"}, [])
            call.check(asker.ask(call.asked))


async def _longest(port: int, asked: Asked, answer: Answered, *, scrape: bool) -> float:
    """The longest latency of a second, in milliseconds."""
    wanted = answer.status, answer.body
    loading = asyncio.create_task(
        load(Place("127.0.0.1", port), asked, lambda got: (got.status, got.body) == wanted, Load(1, 1.0))
    )
    if scrape:
        await asyncio.sleep(0.3)
        await _scrape(port)
    result = await loading
    if result.wrong:
        raise WrongAnswerError(result.told[0])
    return percentile(result.latencies, 1) * 1e3


async def _scrape(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    seen = await reader.read()
    writer.close()
    if seen.count(b"\nrpcgw_") < TOOLS:
        raise WrongAnswerError(f"/metrics answers {seen[:200]!r}")


# -- workers


def workers(plan: Plan) -> Readings:
    """Throughput of two workers over that of one, the client on the same two cores."""
    if plan.driver is by_client:
        return {"two": Reading(None, note="wrk is needed: a client in Python takes a core for itself")}
    call = tool(cases.SMALL, PRICE, REDUCED)
    mine = os.sched_getaffinity(0)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(running(replace(gateways.shipped(workers=count), cores=frozenset(CORES.both))))
            for count in (1, 2)
        ]
        answers = [ask(server.port, call.asked) for server in servers]
        rates: tuple[list[float], list[float]] = ([], [])
        os.sched_setaffinity(0, CORES.both)
        try:
            for _ in range(WORKER_ROUNDS):
                for server, answer, seen in zip(servers, answers, rates, strict=True):
                    call.check(answer)
                    sample = plan.driver(server.port, call.asked, answer, 16, plan.seconds)
                    seen.append(sample.answers / sample.seconds)
        finally:
            os.sched_setaffinity(0, mine)
    one, two = rates
    return {"two": Reading(statistics.median(two) / statistics.median(one), spread(one))}


PROBES: Mapping[str, Probe] = {"starts": starts, "memory": memory, "stall": stall, "workers": workers}
