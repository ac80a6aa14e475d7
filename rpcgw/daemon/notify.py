"""Telling systemd how the daemon is (sd_notify(3)); silent where nobody listens. Standard library only."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress

PATIENCE = 1.0
"""Seconds that a manager has to take a message; one that does not is not waited for."""


class Notifier:
    """Sends states to `$NOTIFY_SOCKET`.

    The variables are taken out of the environment: what a process starts has nothing to tell in its name. `ping_every`
    is how often the watchdog is told that all is well (seconds; None: there is none), half of the time that it allows.
    """

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        address = environment.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        allowed, addressee = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
        mine = self._address and allowed.isdecimal() and int(allowed) and addressee in {"", str(os.getpid())}
        self.ping_every = int(allowed) / 2e6 if mine else None

    def ready(self, status: str) -> None:
        """A generation serves; also ends a reload, refused ones too."""
        self._send("READY=1", f"STATUS={status}")

    def reloading(self, status: str) -> None:
        """A reload begins (Type=notify-reload wants the time)."""
        microseconds = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send("RELOADING=1", f"MONOTONIC_USEC={microseconds}", f"STATUS={status}")

    def stopping(self, seconds: float) -> None:
        """The end begins and takes at most so long."""
        self._send("STOPPING=1", "STATUS=draining", f"EXTEND_TIMEOUT_USEC={int(seconds * 1e6)}")

    async def ping(self, lives: Callable[[], bool]) -> None:
        """Keep the watchdog quiet for as long as all is well; returns where there is none."""
        while self.ping_every is not None:
            if lives():
                self._send("WATCHDOG=1")
            await asyncio.sleep(self.ping_every)

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        # Where systemd is away, serving goes on.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(PATIENCE)
            sender.sendto("\n".join(lines).encode(), self._address)
