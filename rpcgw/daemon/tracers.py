"""What traces calls in a process. Where nothing is traced nothing of OpenTelemetry is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from rpcgw.config.settings import TracingSettings
from rpcgw.kernel.ports import Tracer


def preload_tracing(settings: TracingSettings) -> None:
    """Import what workers will trace with, where they will, so that they share it."""
    if settings.enabled:
        import_module("rpcgw.adapters.telemetry.tracing")


@contextmanager
def opened_tracer(settings: TracingSettings) -> Iterator[Tracer | None]:
    """What traces calls in this process; None where nothing is traced, and then nothing of it is imported."""
    if not settings.enabled:
        yield None
        return
    from rpcgw.adapters.telemetry.tracing import tracing  # noqa: PLC0415 -- imported where it is used

    with tracing(settings) as tracer:
        yield tracer
