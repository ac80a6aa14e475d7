"""`make install`: what a service is run from, below a root of one's own, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clients import FETCHED
from tests.support.daemon import ROOT, serving

WHEELS = FETCHED / "wheels"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root in which it is installed, from a copy of what the script needs of the source."""
    source, root = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("root")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(source / "dist"), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("scripts/install.py", "requirements/runtime.lock"):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    shutil.copytree(ROOT / "systemd", source / "systemd")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELS), "PATH": os.environ["PATH"], "HOME": str(root)}
    for _ in range(2):  # once more changes nothing
        done = subprocess.run(
            [sys.executable, source / "scripts/install.py", root],
            env=offline,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_units_find_what_they_start(installed: Path) -> None:
    """Each program and configuration that a unit names is there, below the root."""
    units = installed / "etc/systemd/system"
    assert {unit.name for unit in units.iterdir()} == {"rpcgw.service", "rpcgw.socket", "rpcgw-worker@.service"}
    for unit in units.glob("*.service"):
        [start] = [line for line in unit.read_text("utf-8").splitlines() if line.startswith("ExecStart=")]
        for path in [word for word in start.partition("=")[2].split() if word.startswith("/")]:
            assert (installed / path.lstrip("/")).exists(), start


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_installed_serves(installed: Path) -> None:
    """The project to begin with, by the program that the unit starts, from its own virtual environment."""
    program = str(installed / "opt/rpcgw/bin/rpcgw")
    with serving(installed / "etc/rpcgw", {"PYTHONPATH": ""}, program=(program,)) as running:
        assert running.get("/readyz").status == 200
        assert running.stop() == 0
