"""A RabbitMQ for tests: the one that answers on the usual port, or a server of the session's own where one is installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.redis import free_port

PORT = 5672
START = 60.0
# Debian's command becomes another user, who may not write where we do: what it starts comes first.
PLACES = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server", "/usr/sbin/rabbitmq-server")


@contextlib.contextmanager
def rabbit() -> Iterator[str]:
    """Yield the address of a RabbitMQ whose user guest may do everything."""
    if answers(PORT):
        yield address(PORT)
        return
    program = next(filter(None, map(shutil.which, PLACES)), None)
    assert program is not None, "no RabbitMQ answers on 5672 and none is installed: apt-get install rabbitmq-server"
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rpcgw-rabbit-") as place, (Path(place) / "log").open("wb") as log:
        # The machine's own configuration names ports too.
        (Path(place) / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\n")
        environment = {
            **os.environ,
            "RABBITMQ_CONFIG_FILE": f"{place}/rabbitmq.conf",
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "HOME": place,
            "RABBITMQ_NODENAME": f"rpcgw{port}@localhost",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": f"{place}/mnesia",
            "RABBITMQ_LOG_BASE": place,
            "RABBITMQ_PID_FILE": f"{place}/pid",
            "RABBITMQ_FEATURE_FLAGS_FILE": f"{place}/flags",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{place}/plugins",
        }
        process = subprocess.Popen(
            [program], env=environment, cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + START
            while not answers(port):
                said = (Path(place) / "log").read_text(errors="replace")[-2000:]
                assert process.poll() is None, f"rabbitmq-server ended with {process.returncode}:\n{said}"
                assert time.monotonic() < deadline, f"rabbitmq-server does not answer on {port}:\n{said}"
                time.sleep(0.1)
            yield address(port)
        finally:
            process.terminate()
            process.wait(START)


def address(port: int) -> str:
    """Return the DSN of the broker on a port."""
    return f"amqp://guest:guest@127.0.0.1:{port}/%2F"


def answers(port: int) -> bool:
    """Say whether an AMQP 0-9-1 broker answers there: it greets whoever begins the protocol."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return connection.recv(1) == b"\x01"
    except OSError:
        return False
