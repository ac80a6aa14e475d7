"""`make install` into a root of one's own, from a copy of what its script needs of the source, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.clients import FETCHED
from tests.support.daemon import ROOT
from tests.support.machine import HOMES

WHEELS = FETCHED / "wheels"


def python() -> Path:
    """A Python that a service can see: this one, or the system's of the same version where this one is in a home."""
    version = f"python3.{sys.version_info.minor}"
    own = Path(sys.base_prefix, "bin", version).resolve()
    return Path("/usr/bin", version) if str(own).startswith(HOMES) else own


def with_wheel(place: Path, *names: str) -> Path:
    """A source that has a wheel in `dist` as `make wheel` puts it there, and these files."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place / "dist"), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    for name in names:
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, place / name)
    return place


def source(place: Path) -> Path:
    """A source that can be installed; its script is `scripts/install.py`."""
    with_wheel(place, "scripts/install.py", "requirements/runtime.lock")
    shutil.copytree(ROOT / "systemd", place / "systemd")
    return place


def install(place: Path, root: Path, interpreter: Path) -> subprocess.CompletedProcess[str]:
    """Run the script of a source under a Python, for a root."""
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELS), "PATH": os.environ["PATH"], "HOME": str(place)}
    return subprocess.run(
        [interpreter, place / "scripts/install.py", root],
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )
