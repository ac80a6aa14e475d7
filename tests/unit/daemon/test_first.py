"""The first template: forked, and as much a process of its own as those that are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpcgw.daemon.first import fork_template


def template_of(daemon: Any) -> int:
    """The process that the first worker was forked from."""
    assert daemon.port
    worker = daemon.lines("worker.ready")[0]["worker"]
    return int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_it_needs_no_interpreter_of_its_own(start: Callable[..., Any]) -> None:
    """It is the supervisor's child, and has its command line; that of the next generation is a program of its own."""
    daemon = start(workers=1)
    assert command_of(template_of(daemon)) == command_of(daemon.process.pid)
    daemon.signal(signal.SIGHUP)
    daemon.until_logged("reload.done")
    worker = daemon.lines("worker.ready")[-1]["worker"]
    parent = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
    assert b"rpcgw.daemon.template" in command_of(parent)
    assert daemon.stop() == 0


def test_it_has_nothing_of_its_parent(start: Callable[..., Any]) -> None:
    """Not its session, its input, or a file that was passed to it."""
    passed, kept = os.pipe()
    daemon = start(workers=1, inherited=(passed,))
    template = template_of(daemon)
    assert os.getsid(template) == template
    assert Path(f"/proc/{template}/fd/0").readlink() == Path(os.devnull)
    pipes = {link.readlink() for link in Path(f"/proc/{template}/fd").iterdir()}
    assert Path(f"/proc/self/fd/{passed}").readlink() not in pipes
    assert daemon.stop() == 0
    os.close(passed)
    os.close(kept)


ALONE = """
import os
from rpcgw.daemon.first import fork_template
forked = fork_template()
forked.channel.close()
print(os.wait()[1])
"""


def test_it_ends_where_nobody_tells_it_what_to_compile() -> None:
    """A supervisor that ends before leaves nothing behind."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_without_handles_of_processes_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the first template is started like all others."""
    monkeypatch.delattr(os, "pidfd_open")
    assert fork_template() is None
