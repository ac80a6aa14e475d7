"""A daemon of a command's own, on a port of this machine, for as long as a block lasts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from rpcgw.api.records import record
from rpcgw.cli.load.listening import free_port, listens

START = 60.0
STOP = 30.0
_BEAT = 0.02
_SHOWN = 2000


@record(frozen=True, slots=True)
class Spawned:
    """The daemon: its port on 127.0.0.1, and the process that was started."""

    port: int
    pid: int


@contextmanager
def spawned(config: str, environment: str | None, workers: int | None) -> Iterator[Spawned]:
    """Serve a configuration. What it keeps goes to a folder that is removed, unless the configuration says where.

    Raises:
        click.ClickException: It does not start; the text has the end of its log.
    """
    port = free_port()
    command = [sys.executable, "-m", "rpcgw", "serve", "-c", config, "--bind", f"127.0.0.1:{port}"]
    command += [] if environment is None else ["--env", environment]
    command += [] if workers is None else ["--workers", str(workers)]
    with tempfile.TemporaryDirectory(prefix="rpcgw-bench-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as written:
            surroundings = {**os.environ, "STATE_DIRECTORY": str(Path(folder, "state"))}
            process = subprocess.Popen(command, stdout=written, stderr=written, env=surroundings)  # noqa: S603 -- ours
        try:
            _wait(port, process, log)
            yield Spawned(port, process.pid)
        finally:
            _end(process)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    if not listens(port, process, START, _BEAT):
        raise click.ClickException(f"the daemon does not start:\n{log.read_text('utf-8', 'replace')[-_SHOWN:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
