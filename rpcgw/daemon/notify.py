"""Telling systemd how the daemon is (sd_notify(3)); silent where nobody listens. Standard library only."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from contextlib import suppress


class Notifier:
    """Sends states to `$NOTIFY_SOCKET`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address

    def ready(self, status: str) -> None:
        """A generation serves; also ends a reload, refused ones too."""
        self._send("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """A reload begins (Type=notify-reload wants the time)."""
        microseconds = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send("RELOADING=1", f"MONOTONIC_USEC={microseconds}", "STATUS=checking the new configuration")

    def stopping(self, seconds: float) -> None:
        """The end begins and takes at most so long."""
        self._send("STOPPING=1", "STATUS=draining", f"EXTEND_TIMEOUT_USEC={int(seconds * 1e6)}")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        # Where systemd is away, serving goes on.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.sendto("\n".join(lines).encode(), self._address)
