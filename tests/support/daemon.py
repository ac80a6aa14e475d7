"""A real daemon for a test: started from YAML and plugin files in a folder of its own, spoken to over HTTP, and ended.

    with daemon(routes=..., plugins={"hello.py": "..."}) as d:
        d.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).json()

Nothing here imports `rpcgw`: what a test learns, a user could have learnt.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.http import Client

ROOT = Path(__file__).resolve().parent.parent.parent
RPCGW = Path(sys.executable).with_name("rpcgw")

LISTENING = re.compile(r"\blistening\b[^{}\n]*?\baddress=(\S+)")
BIND = "127.0.0.1:0"

START = STOP = 60.0
"""Seconds that a busy machine is given; a daemon alone on it needs two, and work in hand has 20 at a stop."""
POLL = 0.02

CONFIG = "ufo_json_rpc:\n  security:\n    protected_api: false\n"
ROUTES = """\
rpc:
  resource: rpc
  prefix: /rpc
mcp:
  resource: mcp
  prefix: /mcp
  defaults: {api_group: mcp}
"""

Yaml = str | Mapping[str, Any]


class DaemonDidNotStart(AssertionError):
    """The daemon ended, or said nothing, before it listened."""


class Daemon(Client):
    """A running daemon; `folder` holds its files, `url` is where it listens."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, url: str) -> None:
        super().__init__(url)
        self.process = process
        self.folder = folder

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self.process.pid

    def stderr(self) -> str:
        """Return what the daemon has logged so far, as text."""
        return read_log(self.folder)

    def logs(self, event: str | None = None) -> list[dict[str, Any]]:
        """Return the log's JSON lines so far, or those of one event."""
        lines = parse_log(self.stderr())
        return lines if event is None else [line for line in lines if line.get("event") == event]

    def wait_log(self, event: str, *, count: int = 1, seconds: float = START) -> dict[str, Any]:
        """Wait until an event has been logged `count` times; return the last of these lines."""
        wait_until(lambda: len(self.logs(event)) >= count, seconds, lambda: f"no {event!r} in:\n{self.stderr()}")
        return self.logs(event)[count - 1]

    def calls(self, path: str = "/rpc", headers: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """Return the lines of all calls that are over.

        Lines may wait a moment for each other: that of one more call, at `path`, comes after them all.
        """
        mark = f"mark-{uuid.uuid4().hex}"
        self.post(path, {"jsonrpc": "2.0", "id": mark, "method": "nothing"}, headers)
        wait_until(lambda: any(line["ray_id"] == mark for line in self.logs("call")), START, self.stderr)
        return [line for line in self.logs("call") if not line["ray_id"].startswith("mark-")]

    def write(self, files: Mapping[str, str]) -> None:
        """Write files below the daemon's folder, as an operator would before a reload."""
        write_files(self.folder, files)

    def kill(self, number: int) -> None:
        """Send a signal to the process that was started."""
        self.process.send_signal(number)

    def hup(self) -> None:
        """Ask for a reload."""
        self.kill(signal.SIGHUP)

    def stop(self, seconds: float = STOP) -> int:
        """Ask it to end (SIGTERM), wait, and return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still there {seconds} s after SIGTERM:\n{self.stderr()}") from None


@contextlib.contextmanager
def daemon(
    *,
    config: Yaml = CONFIG,
    routes: Yaml = ROUTES,
    plugins: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    bind: str | None = BIND,
) -> Iterator[Daemon]:
    """Serve `gateway.yaml` and `routes.yaml` from a fresh folder until the block ends.

    `plugins` are files below `plugins/` (`hello.py`, `acme/pyproject.toml`), `files` are any others. The environment is
    a clean one with `env` on top. `bind=None` leaves it to the configuration where to listen. Raises `DaemonDidNotStart` with the log.
    """
    with (
        folder(config=config, routes=routes, plugins=plugins, files=files) as place,
        serving(place, env, arguments, bind=bind) as running,
    ):
        yield running


@contextlib.contextmanager
def example(*arguments: str) -> Iterator[Daemon]:
    """Serve the example as it is shipped, from a copy: its state is made there. `arguments` are those of the command."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-") as name:
        place = Path(name)
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "var", "tests")
        for source in ("plugins", "translations"):
            shutil.copytree(ROOT / source, place / source, ignore=ignored)
        for source in ("gateway.yaml.example", "routes.yaml.example"):
            shutil.copyfile(ROOT / source, place / source)
        with serving(place, arguments=arguments, config="gateway.yaml.example") as running:
            yield running


@contextlib.contextmanager
def folder(
    *,
    config: Yaml = CONFIG,
    routes: Yaml = ROUTES,
    plugins: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Iterator[Path]:
    """Make a folder as an operator would have one, for a daemon or a command, and remove it."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-") as name:
        place = Path(name)
        write_files(place, {"gateway.yaml": as_yaml(config), "routes.yaml": as_yaml(routes)})
        write_files(place / "plugins", plugins or {})
        write_files(place, files or {})
        yield place


@contextlib.contextmanager
def serving(
    place: Path,
    env: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    *,
    config: str = "gateway.yaml",
    bind: str | None = BIND,
    program: Sequence[str] = (str(RPCGW),),
    inherited: Sequence[int] = (),
) -> Iterator[Daemon]:
    """Run `rpcgw serve` in a folder until the block ends; its log goes to `daemon.log` there.

    `program` starts another installation's, say that of another virtual environment; `inherited` are descriptors that
    it finds open.
    """
    command = [*program, "serve", "-c", config, *(["--bind", bind] if bind else []), *arguments]
    with (place / "daemon.log").open("ab") as log:
        earlier = log.tell()
        process = subprocess.Popen(
            command,
            cwd=place,
            env=clean_environment(place, env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=inherited,
        )
    try:
        yield Daemon(process, place, wait_for_address(process, place, earlier))
    finally:
        end(process)


def cli(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `rpcgw` with arguments in a folder; a non-zero exit is an answer like any other."""
    return subprocess.run(
        [RPCGW, *arguments],
        cwd=cwd,
        env=clean_environment(cwd, env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def wait_until(done: Callable[[], object], seconds: float, otherwise: Callable[[], str]) -> None:
    """Poll until `done()` is true, at most so many seconds."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise())
        time.sleep(POLL)


def clean_environment(home: Path, extra: Mapping[str, str] | None) -> dict[str, str]:
    """Return what a daemon sees of the environment: where programs are, and what the test gives."""
    kept = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    return {**known, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def wait_for_address(process: subprocess.Popen[bytes], place: Path, earlier: int = 0) -> str:
    """Wait for the log line `listening`, and return the address that it names; `earlier` bytes are of a former daemon."""
    deadline = time.monotonic() + START
    while True:
        code = process.poll()
        log = read_log(place, earlier)
        address = address_in(log)
        if address:
            return address
        if code is not None:
            raise DaemonDidNotStart(f"the daemon did not start, exit code {code}:\n{log}")
        if time.monotonic() > deadline:
            raise DaemonDidNotStart(f"the daemon did not start within {START} s:\n{log}")
        time.sleep(POLL)


def address_in(log: str) -> str | None:
    """Return the first address that is no unix socket, as a URL, from a log in any of its formats."""
    told = [str(line["address"]) for line in parse_log(log) if line.get("event") == "listening" and "address" in line]
    told += LISTENING.findall(log)
    address = next((name for name in told if not name.startswith("unix:")), None)
    return address if address is None or "://" in address else f"http://{address}"


def end(process: subprocess.Popen[bytes]) -> None:
    """End what was started here, kindly first."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP)
    if process.poll() is None:
        process.kill()
        process.wait()


def read_log(place: Path, start: int = 0) -> str:
    """Return the daemon's log so far, from a byte on; bytes that are no UTF-8 are shown as such."""
    return (place / "daemon.log").read_bytes()[start:].decode("utf-8", "backslashreplace")


def parse_log(text: str) -> list[dict[str, Any]]:
    """Return those lines of a log that are JSON objects."""
    lines = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                lines.append(value)
    return lines


def as_yaml(value: Yaml) -> str:
    """Return YAML text as it is, dedented; anything else as JSON, which is YAML too."""
    return textwrap.dedent(value) if isinstance(value, str) else json.dumps(value, indent=2)


def write_files(place: Path, files: Mapping[str, str]) -> None:
    """Write files by their path below a folder; text is dedented."""
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
