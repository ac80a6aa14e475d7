"""The first template, forked by the supervisor: it begins with what is loaded, and needs no interpreter of its own.

That is at the start alone, before there is a loop, a thread or a socket. Templates of later generations are programs of
their own, since what is installed may be newer by then. Standard library only.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn, Protocol

from rpcgw.daemon.channel import Channel
from rpcgw.daemon.exits import BROKEN
from rpcgw.daemon.lines import Lines

OF_THE_MANAGER: Final = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""Variables by which systemd speaks to the supervisor, and to nobody else."""
_OPEN: Final = Path("/proc/self/fd")
_STANDARD: Final = 3


class Process(Protocol):
    """A template's process, as `asyncio.subprocess.Process` has it."""

    @property
    def returncode(self) -> int | None:
        """How it ended; None where it has not been waited for."""

    async def wait(self) -> int:
        """Wait for its end: its exit code, or minus the signal that ended it."""

    def kill(self) -> None:
        """End it. Raises `ProcessLookupError` where it is gone."""


class Forked:
    """A process that was forked here, with our end of the channel to it."""

    def __init__(self, pid: int, handle: int, channel: Channel) -> None:
        self.channel = channel
        self.returncode: int | None = None
        self._pid = pid
        self._handle = handle

    async def wait(self) -> int:
        """See `Process`; to be called once."""
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        loop.add_reader(self._handle, over.set_result, None)
        try:
            await over
        finally:
            loop.remove_reader(self._handle)
        return self._ended()

    def _ended(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        os.close(self._handle)
        self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def kill(self) -> None:
        """See `Process`."""
        os.kill(self._pid, signal.SIGKILL)


def fork_template() -> Forked | None:
    """A process that waits to be told what to compile; None where the system has no handles of processes (Linux has).

    It ends where the channel is closed before that.
    """
    if not hasattr(os, "pidfd_open") or not _OPEN.is_dir():
        return None
    channel, theirs = Channel.pair()
    pid = os.fork()
    if pid == 0:
        _be_the_template(theirs)
    theirs.close()
    try:
        return Forked(pid, os.pidfd_open(pid), channel)
    except OSError:  # forbidden, or an old kernel
        channel.close()
        os.waitpid(pid, 0)
        return None


def _be_the_template(channel: socket.socket) -> NoReturn:
    """In the child: have what a program of its own would have, work, and leave without the parent's exit handlers."""
    code = BROKEN
    try:
        _forget_the_parent(channel.fileno())
        from rpcgw.daemon.template import main  # noqa: PLC0415 -- the supervisor loads none of it

        code = main(channel.detach())
    except BaseException as error:  # noqa: BLE001 -- the fork's edge: nothing may reach the supervisor's own frames
        Lines()("template.failed", exception=error)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _forget_the_parent(kept: int) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for descriptor in [int(entry.name) for entry in _OPEN.iterdir()]:
        if descriptor >= _STANDARD and descriptor != kept:
            with suppress(OSError):
                os.close(descriptor)
    for name in OF_THE_MANAGER:
        os.environ.pop(name, None)
    if not sys.flags.safe_path:
        del sys.path[0]  # the directory of whoever started it
