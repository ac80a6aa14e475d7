"""The supervisor's part in metrics: keeping the sums right when workers and generations end. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rpcgw.adapters.telemetry.history import clear, fold, settle
from rpcgw.adapters.telemetry.slotfile import slot_name
from rpcgw.daemon.lines import Lines


class Counters:
    """The slot files of one daemon in `directory`; does nothing where that is empty. A full disk is logged, no more."""

    def __init__(self, directory: str, lines: Lines) -> None:
        self._directory = directory
        self._lines = lines

    def begin(self) -> None:
        """A daemon's counters begin at 0."""
        self._try(lambda: clear(self._directory))

    def worker_gone(self, generation: int, slot: int) -> None:
        """Its gauges go with it; its counters stay for the slot's next worker."""
        self._try(lambda: settle(str(Path(self._directory, slot_name(generation, slot)))))

    def generation_gone(self, generation: int, slots: Sequence[int]) -> None:
        """Its counters become history."""
        self._try(lambda: fold(self._directory, [slot_name(generation, slot) for slot in slots]))

    def _try(self, work: Callable[[], None]) -> None:
        if not self._directory:
            return
        try:
            work()
        except OSError as error:
            self._lines("metrics.failed", level="warning", text=str(error))
