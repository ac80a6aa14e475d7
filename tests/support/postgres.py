"""A PostgreSQL for tests: a server of their own in a folder, on a free port, which ends with the block."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.support.redis import free_port

START = 60.0
USER = "postgres"


def program(name: str) -> str:
    """The newest installed program of PostgreSQL by its name; Debian keeps them off the PATH."""
    found = shutil.which(name)
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    if found is None and not installed:
        raise AssertionError(f"no {name} of PostgreSQL is installed: make setup")
    return found or str(installed[-1])


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """Yield the DSN of a fresh database. PostgreSQL refuses to run as root, so root lends it the user `postgres`."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rpcgw-postgres-") as name:
        place = Path(name)
        if os.geteuid() == 0:
            shutil.chown(place, USER, USER)
            place.chmod(0o700)
        _run("initdb", "--pgdata", str(place / "data"), "--auth", "trust", "--username", USER, "--no-sync")
        process = _start("postgres", "-D", str(place / "data"), "-p", str(port), "-k", str(place), "-c", "fsync=off")
        try:
            deadline = time.monotonic() + START
            while not _answers(port):
                assert process.poll() is None, f"postgres ended with {process.returncode}"
                assert time.monotonic() < deadline, f"postgres does not answer on {port}"
                time.sleep(0.05)
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            process.terminate()
            process.wait(START)


def _answers(port: int) -> bool:
    try:
        psycopg.connect(host="127.0.0.1", port=port, user=USER, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _user() -> str | None:
    return USER if os.geteuid() == 0 else None


def _run(name: str, *arguments: str) -> None:
    subprocess.run([program(name), *arguments], check=True, capture_output=True, cwd="/", user=_user(), group=_user())


def _start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    command = [program(name), *arguments]
    return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, cwd="/", user=_user(), group=_user())
