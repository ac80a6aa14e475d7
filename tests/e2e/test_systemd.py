"""The daemon as systemd's service: what it tells the manager, and sockets that the manager holds.

No systemd runs here: the tests speak its protocols, sd_notify(3) and sd_listen_fds(3), to the real daemon. In
test_booted_service.py one does.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.daemon import CONFIG, RPCGW, clean_environment, folder, serving, wait_until
from tests.support.systemd import HAND_OVER, Manager, activated, ask, bound

LEAKS = """
import os

import rpcgw as rpc


@rpc.procedure("Demo")
class Demo:
    def told(self) -> list[str]:
        return sorted(name for name in os.environ if name.startswith(("NOTIFY_", "WATCHDOG_", "LISTEN_")))


plugin = rpc.Plugin(procedures=[Demo])
"""


@pytest.mark.parametrize("address", ["{tmp}/notify", "@rpcgw-test-{pid}"], ids=["a file", "an abstract socket"])
def test_the_life_of_a_service(tmp_path: Path, address: str) -> None:
    """READY when it serves; RELOADING with the time and READY again, refused ones with their place; STOPPING; 0."""
    with (
        Manager(address.format(tmp=tmp_path, pid=os.getpid())) as manager,
        folder() as place,
        serving(place, manager.environment) as served,
    ):
        assert manager.next() == {"READY": "1", "STATUS": "serving, generation 1"}
        assert served.get("/readyz").status == 200

        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        served.hup()
        told = manager.next()
        assert told["RELOADING"] == "1"
        assert before <= int(told["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        assert manager.next() == {"READY": "1", "STATUS": "serving, generation 2"}

        served.write({"gateway.yaml": f"{CONFIG}\nserver: {{bnid: x}}\n"})
        served.hup()
        assert manager.next()["RELOADING"] == "1"
        told = manager.next()
        assert told["READY"] == "1"
        assert told["STATUS"].startswith("serving, generation 2; the last reload was refused: gateway.yaml:")

        assert served.stop() == 0
        told = manager.next()
        assert told["STOPPING"] == "1"
        assert told["EXTEND_TIMEOUT_USEC"] == "25000000", "pre_stop 0 s, grace 20 s, and 5 s to close what is open"


def test_the_watchdog_is_kept_quiet(tmp_path: Path) -> None:
    """WATCHDOG=1 comes at least twice in the time that the manager allows; it is not promised to another process."""
    with Manager(str(tmp_path / "notify")) as manager:
        watched = {**manager.environment, "WATCHDOG_USEC": "1000000"}
        with folder() as place, serving(place, watched) as served:
            manager.until("READY")
            for _ in range(4):
                manager.until("WATCHDOG")
            assert served.stop() == 0
        with folder() as place, serving(place, {**watched, "WATCHDOG_PID": "1"}) as served:
            manager.until("READY")
            served.hup()
            assert "RELOADING" in manager.next()
            assert "READY" in manager.next()


def test_nobody_else_speaks_for_the_service(tmp_path: Path) -> None:
    """What the manager said to the daemon is not in the environment of plugins."""
    with (
        Manager(str(tmp_path / "notify")) as manager,
        folder(plugins={"demo.py": LEAKS}) as place,
        bound(place) as both,
        activated(place, both, {**manager.environment, "WATCHDOG_USEC": "5000000"}) as served,
    ):
        answer = served.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "Demo.told"})
    assert answer.json()["result"] == []


def test_sockets_of_the_manager_are_served_and_left_alone() -> None:
    """A TCP and a unix socket instead of `server.bind`; the unix socket's file stays when the daemon has ended."""
    with folder() as place, bound(place) as both:
        with activated(place, both) as served:
            assert ask(both[0].getsockname()) == "PONG"
            assert ask(both[1].getsockname()) == "PONG"
            addresses = [line["address"] for line in served.logs("listening")]
            assert addresses == [f"127.0.0.1:{both[0].getsockname()[1]}", f"unix:{place}/rpcgw.sock"]
            assert served.stop() == 0
        assert (place / "rpcgw.sock").is_socket()


def test_a_restart_refuses_no_connection() -> None:
    """Clients that open a connection for each call, over TCP and unix, all get their answer, from either daemon."""
    answers: Counter[str] = Counter()
    stop = threading.Event()

    def go_on(address: str | tuple[str, int]) -> None:
        while not stop.is_set():
            answers[ask(address)] += 1

    with folder() as place, bound(place) as both:
        clients = [threading.Thread(target=go_on, args=[both[number % 2].getsockname()]) for number in range(6)]
        with activated(place, both) as first:
            for client in clients:
                client.start()
            wait_until(lambda: answers["PONG"] >= 20, 40, lambda: str(answers))
            assert first.stop() == 0
        between = answers["PONG"]
        with activated(place, both) as second:
            try:
                wait_until(lambda: answers["PONG"] >= between + 100, 40, lambda: str(answers))
            finally:
                stop.set()
                for client in clients:
                    client.join(60)
            assert second.stop() == 0
    assert list(answers) == ["PONG"]


def refused(place: Path, handed: socket.socket) -> subprocess.CompletedProcess[str]:
    """A daemon that does not come to serve on a socket."""
    command = [sys.executable, "-c", HAND_OVER, str(handed.fileno()), str(RPCGW), "serve", "-c", "gateway.yaml"]
    return subprocess.run(
        command,
        cwd=place,
        env=clean_environment(place, None),
        pass_fds=[handed.fileno()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_socket_for_everybody_is_guarded_like_an_address() -> None:
    """What decides whether an unprotected group may be served is where the manager's socket listens."""
    with folder() as place, socket.create_server(("0.0.0.0", 0)) as handed:
        done = refused(place, handed)
    assert done.returncode == 78
    assert "error[unprotected]" in done.stderr
    assert "0.0.0.0:" in done.stderr


def test_a_socket_of_another_kind_is_one_clear_line() -> None:
    """A datagram socket is a mistake in the socket unit; starting again changes nothing, so 78."""
    with folder() as place, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handed:
        handed.bind(("127.0.0.1", 0))
        done = refused(place, handed)
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert done.returncode == 78
    assert "does not listen" in line
    assert "ListenStream=" in line
