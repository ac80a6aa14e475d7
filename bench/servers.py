"""Servers under test: each in a process of its own, pinned to one core, in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from compileall import compile_dir
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.machine import CORES, ROOT
from rpcgw.cli.load.listening import free_port, listens

START = 120.0
STOP = 10.0
_BEAT = 0.002


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs; `elsewhere` is the port of a second one that shares its state, where there is one."""

    port: int
    pid: int
    folder: Path
    began: float
    elsewhere: int = 0
    supervised: bool = False

    def worker(self) -> int:
        """The process that serves: of the daemon the one that its log names, a little after it listens."""
        deadline = time.monotonic() + START
        while self.supervised and time.monotonic() < deadline:
            for line in (self.folder / "log").read_text("utf-8", "replace").splitlines():
                if '"worker.ready"' in line:
                    return int(json.loads(line)["worker"])
            time.sleep(_BEAT)
        return self.pid


Start = Callable[[], AbstractContextManager[Running]]


@dataclass(frozen=True, slots=True)
class Server:
    """A server by name. `missing` says why it cannot be measured here; nothing where it can."""

    name: str
    start: Start
    missing: Callable[[], str] = field(default=lambda: "")


@dataclass(frozen=True, slots=True)
class Program:
    """A command line, `{port}` and `{folder}` filled in, and the files that it finds in its folder.

    `supervised` where it is a supervisor, whose log tells which process serves.
    """

    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    cores: frozenset[int] = frozenset({CORES.server})
    supervised: bool = False

    def missing(self) -> str:
        """What to do to have its interpreter; nothing where it is there."""
        return "" if shutil.which(self.command[0]) else "not installed: make bench fetches it"


def server(name: str, program: Program) -> Server:
    """A server that is one program."""
    return Server(name, lambda: running(program), program.missing)


def peer(name: str, script: str, python: Path, *arguments: str) -> Server:
    """A server by one of the scripts in bench/peers, with a Python of its own."""
    return server(name, Program((str(python), str(ROOT / "bench" / "peers" / script), "{port}", *arguments)))


def daemon(config: str, *, files: Mapping[str, str] | None = None, workers: int = 1) -> Program:
    """The daemon on a configuration."""
    command = (sys.executable, "-m", "rpcgw", "serve", "-c", config, "--bind", "127.0.0.1:{port}")
    return Program((*command, "--workers", str(workers)), files or {}, supervised=True)


@contextmanager
def running(program: Program, *, elsewhere: int = 0) -> Iterator[Running]:
    """Start a program and wait until it accepts connections; it is ended with the block."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        for path, text in program.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        compile_dir(folder, quiet=1)  # plugins have their bytecode at every start but their first
        command = [part.replace("{port}", str(port)).replace("{folder}", name) for part in program.command]
        began = time.perf_counter()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "STATE_DIRECTORY": f"{name}/state", **program.environment},
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, program.cores),  # noqa: PLW1509 -- there are no threads here
            )
        try:
            wait_for(port, process, folder / "log")
            yield Running(port, process.pid, folder, began, elsewhere, program.supervised)
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours, with all that it has started where it does not end by itself."""
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class DoesNotServeError(Exception):
    """A server ended, or accepts no connection."""


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until somebody listens on a port."""
    if listens(port, process, START, _BEAT):
        return
    told = log.read_text("utf-8", "replace")[-2000:]
    raise DoesNotServeError(f"{process.args!r} does not serve:\n{told}")
