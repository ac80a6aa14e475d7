"""One run of one server, and the order of runs: the floor between every two others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bench.asking import ask
from bench.calls import Call, WrongAnswerError
from bench.loads import Driver, by_client
from bench.servers import DoesNotServeError, Running, Server
from rpcgw.cli.load.processes import cpu_seconds, resident, tree
from rpcgw.cli.load.wire import Answered, NotFramedError

MIB = 1 << 20
WARM = 0.5
"""Seconds that are not measured."""


Prepare = Callable[[Running], Mapping[str, str]]
"""What is done before a load; it returns header fields that each request of it has."""


def by_nothing(_: Running) -> Mapping[str, str]:
    """Nothing has to be done."""
    return {}


@dataclass(frozen=True, slots=True)
class Case:
    """A server, what it is asked, over how many connections, and how it is prepared."""

    name: str
    server: Server
    call: Call
    connections: int = 16
    prepare: Prepare = by_nothing


@dataclass(frozen=True, slots=True)
class Figure:
    """One run: requests a second, CPU microseconds a request, latencies in milliseconds, memory in MiB.

    `busy` is the part of the time that the server computed (1: one core, all the time), `start` the seconds until it
    accepted connections.
    """

    rps: float
    cpu: float
    p50: float
    p99: float
    busy: float
    start: float
    idle: float
    after: float

    def of(self, metric: str) -> float:
        """The figure of a name."""
        return float(getattr(self, metric))


def spent(pid: int) -> float:
    """The processor time of a process and all that descend from it, in seconds."""
    return cpu_seconds(tree(pid))


@dataclass(frozen=True, slots=True)
class Run:
    """A figure, and those of the floor right before and after it."""

    figure: Figure
    floors: tuple[Figure, Figure]

    def ratio(self, metric: str) -> float:
        """The figure over the mean of the floor's around it."""
        around = statistics.mean(floor.of(metric) for floor in self.floors)
        return self.figure.of(metric) / around


@dataclass(slots=True)
class Runs:
    """What came of a case: its runs, or why there are none."""

    runs: list[Run] = field(default_factory=list)
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """How often, how long, and by which load generator. `keep` leaves the servers running between their runs."""

    rounds: int
    seconds: float
    driver: Driver
    keep: bool = False
    tell: Callable[[str], None] = print


@dataclass(frozen=True, slots=True)
class Ready:
    """A case whose server runs and has answered rightly."""

    case: Case
    running: Running
    call: Call
    answer: Answered
    start: float
    idle: float

    def run(self, plan: Plan) -> Figure:
        """Load it."""
        asked, connections = self.call.asked, self.case.connections
        before = spent(self.running.pid)
        sample = plan.driver(self.running.port, asked, self.answer, connections, plan.seconds)
        cpu = spent(self.running.pid) - before
        return Figure(
            rps=sample.answers / sample.seconds,
            cpu=cpu / sample.answers * 1e6,
            p50=sample.p50,
            p99=sample.p99,
            busy=cpu / sample.seconds,
            start=self.start,
            idle=self.idle,
            after=resident(self.running.worker()) / MIB,
        )


@contextmanager
def ready(case: Case) -> Iterator[Ready]:
    """Start a case's server, see that it answers rightly, and warm it up."""
    with case.server.start() as running:
        start = time.perf_counter() - running.began
        call = case.call.sent_with(case.prepare(running))
        answer = ask(running.port, call.asked)
        call.check(answer)
        made = Ready(case, running, call, answer, start, resident(running.worker()) / MIB)
        by_client(running.port, call.asked, answer, case.connections, WARM)
        yield made


_Each = TypeVar("_Each")


def in_order(cases: Sequence[_Each], number: int) -> list[_Each]:
    """The order of a round, counted from 0: forth and back in turn."""
    return list(cases) if number % 2 == 0 else list(reversed(cases))


def compare(floor: Case, cases: Sequence[Case], plan: Plan) -> dict[str, Runs]:
    """Floor, case, floor, case, floor ...; the direction alternates from round to round."""
    found = {case.name: Runs() for case in cases}
    with ExitStack() as kept:
        base = kept.enter_context(ready(floor))
        opened = {case.name: _opened(kept, case, plan, found[case.name]) for case in cases} if plan.keep else {}
        for number in range(plan.rounds):
            before = base.run(plan)
            for case in in_order(cases, number):
                runs = found[case.name]
                if runs.failed:
                    continue
                figure = _measured(case, opened.get(case.name), plan, runs)
                if figure is None:
                    continue
                after = base.run(plan)
                runs.runs.append(Run(figure, (before, after)))
                plan.tell(
                    f"  {case.name}: {figure.rps:.0f}/s, {figure.cpu:.1f} us, {runs.runs[-1].ratio('cpu'):.2f} x floor"
                )
                before = after
    return found


def by_connections(floor: Case, cases: Sequence[Case], plan: Plan) -> dict[str, Runs]:
    """Compare cases, each with a floor that has as many connections; in the order of the cases."""
    found: dict[str, Runs] = {}
    for count in sorted({case.connections for case in cases}):
        plan.tell(f"{count} connections")
        here = [case for case in cases if case.connections == count]
        present = [case for case in here if not case.server.missing()]
        found |= {case.name: Runs(failed=case.server.missing()) for case in here}
        found |= compare(replace(floor, connections=count), present, plan) if present else {}
    return {case.name: found[case.name] for case in cases}


NO_FIGURE = (WrongAnswerError, DoesNotServeError, OSError, NotFramedError)
"""What a server that does not serve, or not rightly, ends in: it gets no figure, and the others go on."""


def _opened(kept: ExitStack, case: Case, plan: Plan, runs: Runs) -> Ready | None:
    try:
        return kept.enter_context(ready(case))
    except NO_FIGURE as error:
        _note(case, plan, runs, error)
        return None


def _measured(case: Case, opened: Ready | None, plan: Plan, runs: Runs) -> Figure | None:
    try:
        if opened is not None:
            return opened.run(plan)
        with ready(case) as made:
            return made.run(plan)
    except NO_FIGURE as error:
        _note(case, plan, runs, error)
        return None


def _note(case: Case, plan: Plan, runs: Runs, error: Exception) -> None:
    runs.failed = f"{type(error).__name__}: {error}"
    runs.runs.clear()
    plan.tell(f"  {case.name}: no figure: {runs.failed}")
