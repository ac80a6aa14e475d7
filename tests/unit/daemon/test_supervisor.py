"""The daemon as its operator meets it: starts, problems, signals, deaths."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest


def alive(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def hears(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal."""
    caught = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


class Caller(threading.Thread):
    """A call that takes its time, in the background."""

    def __init__(self, daemon: Any, query: str) -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self._query = query
        self.answer: dict[str, Any] | None = None
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = self._daemon.call(self._query)
        except Exception as error:  # noqa: BLE001 -- compared in the test
            self.error = error


def test_the_supervisor_loads_the_standard_library_only() -> None:
    """Importing the supervisor imports nothing from outside the standard library but rpcgw's own pure modules."""
    script = "import sys; import rpcgw.daemon.supervisor; print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    out = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout
    foreign = {name for name in out.split() if not name.startswith("_")} - {"rpcgw"}
    assert foreign & {"aiohttp", "pydantic", "uvloop", "msgspec", "yaml", "click", "redis", "structlog"} == set()


def test_all_problems_are_printed_and_the_exit_code_is_78(start: Callable[..., Any]) -> None:
    """A configuration that cannot be served ends with every problem for people, no traceback, and EX_CONFIG."""
    daemon = start(broken="this is wrong")
    assert daemon.ended() == 78
    first, source, *others = daemon.text.splitlines()
    assert source.startswith(f"    1 | {daemon.config.read_text()[:40]}")
    assert [first, *others] == [
        f"{daemon.config}:1:1: error[broken] this is wrong",
        "      | ^",
        "    help: mend it",
        f"{daemon.config}:2:1: error[broken] and more",
    ]


def test_an_address_in_use_is_one_clear_line(start: Callable[..., Any]) -> None:
    """Another process at the address: one line that says so, and EX_CONFIG."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        daemon = start(bind=[address])
        assert daemon.ended() == 78
    said = [line for line in daemon.text.splitlines() if not line.startswith("{")]
    assert said == [f"{address} is in use by another process; stop it, or bind elsewhere (--bind)"]


def test_threads_at_import_are_a_problem(start: Callable[..., Any]) -> None:
    """A plugin that starts a thread when it is imported would lose it in the fork: refused, by the thread's name."""
    daemon = start(threads=True)
    assert daemon.ended() == 78
    assert "error[threads-at-import] a plugin starts threads: early-bird" in daemon.text


def test_a_lifespan_that_fails_ends_the_start(start: Callable[..., Any]) -> None:
    """What a lifespan raised is said, and the exit code lets systemd try again."""
    daemon = start(fails="the database is away")
    assert daemon.ended() == 1
    assert daemon.text.splitlines()[-1] == "LookupError: the database is away"


def test_workers_that_die_at_once_end_the_start(start: Callable[..., Any]) -> None:
    """Workers that end before they are ready do not make a loop."""
    daemon = start(dies=True)
    assert daemon.ended() == 1
    assert daemon.text.splitlines()[-1] == "a worker died before it was ready"


def test_warnings_are_logged_and_serve_all_the_same(start: Callable[..., Any]) -> None:
    """A warning is one line with its place."""
    daemon = start(odd="deprecated")
    line = daemon.until_logged("problem")
    assert (line["level"], line["place"], line["text"]) == ("warning", f"{daemon.config}:1:1", "deprecated")
    assert daemon.call()["status"] == 200
    assert daemon.stop() == 0


def test_health_is_answered(start: Callable[..., Any]) -> None:
    """`/livez` and `/readyz` answer 200 while the daemon serves, and an unknown path 404."""
    daemon = start()
    assert daemon.get("/livez") == (200, b'{"status":"alive"}')
    assert daemon.get("/readyz") == (200, b'{"status":"ready"}')
    assert daemon.get("/.well-known/oauth-protected-resource")[0] == 404
    assert daemon.stop() == 0


def test_sigterm_lets_calls_finish_and_what_follows_them(start: Callable[..., Any]) -> None:
    """A call in flight is answered, what it left to do afterwards is done, lifespans are closed, the exit code is 0."""
    daemon = start(workers=1)
    assert daemon.port
    caller = Caller(daemon, "?wait=0.5&after=1")
    daemon.until(lambda: busy(daemon), "call in flight")
    daemon.signal(signal.SIGTERM)
    assert daemon.ended() == 0
    caller.join(5)
    assert caller.answer is not None, caller.error
    assert (caller.answer["status"], caller.answer["connection"]) == (200, "close")
    assert daemon.journaled() == ["after", "closed 0"]
    assert daemon.lines("stopped")[0]["forced"] is False


def busy(daemon: Any) -> bool:
    """Whether a connection to the daemon is open, as the kernel sees it."""
    port = f":{daemon.port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(port) and row[3] == "01" for row in rows)


def test_calls_beyond_the_grace_are_cut_with_an_answer(start: Callable[..., Any]) -> None:
    """A call that outlives the grace is cancelled and answered 503; the daemon ends with 0 all the same."""
    daemon = start(workers=1, timeouts={"grace": 0.3})
    assert daemon.port
    caller = Caller(daemon, "?wait=30")
    daemon.until(lambda: busy(daemon), "call in flight")
    assert daemon.call()["status"] == 200
    assert daemon.stop() == 0
    caller.join(5)
    assert caller.answer is not None, caller.error
    assert (caller.answer["status"], caller.answer["error"]) == (503, "the server is stopping")


def test_a_second_sigterm_forces(start: Callable[..., Any]) -> None:
    """The second signal does not wait for anything; forced, and still 0."""
    daemon = start(workers=1)
    assert daemon.port
    caller = Caller(daemon, "?wait=30")
    daemon.until(lambda: busy(daemon), "call in flight")
    daemon.signal(signal.SIGTERM)
    daemon.until_logged("stopping")
    daemon.signal(signal.SIGTERM)
    assert daemon.ended(5) == 0
    assert daemon.lines("stopped")[0]["forced"] is True
    caller.join(5)
    assert caller.error is not None


@pytest.mark.parametrize("late", [0.0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02])
def test_a_second_sigterm_at_the_very_end(start: Callable[..., Any], late: float) -> None:
    """It comes while the last process is waited for: the daemon ends with 0, and says nothing of what it cut."""
    daemon = start(workers=1)
    assert daemon.port
    daemon.signal(signal.SIGTERM)
    daemon.until_logged("worker.gone")
    ends = time.monotonic() + late
    daemon.until(lambda: time.monotonic() >= ends, "time")
    with suppress(ProcessLookupError):
        daemon.signal(signal.SIGTERM)
    assert daemon.ended(10) == 0, daemon.text
    assert "Traceback" not in daemon.text


def test_readiness_goes_first(start: Callable[..., Any]) -> None:
    """After SIGTERM and for `pre_stop` seconds `/readyz` is 503, and calls are still taken on new connections."""
    daemon = start(workers=1, timeouts={"pre_stop": 6.0})
    assert daemon.get("/readyz")[0] == 200
    daemon.signal(signal.SIGTERM)
    daemon.until(lambda: daemon.get("/readyz")[0] == 503, "503 of /readyz")
    assert daemon.call()["status"] == 200
    assert daemon.ended() == 0


def test_sigterm_during_the_start_ends_it(start: Callable[..., Any]) -> None:
    """A daemon that is told to stop before it serves does so at once, with 0."""
    daemon = start()
    daemon.until(lambda: hears(daemon.process.pid, signal.SIGTERM), "handler")
    daemon.signal(signal.SIGTERM)
    assert daemon.ended(5) == 0
    assert daemon.lines("ready") == []


def test_a_killed_worker_is_replaced(start: Callable[..., Any]) -> None:
    """`kill -9` of a worker: another one of the same slot serves, and the daemon says so."""
    daemon = start(workers=1)
    victim = daemon.call()["pid"]
    os.kill(victim, signal.SIGKILL)
    gone = daemon.until_logged("worker.gone")
    assert (gone["worker"], gone["code"], gone["level"]) == (victim, -9, "warning")
    assert daemon.until_logged("worker.ready", 2)["slot"] == gone["slot"]
    assert daemon.call()["pid"] != victim
    assert daemon.stop() == 0


def test_a_blocked_worker_is_ended_with_its_stacks(start: Callable[..., Any]) -> None:
    """A loop that stands still for `blocked` seconds: the stacks are on stderr, and another worker takes over."""
    daemon = start(workers=1, timeouts={"blocked": 1.0})
    assert daemon.port
    caller = Caller(daemon, "?block=60")
    daemon.until_logged("worker.blocked")
    daemon.until_logged("worker.ready", 2)
    assert "Fatal Python error: Aborted" in daemon.text
    assert "small_gateway.py" in daemon.text
    caller.join(5)
    assert daemon.stop() == 0


def test_workers_go_when_the_supervisor_is_killed(start: Callable[..., Any]) -> None:
    """`kill -9` of the supervisor: workers and template drain and go by themselves."""
    daemon = start(workers=2)
    assert daemon.port
    workers = [line["worker"] for line in daemon.lines("worker.ready")]
    parent = int(Path(f"/proc/{workers[0]}/stat").read_text().rpartition(")")[2].split()[1])
    daemon.process.kill()
    daemon.until(lambda: not any(alive(pid) for pid in [*workers, parent]), "end of the orphans")


def test_sigusr1_reaches_every_worker(start: Callable[..., Any]) -> None:
    """SIGUSR1 tells the workers to reopen their files."""
    daemon = start(workers=2)
    assert daemon.port
    daemon.signal(signal.SIGUSR1)
    daemon.until(lambda: daemon.journaled() == ["reopened"] * 2, "reopened twice")
    assert daemon.stop() == 0


def test_two_workers_share_keep_alive_connections(start: Callable[..., Any]) -> None:
    """Connections opened one by one are spread evenly over the workers, and answer at once."""
    daemon = start(workers=2)
    slots: list[int] = []
    open_: list[socket.socket] = []
    for _ in range(20):
        open_.append(socket.create_connection(("127.0.0.1", daemon.port), 10))
        open_[-1].sendall(b"POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        received = b""
        while b"}" not in received:
            received += open_[-1].recv(4096)
        slots.append(int(received.split(b'"slot": ')[1].split(b",")[0]))
    for each in open_:
        each.close()
    assert abs(slots.count(0) - slots.count(1)) <= 4
    assert daemon.stop() == 0


def test_systemd_is_told(start: Callable[..., Any], tmp_path: Path) -> None:
    """READY when a generation serves, RELOADING with its time and READY again (refused ones too), STOPPING at the end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        daemon = start(environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        heard = [manager.recv(4096).decode()]
        daemon.configure(broken="no")
        daemon.signal(signal.SIGHUP)
        heard += [manager.recv(4096).decode(), manager.recv(4096).decode()]
        assert daemon.stop() == 0
        heard.append(manager.recv(4096).decode())
    assert [line.split("\n")[0] for line in heard] == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    assert heard[0].split("\n")[1] == "STATUS=serving, generation 1"
    assert heard[1].split("\n")[1].removeprefix("MONOTONIC_USEC=").isdecimal()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_both_signals_stop(start: Callable[..., Any], number: signal.Signals) -> None:
    """A terminal's and a service manager's signal mean the same."""
    daemon = start()
    assert daemon.port
    daemon.signal(number)
    assert daemon.ended() == 0
