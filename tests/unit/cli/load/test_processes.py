"""What the kernel says of processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rpcgw.cli.load.processes import cpu_seconds, listeners, resident, tree

PARENT = """\
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "print('up', flush=True); input()"], stdin=subprocess.PIPE)
input()
child.communicate(b"\\n")
"""
GONE = 2**22 + 1
"""No process has this number: it is above the kernel's largest."""


@contextmanager
def family() -> Iterator[int]:
    """A process with one child."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        yield parent.pid
        parent.communicate(b"\n")


def test_a_tree_has_the_children() -> None:
    """A process comes first, what it started after it."""
    with family() as pid:
        seen = tree(pid)
        assert seen[0] == pid
        assert len(seen) == 2
        assert os.getpid() not in seen


def test_time_is_counted_while_it_is_spent() -> None:
    """Processor time grows by what is computed."""
    before, begin = cpu_seconds([os.getpid()]), time.process_time()
    while time.process_time() - begin < 0.2:
        pass
    assert 0.1 < cpu_seconds([os.getpid()]) - before < 1


def test_memory_is_counted() -> None:
    """What a process fills is in its resident memory."""
    before = resident(os.getpid())
    filled = bytearray(os.urandom(1 << 20)) * 64
    assert resident(os.getpid()) - before > 48 << 20
    assert len(filled) == 64 << 20


def test_a_process_that_is_gone_counts_nothing() -> None:
    """No error: daemons end while they are looked at."""
    assert (tree(GONE), cpu_seconds([GONE]), resident(GONE)) == ([GONE], 0, 0)


def test_who_listens_is_found_by_port() -> None:
    """The process that listens on a port is found, and nobody where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listeners(port) == [os.getpid()]
    assert listeners(port) == []


def test_of_those_who_share_a_socket_the_parent_is_named() -> None:
    """A supervisor and its workers hold the same socket; counted from the top, each counts once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[server.fileno()])
        try:
            assert listeners(server.getsockname()[1]) == [os.getpid()]
        finally:
            child.communicate(b"\n")
