"""A machine that systemd has booted: a system's own programs below an empty `/etc` and `/var`, and nobody else's network.

The system is this one, or another one's tree that SYSTEM names (`make systemd-test RELEASE=trixie`). The machine's root is
a directory of its own, so nothing here is changed, and nothing that is set up here is started there. It is systemd-nspawn's
container: it needs root, and a system whose init is systemd, though that need not run.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

NSPAWN = "systemd-nspawn"
SYSTEM = Path(os.environ.get("SYSTEM") or "/").resolve()
SYSTEMD = SYSTEM / "usr/lib/systemd/systemd"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
BOOT = 60.0
PATIENCE = 60.0
POLL = 0.05
CLONE_NEWNET = 0x40000000
UNIFIED = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
"""One hierarchy of control groups, as systems have today; in the older ones systemd is not told when one is empty."""
HOMES = ("/home", "/root", "/run/user")
"""Where a service with `ProtectHome=yes` sees nothing."""

FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files systemd\ngroup: files systemd\nhosts: files\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/machine-id": "",
    "etc/os-release": "ID=rpcgw-test\n",
}
"""What a system has to have of its own; systemd makes the rest."""
EMPTY = ("dev", "home", "opt", "proc", "root", "run", "sys", "tmp", "usr", "var")


def missing() -> str:
    """What is not there to boot a machine with, as one line that says what to do; empty where all is."""
    if os.geteuid() != 0:
        return "a machine of one's own is root's to boot: run these tests as root"
    if shutil.which(NSPAWN) is None or not SYSTEMD.exists():
        return f"{NSPAWN} is missing. Install it, on Debian with: sudo apt-get install systemd-container"
    if not (SYSTEM / "lib").is_symlink():
        return "this system keeps programs outside /usr: these tests boot one that has them all there"
    return ""


class Machine:
    """A booted machine; `root` is its `/` as it is seen from here."""

    def __init__(self, root: Path, init: int) -> None:
        self.root = root
        self._init = init

    @contextlib.contextmanager
    def network(self) -> Iterator[None]:
        """Connections that this thread opens in the block are the machine's own: its 127.0.0.1, its ports."""
        namespace = "ns/net"
        with (
            Path("/proc/thread-self", namespace).open("rb") as ours,
            Path(f"/proc/{self._init}", namespace).open("rb") as theirs,
        ):
            _enter(theirs.fileno())
            try:
                yield
            finally:
                _enter(ours.fileno())

    def run(self, *command: str, code: int | None = 0) -> str:
        """Run a command there and return what it prints, both streams; it ends with `code`, or as it likes for None."""
        done = subprocess.run(
            ["nsenter", "--target", str(self._init), "--all", "--", *command],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "SYSTEMD_PAGER": "", "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert code in (None, done.returncode), f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def systemctl(self, *arguments: str, code: int | None = 0) -> str:
        """What `systemctl` says there."""
        return self.run("systemctl", "--no-pager", *arguments, code=code).strip()

    def show(self, unit: str, *properties: str) -> dict[str, str]:
        """Properties of a unit."""
        said = self.systemctl("show", unit, f"--property={','.join(properties)}")
        return dict(line.split("=", 1) for line in said.splitlines())

    def until(self, unit: str, wanted: Mapping[str, str]) -> None:
        """Wait until a unit's properties are these."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.show(unit, *wanted)) != dict(wanted):
            assert time.monotonic() < deadline, f"{found}, not {wanted}:\n{self.journal(unit)}"
            time.sleep(POLL)

    def version(self) -> int:
        """Which systemd it is."""
        return int(self.systemctl("--version").split()[1])

    def journal(self, unit: str) -> str:
        """What a unit, and systemd of it, have logged."""
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")

    def kill(self, pid: int, number: int) -> None:
        """Send a signal to a process by its number there."""
        self.run("kill", f"-{number}", str(pid))

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file by its path there."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        place.chmod(mode)


def lay(root: Path) -> None:
    """The directories and files of a system that has all else in `/usr`."""
    for name in EMPTY:
        (root / name).mkdir()
    for name in ("bin", "lib", "lib64", "sbin"):
        if (SYSTEM / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    shutil.copyfile(SYSTEM / "etc/ld.so.cache", root / "etc/ld.so.cache")
    if CERTIFICATES.exists():  # pip wants some, also where it fetches nothing
        (root / CERTIFICATES.relative_to("/")).parent.mkdir(parents=True)
        shutil.copyfile(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    (root / "etc/systemd/system").mkdir(parents=True)


@contextlib.contextmanager
def booted(root: Path, shown: Sequence[Path] = ()) -> Iterator[Machine]:
    """Boot what `lay` has laid, and shut it down when the block ends; `shown` are more directories of ours to be seen."""
    command = [
        *(NSPAWN, "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network", "--settings=no"),
        *("--console=pipe", "--link-journal=no", "--resolv-conf=off", "--timezone=off"),
        *(f"--directory={root}", f"--machine=rpcgw-test-{os.getpid()}"),
        f"--bind-ro={SYSTEM / 'usr'}:/usr",
        *(f"--bind-ro={place}" for place in shown if not place.is_relative_to("/usr")),
    ]
    log = root.with_name(f"{root.name}.log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **UNIFIED}, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        machine = Machine(root, _init(process, log))
        _wait_for_boot(machine, log)
        yield machine
    finally:
        _shut_down(process)


def _enter(namespace: int) -> None:
    """Move this thread into a network, setns(2); Python has it from 3.12 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _init(process: subprocess.Popen[bytes], log: Path) -> int:
    """The machine's first process, as it is numbered here."""
    deadline = time.monotonic() + BOOT
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while True:
        assert process.poll() is None, f"{NSPAWN} ended with {process.returncode}:\n{log.read_text()}"
        for child in children.read_text().split():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{child}/exe").readlink().name == SYSTEMD.name:
                    return int(child)
        assert time.monotonic() < deadline, f"the machine does not start:\n{log.read_text()}"
        time.sleep(POLL)


def _wait_for_boot(machine: Machine, log: Path) -> None:
    """Until systemd has started all that it starts by itself."""
    deadline = time.monotonic() + BOOT
    while (said := machine.systemctl("is-system-running", code=None)) != "running":
        failed = machine.systemctl("--failed", code=None) if said == "degraded" else ""
        assert not failed, failed
        assert time.monotonic() < deadline, f"the machine is {said}:\n{log.read_text()}"
        time.sleep(POLL)


def _shut_down(process: subprocess.Popen[bytes]) -> None:
    """Shut down in order, as far as a minute suffices."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(BOOT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
