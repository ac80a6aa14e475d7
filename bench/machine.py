"""Where things run: the core that servers are pinned to, and the one that the load comes from."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / ".cache" / "clients"
"""Virtual environments that the tests have as well."""
PEERS = ROOT / ".cache" / "bench"
"""What only the bench needs: `make bench` fetches it."""
NODE = ROOT / ".cache" / "bin" / "node"

_CORES = sorted(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Cores:
    """Core numbers; both are the same where the machine has one only."""

    server: int = _CORES[0]
    load: int = _CORES[min(1, len(_CORES) - 1)]

    @property
    def both(self) -> set[int]:
        """Both of them."""
        return {self.server, self.load}


CORES = Cores()


def described() -> str:
    """The machine in a line."""
    return f"{_cpu_model()}, {len(_CORES)} cores, Linux {platform.release()}, Python {platform.python_version()}"


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
