"""The Makefile's commands as a person types them, in a tree of their own, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.clients import FETCHED
from tests.support.daemon import ROOT
from tests.support.machine import HOMES

WHEELS = FETCHED / "wheels"
LONG_AGO = 946_684_800
"""When a tree's files are from: whatever was fetched since is as they want it."""


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


def checkout(place: Path) -> Path:
    """The tree of somebody who has cloned it and run `make setup`: what that has fetched is ours, and fresh to make."""
    assert (ROOT / ".venv/.ready").exists(), "make would fetch it into the tree's own: make setup"
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
            os.utime(place / name, (LONG_AGO, LONG_AGO))
    for name in (".venv", ".cache"):
        (place / name).symlink_to((ROOT / name).resolve())
    return place


def offline(home: Path) -> dict[str, str]:
    """The environment of somebody who has programs, a home and what `make setup` fetched, and reaches nobody."""
    nobody = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    nobody |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELS)}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **nobody, **pip}


def make(line: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Type a line in a tree; `variables` are those of the Makefile that the environment gives."""
    assert line.startswith("make ")
    return subprocess.run(
        ["bash", "-c", line],
        cwd=place,
        env={**offline(place), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def typed(page: str, command: str) -> str:
    """The one line of a page's console blocks that begins with a command, without what is said of it."""
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    [line] = [line for block in blocks for line in block.splitlines() if line.startswith(command)]
    return str(line.partition(" #")[0].strip())
