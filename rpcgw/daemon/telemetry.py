"""What a worker tells the world with: logs, metrics in a slot file of its own, traces."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from rpcgw import __version__
from rpcgw.adapters.telemetry import families
from rpcgw.adapters.telemetry.audit import Audit
from rpcgw.adapters.telemetry.collector import Exposition
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.observer import Telemetry
from rpcgw.adapters.telemetry.slotfile import COUNTER, JOBS, SUFFIX, SlotFile, slot_name
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.adapters.telemetry.traffic import Counted
from rpcgw.api.records import record
from rpcgw.config.settings import Metrics
from rpcgw.daemon.compiled import Scrape, Slot
from rpcgw.daemon.logs import Logs, open_logs
from rpcgw.daemon.tracers import opened_tracer
from rpcgw.exchange import Traffic
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Tracer

METRICS = "run/metrics"
"""Where in `state_dir` the slot files lie."""


def metrics_directory(gateway: Gateway) -> str:
    """Where the workers' slot files lie; empty where nobody is to scrape them."""
    settings = gateway.settings
    return str(Path(settings.state_dir, METRICS)) if settings.metrics.enabled else ""


@record(frozen=True, slots=True)
class WorkerTelemetry:
    """What a worker tells the world with."""

    observer: Telemetry
    logs: Logs
    slots: Slots
    traffic: Traffic
    scrape: Scrape | None
    tracer: Tracer | None = None

    def reloaded(self, success: bool, at: float) -> None:  # noqa: FBT001 -- as the worker is told
        """As gauges: whether the last reload succeeded, and since when (by the epoch) the generation serves."""
        self.slots.number(families.RELOAD_SUCCESS).set(float(success))
        self.slots.number(families.RELOAD_TIME).set(at)


@contextmanager
def worker_telemetry(gateway: Gateway, slot: Slot) -> Iterator[WorkerTelemetry]:
    """The telemetry of one worker; takes over what structlog and logging are given in this process.

    Raises:
        ConfigError: A log's file cannot be opened.
    """
    settings = gateway.settings
    directory = metrics_directory(gateway)
    with ExitStack() as stack:
        logs = open_logs(gateway, stack)
        file = stack.enter_context(closing(_slot_file(directory, slot)))
        made = _made(gateway, logs, file, _scrape(directory, settings.metrics))
        _describe(gateway, slot, made.slots)
        yield replace(made, tracer=stack.enter_context(opened_tracer(settings.tracing)))


@contextmanager
def job_telemetry(gateway: Gateway, queue: str) -> Iterator[WorkerTelemetry]:
    """The telemetry of one worker of a queue; a daemon of the same state directory shows its numbers."""
    with ExitStack() as stack:
        logs = open_logs(gateway, stack)
        path, held = _job_file(metrics_directory(gateway), queue)
        stack.callback(os.close, held)
        made = _made(gateway, logs, stack.enter_context(closing(SlotFile(path))), None)
        yield replace(made, tracer=stack.enter_context(opened_tracer(gateway.settings.tracing)))


def _made(gateway: Gateway, logs: Logs, file: SlotFile, scrape: Scrape | None) -> WorkerTelemetry:
    slots = Slots(file)
    logs.count_lost(slots.number(families.LOG_DROPPED).add)
    if metrics_directory(gateway) and file.trouble:
        logs.main.write("metrics.failed", "warning", reason=file.trouble)
    observer = _observer(gateway, slots, logs.main, logs.audit)
    return WorkerTelemetry(observer, logs, slots, Counted(slots, logs.access), scrape)


def _job_file(directory: str, queue: str) -> tuple[str, int]:
    """The first file of a queue that no living worker holds, and the descriptor that holds it."""
    if directory:
        Path(directory).mkdir(parents=True, exist_ok=True)
    for number in count():
        path = str(Path(directory, f"{JOBS}{queue}-{number}{SUFFIX}")) if directory else os.devnull
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            continue
        except OSError:
            pass  # no locks there: two workers may share a file, and numbers are lost
        return path, held
    raise AssertionError("numbers do not end")


def _scrape(directory: str, settings: Metrics) -> Scrape | None:
    if not directory:
        return None
    expositions = {form: Exposition(directory, openmetrics=form) for form in (False, True)}

    async def read(*, openmetrics: bool) -> bytes:
        return await expositions[openmetrics].read()

    return Scrape(read, settings.path)


def _observer(gateway: Gateway, slots: Slots, log: Log, audit: Audit | None = None) -> Telemetry:
    return Telemetry(slots, log, gateway.table.methods, calls=gateway.settings.logging.calls, audit=audit)


def _slot_file(directory: str, slot: Slot) -> SlotFile:
    if not directory:
        return SlotFile("/dev/null")
    Path(directory).mkdir(parents=True, exist_ok=True)
    return SlotFile(str(Path(directory, slot_name(slot.generation, slot.number))))


def _describe(gateway: Gateway, slot: Slot, slots: Slots) -> None:
    """What is known when the worker begins; it is told of the last reload once it is ready."""
    slots.number(families.BUILD_INFO, __version__).set(1.0)
    for family in families.FAMILIES.values():
        if family.kind == COUNTER and not family.labels:
            slots.number(family)  # there from the start, so that the first one that is counted shows in its rate
    slots.number(families.WORKERS).set(1.0)
    slots.number(families.GENERATION).set(float(slot.generation))
    for state in ("loaded", "quarantined"):
        count = sum(plugin.state == state for plugin in gateway.plugins)
        slots.number(families.PLUGINS, state).set(float(count))
