"""What a command tells the world with: a log on stderr, and numbers that nobody scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.observer import Telemetry
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.adapters.telemetry.slotfile import SlotFile
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.config.settings import Logging
from rpcgw.gateway.model import Gateway


@contextmanager
def command_telemetry(gateway: Gateway, logging: Logging | None = None) -> Iterator[Telemetry]:
    """For a command: warnings and errors on stderr unless `logging` says otherwise, no metrics."""
    sink = Sink()
    log = Log(logging or replace(gateway.settings.logging, level="warning", format="console"), sink)
    log.install()
    file = SlotFile("/dev/null")
    try:
        yield Telemetry(Slots(file), log, gateway.table.methods, calls=gateway.settings.logging.calls)
    finally:
        sink.close()
        file.close()
