"""Servers under test: each in a process of its own, pinned to one core, its CPU time read from the kernel."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / ".cache" / "clients"
PEERS = ROOT / "bench" / "peers"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is started; `{port}` stands for its port."""

    name: str
    command: tuple[str, ...]

    @property
    def present(self) -> bool:
        """Whether its interpreter is installed here."""
        return Path(self.command[0]).exists()


def peer(name: str, script: str, python: Path) -> Server:
    """A server by one of the scripts in `bench/peers`."""
    return Server(name, (str(python), str(PEERS / script), "{port}"))


def rpcgw(name: str = "rpcgw", config: str = "gateway.yaml.example") -> Server:
    """The daemon as it is shipped, one worker."""
    command = ("-m", "rpcgw", "serve", "-c", str(ROOT / config), "--bind", "127.0.0.1:{port}", "--workers", "1")
    return Server(name, (sys.executable, *command))


@contextmanager
def running(server: Server, core: int) -> Iterator[tuple[int, int]]:
    """Start a server on one core; gives its port and process id once it accepts connections."""
    port = _free_port()
    command = [part.replace("{port}", str(port)) for part in server.command]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, Path(folder, "log").open("wb") as log:
        process = subprocess.Popen(
            ["taskset", "-c", str(core), *command],
            stdout=log,
            stderr=log,
            cwd=ROOT,
            env={**os.environ, "STATE_DIRECTORY": str(Path(folder, "state"))},
        )
        try:
            _wait_for(port, process, Path(folder, "log"))
            yield port, process.pid
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and all that descend from it, in seconds."""
    total = 0.0
    todo = [pid]
    while todo:
        current = todo.pop()
        try:
            fields = Path(f"/proc/{current}/stat").read_text().rpartition(")")[2].split()
            children = Path(f"/proc/{current}/task/{current}/children").read_text().split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICKS
        todo += map(int, children)
    return total


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"{' '.join(map(str, process.args))} does not serve:\n{log.read_text()[-2000:]}")  # type: ignore[arg-type]  # a list of str
