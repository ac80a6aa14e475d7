"""Installs rpcgw as a systemd service from this source: `make install`.

    install.py [ROOT]     below ROOT (default /)

makes a virtual environment in /opt/rpcgw, from the lock file and the wheel in dist, copies the units into
/etc/systemd/system, and puts a project to begin with into /etc/rpcgw, if none is there.

Run again it brings the virtual environment and the units up to date and leaves the configuration alone. Nothing is
started. What is installed below a ROOT is for the machine whose `/` that will be: no program and no setting names ROOT.

It runs under the Python that the service is to have: the standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
LOCK = SOURCE / "requirements" / "runtime.lock"
HIDDEN = ("/home", "/root", "/run/user")
"""Where the units let nothing be seen: `ProtectHome=yes`."""
NEXT = """\
installed. Next:
  edit /etc/rpcgw, and check it: /opt/rpcgw/bin/rpcgw check -c /etc/rpcgw/gateway.yaml
  systemctl daemon-reload && systemctl enable --now rpcgw
"""


def main(root: Path) -> str:
    """Install below `root`; what to do next."""
    if hidden(python := Path(sys.base_prefix).resolve()):
        sys.exit(
            f"install: {python} is in a home, where the service cannot see it: make install PYTHON=/usr/bin/python3"
        )
    wheels = sorted((SOURCE / "dist").glob("rpcgw-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("install: there is no wheel in dist: make wheel")
    root = root.resolve()
    program, configuration = root / "opt" / "rpcgw", root / "etc" / "rpcgw"
    install_program(program, wheels[-1])
    install_units(root / "etc" / "systemd" / "system")
    begin(configuration, program / "bin" / "python")
    if root != Path("/"):
        settle(root, [*(program / "bin").iterdir(), program / "pyvenv.cfg", *configuration.glob("*.yaml")])
    return NEXT


def hidden(place: Path) -> bool:
    """Whether a directory is one that the service does not see."""
    return any(place.is_relative_to(home) for home in HIDDEN)


def install_program(place: Path, wheel: Path) -> None:
    """A virtual environment with what the lock names and the wheel; it follows the system's Python by links."""
    venv.create(place, with_pip=True, upgrade_deps=False, symlinks=True)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--require-hashes", "--only-binary=:all:", "-r", LOCK)
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall", wheel)


def install_units(place: Path) -> None:
    """The units; drop-ins are the operator's, and stay."""
    place.mkdir(parents=True, exist_ok=True)
    for unit in (*(SOURCE / "systemd").glob("*.service"), *(SOURCE / "systemd").glob("*.socket")):
        shutil.copyfile(unit, place / unit.name)


def begin(place: Path, python: Path) -> None:
    """A project to begin with, where there is none."""
    if not (place / "gateway.yaml").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        run(python, "-m", "rpcgw", "init", place)


def settle(root: Path, files: Iterable[Path]) -> None:
    """Take `root` out of the paths in scripts and settings: they are right once it is the machine's `/`."""
    for file in files:
        if file.is_symlink() or not file.is_file():
            continue
        text = file.read_bytes()
        if (there := text.replace(os.fsencode(f"{root}/"), b"/")) != text:
            file.write_bytes(there)


def run(*command: str | Path) -> None:
    """Run a command, its output on ours; where it fails, so do we."""
    if code := subprocess.run([str(part) for part in command], check=False).returncode:
        sys.exit(f"install: `{' '.join(map(str, command))}` ended with {code}")


if __name__ == "__main__":
    print(main(Path(sys.argv[1] if len(sys.argv) > 1 else "/")), end="")
