"""What a gateway told while it was tested: events, and the lines of its log."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import msgspec

from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.api.records import record
from rpcgw.kernel.call import Call, Outcome
from rpcgw.kernel.ports import Observer


@record(frozen=True, slots=True)
class Event:
    """Something worth a counter or a log line: `cache.write`, `lock.lost`, `session.created`, ..."""

    name: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class Recorder:
    """`rpcgw.kernel.ports.Observer`: remembers events, and tells another observer everything."""

    def __init__(self, beneath: Observer) -> None:
        self.events: list[Event] = []
        self._beneath = beneath

    def call_started(self, call: Call) -> None:
        """A call was accepted."""
        self._beneath.call_started(call)

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None:
        """What really was raised."""
        self._beneath.call_failed(call, cause, code)

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None:
        """A call has its outcome."""
        self._beneath.call_finished(call, outcome, seconds)

    def event(self, name: str, /, **fields: Any) -> None:
        """Anything else."""
        self.events.append(Event(name, dict(fields)))
        self._beneath.event(name, **fields)


class Lines(Sink):
    """A log's lines, kept instead of written; errors go to standard error too, which pytest shows with a failure."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []

    def write(self, line: bytes) -> None:
        """Keep a line."""
        self._lines.append(line)
        if b'"level":"error"' in line:
            sys.stderr.write(line.decode())

    def write_soon(self, line: bytes) -> None:
        """Keep a line now: a test asks for it as soon as its call is over."""
        self.write(line)

    @property
    def is_terminal(self) -> bool:
        """Nobody looks on."""
        return False

    def read(self, event: str | None = None) -> list[dict[str, Any]]:
        """The lines so far, or those of one event, as JSON values."""
        found: list[dict[str, Any]] = [msgspec.json.decode(line) for line in self._lines]
        return found if event is None else [line for line in found if line.get("event") == event]
