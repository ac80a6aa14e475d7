"""A Redis for tests: a server of the session's own on a free port, or what already listens where no server is installed."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

PORT = 6379
START = 10.0
DATABASES = range(15, 0, -1)


@contextlib.contextmanager
def redis_server() -> Iterator[int]:
    """Yield the port of a Redis; one that is started here keeps nothing on disk and ends with the block."""
    program = shutil.which("redis-server")
    if program is None:
        assert answers(PORT), "no redis-server on the PATH and none listens on 6379: make setup"
        yield PORT
        return
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rpcgw-redis-") as place:
        command = [
            program,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            place,
        ]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            deadline = time.monotonic() + START
            while not answers(port):
                assert process.poll() is None, f"redis-server ended with {process.returncode}"
                assert time.monotonic() < deadline, f"redis-server does not answer on {port}"
                time.sleep(0.02)
            yield port
        finally:
            process.terminate()
            process.wait(START)


def empty_database(port: int) -> int:
    """Return the number of a database that holds nothing."""
    for number in DATABASES:
        if command(port, f"SELECT {number}", "DBSIZE")[-1] == ":0":
            return number
    raise AssertionError(f"no empty database in the Redis on {port}")


def flush(port: int, database: int) -> None:
    """Empty one database."""
    command(port, f"SELECT {database}", "FLUSHDB")


def answers(port: int) -> bool:
    """Say whether a Redis answers there."""
    try:
        return command(port, "PING") == ["+PONG"]
    except OSError:
        return False


def command(port: int, *lines: str) -> list[str]:
    """Send inline commands whose replies are one line each, and return these."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in lines).encode())
        with connection.makefile("rb") as replies:
            return [replies.readline().decode().strip() for _ in lines]


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
