"""The units of systemd/ as they are shipped; tests/e2e/test_booted_service.py has them at work under systemd."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parent.parent.parent / "systemd"

PROMISES = [
    pytest.param("rpcgw.service", "Type", "notify", id="Debian 12 has systemd 252, which knows no notify-reload"),
    pytest.param("rpcgw.service", "ExecReload", "/bin/kill -HUP $MAINPID", id="so the signal is sent by hand"),
    pytest.param("rpcgw.service", "RestartPreventExitStatus", "78", id="a mistake does not mend itself"),
    pytest.param("rpcgw.service", "StartLimitIntervalSec", "0", id="all else may: it is tried for ever"),
    pytest.param("rpcgw.service", "DynamicUser", "yes", id="a user of its own"),
    pytest.param("rpcgw.service", "ProtectSystem", "strict", id="it writes nowhere"),
    pytest.param("rpcgw.service", "StateDirectory", "rpcgw", id="but in its state directory"),
    pytest.param("rpcgw.service", "NoNewPrivileges", "yes", id="it gains no rights"),
    pytest.param("rpcgw.service", "LimitNOFILE", "65536", id="descriptors for connections"),
    pytest.param("rpcgw.service", "TasksMax", "4096", id="processes and threads are bounded"),
    pytest.param("rpcgw.service", "WatchdogSec", "90", id="a daemon that serves nobody is started again"),
    pytest.param("rpcgw.service", "KillMode", "mixed", id="the supervisor drains its workers"),
    pytest.param("rpcgw.service.d/notify-reload.conf", "Type", "notify-reload", id="systemd 253 waits for the reload"),
    pytest.param("rpcgw.service.d/notify-reload.conf", "ExecReload", "", id="and sends the signal itself"),
    pytest.param("rpcgw.socket", "Accept", "no", id="the daemon accepts"),
    pytest.param("rpcgw.socket", "ListenStream", "127.0.0.1:8080", id="where the daemon would listen"),
    pytest.param("rpcgw-worker@.service", "DynamicUser", "yes", id="workers of queues have it as well"),
    pytest.param("rpcgw-worker@.service", "RestartPreventExitStatus", "2 78", id="an unknown queue stays unknown"),
]


def options(name: str) -> dict[str, list[str]]:
    """Every value of each option, whatever its section."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (UNITS / name).read_text("utf-8").splitlines():
        if "=" in line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            found[key].append(value)
    return found


@pytest.mark.parametrize(("unit", "option", "value"), PROMISES)
def test_a_unit(unit: str, option: str, value: str) -> None:
    """Each option stands there once, with this value."""
    assert options(unit)[option] == [value]


def test_a_stop_is_waited_for_as_long_as_it_may_take() -> None:
    """The default grace and what is added to it fit into the time that systemd gives."""
    assert float(options("rpcgw.service")["TimeoutStopSec"][0]) > 20 + 5
