"""Installs rpcgw as a systemd service from this source: `make install`.

    install.py [ROOT]     below ROOT (default /)

makes a virtual environment in /opt/rpcgw, from the lock file and the wheel in dist, copies the units into
/etc/systemd/system, and puts a project to begin with into /etc/rpcgw, if none is there.

Run again it brings the virtual environment and the units up to date and leaves the configuration alone. Nothing is
started. It runs under the system's Python: the standard library only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
LOCK = SOURCE / "requirements" / "runtime.lock"
NEXT = """\
installed. Next:
  edit {configuration}, and check it: {program} check -c {configuration}/gateway.yaml
  systemctl daemon-reload && systemctl enable --now rpcgw
"""


def main(root: Path) -> str:
    """Install below `root`; what to do next."""
    wheels = sorted((SOURCE / "dist").glob("rpcgw-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("install: there is no wheel in dist: make wheel")
    program = install_program(root / "opt" / "rpcgw", wheels[-1])
    install_units(root / "etc" / "systemd" / "system")
    configuration = root / "etc" / "rpcgw"
    begin(configuration, program)
    return NEXT.format(configuration=configuration, program=program)


def install_program(place: Path, wheel: Path) -> Path:
    """A virtual environment with what the lock names and the wheel; its `rpcgw`."""
    venv.create(place, with_pip=True, upgrade_deps=False)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--require-hashes", "--only-binary=:all:", "-r", LOCK)
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall", wheel)
    return place / "bin" / "rpcgw"


def install_units(place: Path) -> None:
    """The units and their drop-ins; a drop-in of the operator's own stays."""
    place.mkdir(parents=True, exist_ok=True)
    for unit in (*(SOURCE / "systemd").glob("*.service"), *(SOURCE / "systemd").glob("*.socket")):
        shutil.copyfile(unit, place / unit.name)


def begin(place: Path, program: Path) -> None:
    """A project to begin with, where there is none."""
    if not (place / "gateway.yaml").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        run(program, "init", place)


def run(*command: str | Path) -> None:
    """Run a command, its output on ours; where it fails, so do we."""
    if code := subprocess.run([str(part) for part in command], check=False).returncode:
        sys.exit(f"install: `{' '.join(map(str, command))}` ended with {code}")


if __name__ == "__main__":
    print(main(Path(sys.argv[1] if len(sys.argv) > 1 else "/")), end="")
