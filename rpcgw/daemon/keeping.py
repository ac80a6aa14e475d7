"""What the supervisor keeps in state directories: its pid file, and its part in metrics. Standard library only."""

from __future__ import annotations

from contextlib import suppress

from rpcgw.daemon.counters import Counters
from rpcgw.daemon.generation import Generation
from rpcgw.daemon.lines import Lines
from rpcgw.daemon.options import Needs
from rpcgw.daemon.pidfile import NotRunning, PidFile, running


class Keeping:
    """Follows a reload that names another state directory, or turns metrics on or off.

    What cannot be written is logged: the daemon serves all the same, only `rpcgw reload` or the sums suffer.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._counters: dict[str, Counters] = {}
        self._pid_file: PidFile | None = None
        self._state_dir = ""

    def before_workers(self, needs: Needs) -> None:
        """A generation is about to have workers: a directory's counters begin at 0 the first time that it is used."""
        self._tell_of_another(needs.state_dir)
        if needs.metrics_dir not in self._counters:
            self._counters[needs.metrics_dir] = Counters(needs.metrics_dir, self._lines)
            self._counters[needs.metrics_dir].begin()

    def _tell_of_another(self, state_dir: str) -> None:
        if not state_dir or state_dir == self._state_dir:
            return
        with suppress(NotRunning):
            other = running(state_dir)
            text = "metrics of both mix, and `rpcgw reload` finds one of them: give each daemon a state_dir of its own"
            self._lines("state.shared", level="warning", state_dir=state_dir, process=other, text=text)

    def serving(self, needs: Needs) -> None:
        """A generation serves: the daemon is found where this one keeps its state."""
        if not needs.state_dir or needs.state_dir == self._state_dir:
            return
        try:
            fresh = PidFile(needs.state_dir)
        except OSError as error:
            self._lines("pidfile.failed", level="warning", text=str(error))
            return
        self.close()
        self._pid_file, self._state_dir = fresh, needs.state_dir

    def worker_gone(self, generation: Generation, slot: int) -> None:
        """Its gauges go with it."""
        if (counters := self._counters.get(generation.needs.metrics_dir)) is not None:
            counters.worker_gone(generation.number, slot)

    def generation_gone(self, generation: Generation) -> None:
        """Its counters become history."""
        if (counters := self._counters.get(generation.needs.metrics_dir)) is not None:
            counters.generation_gone(generation.number, sorted(generation.slots))

    def close(self) -> None:
        """Remove the pid file."""
        if self._pid_file is not None:
            self._pid_file.remove()
            self._pid_file, self._state_dir = None, ""
