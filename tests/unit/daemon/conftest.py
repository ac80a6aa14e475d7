"""A real daemon in a process of its own, serving the small gateway of `plays/`."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PLAYS = Path(__file__).parent / "plays"
PATIENCE = 60.0
"""Seconds that a busy machine is given; what is waited for takes a second or two."""
START = """
import sys
import rpcgw
rpcgw.__version__ = {version!r} or rpcgw.__version__
from rpcgw.daemon.options import Options
from rpcgw.daemon.{home} import run
sys.exit(run(Options(config=sys.argv[1], dev={dev}, wiring="small_gateway")))
"""


class Daemon:
    """One daemon: its configuration, its process, and the lines that it has logged."""

    def __init__(
        self,
        home: Path,
        settings: dict[str, Any],
        *,
        dev: bool = False,
        environment: dict[str, str] | None = None,
        inherited: tuple[int, ...] = (),
        version: str = "",
    ) -> None:
        self.config = home / "gateway.json"
        self.journal = home / "journal"
        self._log = home / "stderr"
        self.configure(**settings)
        script = START.format(home="dev" if dev else "supervisor", dev=dev, version=version)
        paths = os.pathsep.join([str(PLAYS), os.environ.get("PYTHONPATH", "")])
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", script, str(self.config)],
                stderr=log,
                env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
                process_group=0,
                pass_fds=inherited,
            )

    def configure(self, **settings: Any) -> None:
        """Write a configuration; the journal is always kept."""
        self.config.write_text(json.dumps({"journal": str(self.journal), **settings}))

    @property
    def text(self) -> str:
        return self._log.read_text()

    def lines(self, event: str | None = None) -> list[dict[str, Any]]:
        """What was logged, by event."""
        found = [json.loads(line) for line in self.text.splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in found if event in (None, line["event"])]

    def journaled(self) -> list[str]:
        return self.journal.read_text().splitlines() if self.journal.exists() else []

    def until(self, true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
        """Wait for something that another process does."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if value := true():
                return value
            time.sleep(0.01)
        raise AssertionError(f"no {what} within {seconds} s; logged:\n{self.text}")

    def until_logged(self, event: str, times: int = 1, seconds: float = PATIENCE) -> dict[str, Any]:
        """The n-th line of an event."""
        self.until(lambda: len(self.lines(event)) >= times, f"line {event} x{times}", seconds)
        return self.lines(event)[times - 1]

    @property
    def port(self) -> int:
        return int(self.until_logged("listening")["address"].rpartition(":")[2])

    def call(self, query: str = "", port: int | None = None) -> dict[str, Any]:
        """The answer to one call, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)
        try:
            connection.request("POST", f"/call{query}", b"{}")
            response = connection.getresponse()
            value: dict[str, Any] = json.loads(response.read())
            return {"status": response.status, "connection": response.getheader("Connection"), **value}
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of a page."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = PATIENCE) -> int:
        """The exit code, once it has ended."""
        return self.process.wait(seconds)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.ended()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons; none of them outlives the test."""
    started: list[Daemon] = []

    def make(
        *,
        dev: bool = False,
        environment: dict[str, str] | None = None,
        inherited: tuple[int, ...] = (),
        version: str = "",
        **settings: Any,
    ) -> Daemon:
        home = tmp_path / f"daemon{len(started)}"
        home.mkdir()
        started.append(Daemon(home, settings, dev=dev, environment=environment, inherited=inherited, version=version))
        return started[-1]

    yield make
    for daemon in started:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.process.wait(10)
