"""The units as they are shipped, under a systemd that has booted: installed by `make install`, run as an operator would.

test_systemd.py speaks systemd's protocols to the daemon itself; here it is systemd that does.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_blocks import blocks
from tests.support.daemon import ROOT, wait_until
from tests.support.http import Client
from tests.support.installing import WHEELS, checkout, make, python, typed
from tests.support.machine import SYSTEM, Machine, booted, lay, missing
from tests.support.systemd import ask

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

UNITS = ("rpcgw.service", "rpcgw.socket", "rpcgw-worker@.service")
SERVICES = ("rpcgw.service", "rpcgw-worker@rpc_async.service")
ADDRESS = ("127.0.0.1", 8080)
SERVING = {"ActiveState": "active", "SubState": "running"}
WHEELS_OF_SYSTEM = SYSTEM.with_name("wheels") if Path("/") != SYSTEM else WHEELS
OFFLINE = ("PIP_NO_INDEX=1", f"PIP_FIND_LINKS={WHEELS_OF_SYSTEM}")
NOBODY = "65534"
"""To whom newer versions of systemd have the state belong: the service sees it as its own, by a mapping."""
NOTIFY_RELOAD = 253
"""The first systemd that knows Type=notify-reload."""
EXPOSURE = 1.5
"""What `systemd-analyze security` may come to at most, from 0 to 10; below 2 it says OK."""

PROBE = '''
import errno
import os
import pathlib
import socket

import rpcgw as rpc


def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


@rpc.procedure("Probe")
class Probe:
    """Tries what a service has no business to do."""

    def write(self, place: str) -> str:
        return outcome(lambda: pathlib.Path(place, "probe").write_text("x"))

    def look(self, place: str) -> str:
        return outcome(lambda: os.listdir(place))

    def socket(self, family: str) -> str:
        return outcome(lambda: socket.socket(getattr(socket, family), socket.SOCK_RAW).close())

    def namespace(self) -> str:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        return "done" if libc.unshare(0x10000000) == 0 else errno.errorcode[ctypes.get_errno()]

    def variable(self, name: str) -> str:
        return os.environ.get(name, "")


plugin = rpc.Plugin(procedures=[Probe])
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source that it is installed from, and in which an operator types."""
    if reason := missing():
        pytest.skip(reason)
    return checkout(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Iterator[Machine]:
    """A machine in which it is installed, and not started."""
    root = tmp_path_factory.mktemp("machine") / "root"
    root.mkdir()
    lay(root)
    line = typed("docs/howto/systemd.md", "make install") if Path("/") == SYSTEM else "make wheel"
    done = make(line, made, ROOT=str(root), PYTHON=str(python()))
    assert done.returncode == 0, done.stdout + done.stderr
    with booted(root, [python().parent.parent, made, WHEELS_OF_SYSTEM]) as running:
        if Path("/") != SYSTEM:
            running.run("env", *OFFLINE, "/usr/bin/python3", str(made / "scripts/install.py"))
            running.systemctl("daemon-reload")
        running.write("/etc/rpcgw/plugins/probe.py", PROBE)
        yield running


@pytest.fixture
def service(machine: Machine) -> Iterator[Machine]:
    """The machine, where the service has just begun to serve; it is stopped afterwards."""
    machine.systemctl("reset-failed")
    machine.systemctl("start", "rpcgw")
    yield machine
    machine.systemctl("stop", "rpcgw.socket", "rpcgw.service")


@contextlib.contextmanager
def changed(machine: Machine, path: str, text: str) -> Iterator[None]:
    """A file is otherwise for a while; one that was not there goes again."""
    file = machine.root / path.lstrip("/")
    before = file.read_text("utf-8") if file.exists() else None
    machine.write(path, text)
    try:
        yield
    finally:
        if before is None:
            file.unlink()
        else:
            file.write_text(before, "utf-8")


@contextlib.contextmanager
def drop_in(machine: Machine, unit: str, text: str) -> Iterator[None]:
    """A unit has a drop-in for a while."""
    with changed(machine, f"/etc/systemd/system/{unit}.d/test.conf", text):
        machine.systemctl("daemon-reload")
        yield
    machine.systemctl("daemon-reload")


def call(machine: Machine, method: str, **params: Any) -> Any:
    """One call to the service: its result."""
    with machine.network():
        answer = Client("http://127.0.0.1:8080").post(
            "/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        )
    return answer.json()["result"]


def follow(machine: Machine, made: Path, line: str) -> None:
    """Type the lines of the page on systemd that `line` is one of, in the source."""
    page = blocks(ROOT / "docs/howto/systemd.md")
    [text] = [each.text for each in page if each.kind == "text" and re.search(line, each.text, re.MULTILINE)]
    machine.run("sh", "-ec", f"cd {made}\n{text}")


# -- the units


def test_systemd_finds_no_fault(machine: Machine) -> None:
    """`systemd-analyze verify` has nothing to say of any unit: no unknown option, no program that is missing."""
    assert machine.run("systemd-analyze", "verify", *(f"/etc/systemd/system/{unit}" for unit in UNITS)) == ""


@pytest.mark.parametrize("unit", SERVICES)
def test_little_is_exposed(machine: Machine, unit: str) -> None:
    """`systemd-analyze security` calls it OK, and comes to no more than it did."""
    said = machine.run("systemd-analyze", "security", "--no-pager", unit)
    score = re.search(r"Overall exposure level for \S+ ([\d.]+) OK", said)
    assert score is not None, said
    assert float(score[1]) <= EXPOSURE, said


# -- its life


def test_it_begins_as_the_page_says(machine: Machine, made: Path) -> None:
    """By the lines that follow `make install`: it serves, and is started again when the machine is."""
    follow(machine, made, r"\A.*enable --now rpcgw$")
    wanted = {**SERVING, "UnitFileState": "enabled"}
    assert machine.show("rpcgw", *wanted) == wanted
    machine.systemctl("disable", "--now", "rpcgw")


def test_it_is_active_once_it_serves(service: Machine) -> None:
    """`systemctl start` returns when a generation serves, and the status says which one."""
    assert service.show("rpcgw", *SERVING, "StatusText") == {**SERVING, "StatusText": "serving, generation 1"}
    assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."
    assert '"event":"ready"' in service.journal("rpcgw")


def test_a_reload_is_another_generation(service: Machine) -> None:
    """`systemctl reload` changes what is served, in the same process."""
    before = service.show("rpcgw", "MainPID")
    plugin = (service.root / "etc/rpcgw/plugins/hello.py").read_text("utf-8")
    with changed(service, "/etc/rpcgw/plugins/hello.py", plugin.replace("Hello, {name}", "Welcome, {name}")):
        service.systemctl("reload", "rpcgw")
        service.until("rpcgw", {**SERVING, "StatusText": "serving, generation 2"})
        assert call(service, "Hello.greet", name="Ada") == "Welcome, Ada."
    assert service.show("rpcgw", "MainPID") == before


def test_a_refused_reload_is_in_the_status(service: Machine) -> None:
    """The old generation serves on, and `systemctl status` says what is wrong and where."""
    config = (service.root / "etc/rpcgw/gateway.yaml").read_text("utf-8")
    with changed(service, "/etc/rpcgw/gateway.yaml", f"{config}\nservre: 1\n"):
        service.systemctl("reload", "rpcgw")
        line = len(config.splitlines()) + 2
        refused = f"serving, generation 1; the last reload was refused: /etc/rpcgw/gateway.yaml:{line}"
        wait_until(
            lambda: service.show("rpcgw", "StatusText")["StatusText"].startswith(refused),
            30,
            lambda: f"{service.show('rpcgw', 'StatusText')}, not {refused}",
        )
        assert refused in service.systemctl("status", "rpcgw")
    assert service.show("rpcgw", *SERVING) == SERVING
    assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."


@pytest.fixture
def waiting(service: Machine, made: Path) -> Iterator[Machine]:
    """The service with the drop-in for newer versions of systemd, by the page's lines."""
    follow(service, made, r"notify-reload\.conf$")
    yield service
    (service.root / "etc/systemd/system/rpcgw.service.d/notify-reload.conf").unlink()
    service.systemctl("daemon-reload")


def test_a_reload_that_is_waited_for(waiting: Machine) -> None:
    """With the drop-in `systemctl reload` returns once the new generation serves; an older systemd does not know it."""
    if waiting.version() < NOTIFY_RELOAD:
        said = waiting.run("systemd-analyze", "verify", "/etc/systemd/system/rpcgw.service")
        assert "Failed to parse service type, ignoring: notify-reload" in said
        return
    waiting.systemctl("restart", "rpcgw")
    for generation in (2, 3):
        waiting.systemctl("reload", "rpcgw")
        told = {**SERVING, "Type": "notify-reload", "StatusText": f"serving, generation {generation}"}
        assert waiting.show("rpcgw", *told) == told
    with changed(waiting, "/etc/rpcgw/gateway.yaml", "servre: 1\n"):
        waiting.systemctl("reload", "rpcgw", code=None)
        refused = "serving, generation 3; the last reload was refused: /etc/rpcgw/gateway.yaml:1"
        assert waiting.show("rpcgw", "StatusText")["StatusText"].startswith(refused)


def test_its_files_are_rotated_as_the_page_says(service: Machine) -> None:
    """With `LogsDirectory=` it writes below /var/log, and after logrotate's command into a new file."""
    page = (ROOT / "docs/howto/logging.md").read_text("utf-8")
    [command] = re.findall(r"^ +(systemctl kill .*)$", page, re.MULTILINE)
    log = service.root / "var/log/private/rpcgw/access.log"
    config = (service.root / "etc/rpcgw/gateway.yaml").read_text("utf-8")
    logging = "logging: {access: {enabled: true, file: /var/log/rpcgw/access.log}}\n"
    with (
        changed(service, "/etc/rpcgw/gateway.yaml", f"{config}\n{logging}"),
        drop_in(service, "rpcgw.service", "[Service]\nLogsDirectory=rpcgw\n"),
    ):
        service.systemctl("restart", "rpcgw")
        assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."
        wait_until(lambda: log.exists() and "/rpc" in log.read_text("utf-8"), 20, lambda: service.journal("rpcgw"))
        log.rename(log.with_name("access.log.1"))
        service.run("sh", "-c", command)
        wait_until(log.exists, 20, lambda: service.journal("rpcgw"))
        assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."
        wait_until(lambda: "/rpc" in log.read_text("utf-8"), 20, lambda: service.journal("rpcgw"))
    assert service.show("rpcgw", "NRestarts") == {"NRestarts": "0"}


def test_a_stop_is_clean(service: Machine) -> None:
    """The process ends with 0, and none of it is left."""
    service.systemctl("stop", "rpcgw")
    ended = {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}
    assert service.show("rpcgw", *ended) == ended
    assert "rpcgw" not in service.run("ps", "-eo", "args")


def test_a_broken_configuration_is_not_tried_again(machine: Machine) -> None:
    """It ends with 78 and stays ended; the journal has the place."""
    with changed(machine, "/etc/rpcgw/gateway.yaml", "servre: 1\n"):
        machine.systemctl("start", "rpcgw", code=1)
        ended = {"ActiveState": "failed", "ExecMainStatus": "78", "NRestarts": "0"}
        assert machine.show("rpcgw", *ended) == ended
    assert "/etc/rpcgw/gateway.yaml:1" in machine.journal("rpcgw")


def test_one_that_was_killed_is_there_again(service: Machine) -> None:
    """With its workers: none of the old ones is left."""
    processes = service.run("pgrep", "-f", "rpcgw").split()
    service.kill(int(service.show("rpcgw", "MainPID")["MainPID"]), signal.SIGKILL)
    service.until("rpcgw", {**SERVING, "NRestarts": "1"})
    assert not set(processes) & set(service.run("pgrep", "-f", "rpcgw").split())
    assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."


def test_one_that_cannot_start_is_never_given_up(machine: Machine) -> None:
    """What it needs is away for longer than systemd would be patient by itself: once it is there, it serves."""
    needs = "[Service]\nExecStartPre=/usr/bin/test -e /run/needed\nRestartSec=100ms\n"
    with drop_in(machine, "rpcgw.service", needs):
        machine.systemctl("start", "rpcgw", code=1)
        wait_until(
            lambda: int(machine.show("rpcgw", "NRestarts")["NRestarts"]) > 6, 30, lambda: machine.journal("rpcgw")
        )
        machine.run("touch", "/run/needed")
        machine.until("rpcgw", SERVING)
        assert call(machine, "Hello.greet", name="Ada") == "Hello, Ada."
        machine.systemctl("stop", "rpcgw")


def test_one_that_stands_still_is_started_again(service: Machine) -> None:
    """A supervisor that does nothing any more (here it is stopped) misses its watchdog."""
    with drop_in(service, "rpcgw.service", "[Service]\nWatchdogSec=2\n"):
        service.systemctl("restart", "rpcgw")
        stands = int(service.show("rpcgw", "MainPID")["MainPID"])
        service.kill(stands, signal.SIGSTOP)
        service.until("rpcgw", {**SERVING, "NRestarts": "1"})
        assert int(service.show("rpcgw", "MainPID")["MainPID"]) != stands
        assert "Watchdog timeout (limit 2s)!" in service.journal("rpcgw")
        assert call(service, "Hello.greet", name="Ada") == "Hello, Ada."


def test_the_watchdog_lets_it_be(service: Machine) -> None:
    """One that serves is not started again, though the watchdog would bite after a second."""
    with drop_in(service, "rpcgw.service", "[Service]\nWatchdogSec=1\n"):
        service.systemctl("restart", "rpcgw")
        stamps: set[str] = set()

        def kept_quiet() -> bool:
            stamps.add(service.show("rpcgw", "WatchdogTimestampMonotonic")["WatchdogTimestampMonotonic"])
            return len(stamps) > 4

        wait_until(kept_quiet, 30, lambda: str(stamps))
        assert service.show("rpcgw", *SERVING, "NRestarts") == {**SERVING, "NRestarts": "0"}


# -- what it may do

ATTEMPTS = [
    pytest.param("write", {"place": "/var/lib/rpcgw"}, "done", id="it writes into its state directory"),
    pytest.param("write", {"place": "/tmp"}, "done", id="and into a /tmp of its own"),
    pytest.param("write", {"place": "/etc/rpcgw"}, "EROFS", id="not into its configuration"),
    pytest.param("write", {"place": "/opt/rpcgw"}, "EROFS", id="not into its program"),
    pytest.param("write", {"place": "/usr/local"}, "EROFS", id="not into the system"),
    pytest.param("write", {"place": "/var/log"}, "EROFS", id="not into anybody's logs"),
    pytest.param("write", {"place": "/sys/fs/cgroup"}, "EROFS", id="not into control groups"),
    pytest.param("look", {"place": "/root"}, "EACCES", id="it sees nothing of root's home"),
    pytest.param("look", {"place": "/home"}, "EACCES", id="nor of anybody else's"),
    pytest.param("socket", {"family": "AF_PACKET"}, "EAFNOSUPPORT", id="it opens no packet socket"),
    pytest.param("socket", {"family": "AF_NETLINK"}, "EAFNOSUPPORT", id="nor one to the kernel"),
    pytest.param("namespace", {}, "EPERM", id="it makes no namespace"),
]


@pytest.fixture(scope="module")
def served(machine: Machine) -> Iterator[Machine]:
    """The service, for all tests that only ask it."""
    machine.write("/etc/rpcgw/environment", "PROBE_SECRET=s3cret\n", mode=0o600)
    machine.systemctl("start", "rpcgw")
    yield machine
    machine.systemctl("stop", "rpcgw")


class TestSandbox:
    """What a procedure finds that tries it."""

    @pytest.mark.parametrize(("attempt", "params", "outcome"), ATTEMPTS)
    def test_an_attempt(self, served: Machine, attempt: str, params: dict[str, str], outcome: str) -> None:
        """What comes of it, done by a procedure in a worker."""
        assert call(served, f"Probe.{attempt}", **params) == outcome

    def test_its_processes_are_nobody_special(self, served: Machine) -> None:
        """A user that exists while the service does, no capability, no new privileges, a filter of system calls."""
        main = served.show("rpcgw", "MainPID")["MainPID"]
        status = dict(
            line.split(":\t", 1) for line in served.run("cat", f"/proc/{main}/status").splitlines() if ":\t" in line
        )
        assert min(int(number) for number in status["Uid"].split()) >= 61184
        assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0000000000000000"}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        owner, mode = served.run("stat", "--format=%u %a", "/var/lib/private/rpcgw").split()
        assert owner in {status["Uid"].split()[0], NOBODY}
        assert mode == "700"

    def test_its_tmp_is_its_own(self, served: Machine) -> None:
        """What it writes into /tmp nobody else finds there."""
        assert call(served, "Probe.write", place="/tmp") == "done"
        assert "probe" not in served.run("ls", "/tmp").split()

    def test_secrets_are_read_by_root(self, served: Machine) -> None:
        """The file of variables is read before the service is nobody special, who could not."""
        assert call(served, "Probe.variable", name="PROBE_SECRET") == "s3cret"
        assert call(served, "Probe.look", place="/etc/rpcgw/environment") != "done"


# -- a restart


def test_a_restart_refuses_no_connection(service: Machine, made: Path) -> None:
    """With rpcgw.socket, by the command that the documents give: each of some clients' connections is answered."""
    follow(service, made, "enable --now rpcgw.socket")
    answers: Counter[str] = Counter()
    stop = threading.Event()

    def go_on() -> None:
        with service.network():
            while not stop.is_set():
                answers[ask(ADDRESS)] += 1

    clients = [threading.Thread(target=go_on) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        for _ in range(3):
            before, process = answers["PONG"], service.show("rpcgw", "MainPID")
            wait_until(lambda: answers["PONG"] > before + 20, 40, lambda: str(answers))  # noqa: B023 of this round
            service.systemctl("restart", "rpcgw")
            assert service.show("rpcgw", "MainPID") != process
    finally:
        stop.set()
        for client in clients:
            client.join(60)
    assert list(answers) == ["PONG"]


# -- workers of queues

QUEUE = """
ufo_json_rpc:
    security: {protected_api: false, clients_tokens: [s3cret-token]}
    async: [{type: redis, config: {name: rpc_async, dsn: redis://127.0.0.1:6379/0}}]
plugins: {directory: plugins}
"""
JOB = {"request": {"jsonrpc": "2.0", "id": 1, "method": "Probe.write", "params": {"place": "/var/lib/rpcgw"}}}


@pytest.fixture
def queue(machine: Machine) -> Iterator[Machine]:
    """The machine with a Redis and a configuration that names a queue in it; nothing serves."""
    redis = ["redis-server", "--port", "6379", "--save", "", "--dir", "/tmp", "--daemonize", "no"]
    machine.run("systemd-run", "--quiet", "--unit=test-redis", *redis)
    wait_until(lambda: "PONG" in machine.run("redis-cli", "ping", code=None), 20, lambda: machine.journal("test-redis"))
    with changed(machine, "/etc/rpcgw/gateway.yaml", QUEUE):
        yield machine
        machine.systemctl("stop", "rpcgw-worker@*")
    machine.systemctl("stop", "test-redis")


def test_a_worker_does_what_waits(queue: Machine, made: Path) -> None:
    """By the command that the documents give: a job of its queue is done, by the user and in the state of the service."""
    probe = queue.root / "var/lib/private/rpcgw/probe"
    probe.unlink(missing_ok=True)
    follow(queue, made, "enable --now rpcgw-worker@rpc_async")
    unit = "rpcgw-worker@rpc_async"
    assert queue.show(unit, *SERVING) == SERVING
    queue.run("redis-cli", "XADD", "rpc_async", "*", "message", json.dumps({**JOB, "token": "s3cret-token"}))
    wait_until(probe.exists, 30, lambda: queue.journal(unit))
    owner = queue.run("stat", "--format=%u", "/var/lib/private/rpcgw/probe")
    assert owner == queue.run("stat", "--format=%u", "/var/lib/private/rpcgw")

    queue.kill(int(queue.show(unit, "MainPID")["MainPID"]), signal.SIGKILL)
    queue.until(unit, {**SERVING, "NRestarts": "1"})

    queue.systemctl("disable", "--now", unit)
    ended = {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}
    assert queue.show(unit, *ended) == ended


def test_a_worker_of_no_queue_is_not_tried_again(queue: Machine) -> None:
    """A name that is no queue stays one: it ends with 2, and the journal names those that there are."""
    unit = "rpcgw-worker@rpc_nowhere"
    queue.systemctl("start", unit, code=1)
    ended = {"ActiveState": "failed", "ExecMainStatus": "2", "NRestarts": "0"}
    assert queue.show(unit, *ended) == ended
    assert "rpc_async" in queue.journal(unit)
