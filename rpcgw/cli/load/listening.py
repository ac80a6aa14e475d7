"""Ports of this machine: one that is free, and whether the process that is to listen on one does."""

from __future__ import annotations

import socket
import subprocess
import time


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int, process: subprocess.Popen[bytes], within: float, beat: float) -> bool:
    """Wait until somebody listens on a port, for `within` seconds, looking every `beat`; False where `process` ends."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(beat)
        else:
            return True
    return False
