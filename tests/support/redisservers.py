"""Redis servers of a test's own, which it may stop, freeze and start again: one, three behind Sentinels, or a Cluster.

with redis_process() as redis:
redis.freeze()
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from tests.support.certificates import FIRST, Certificate
from tests.support.redis import free_port

PATIENCE = 60.0
QUIET = ("--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0")
"""Nothing is kept, nobody else connects, and the one replica is not made to wait for others to come."""
MASTER = "mymaster"
SOON, LATE = 1.0, 60.0
"""Seconds after which Sentinels and nodes of a Cluster take one for lost: late, a busy machine makes no failover."""
SLOTS = 16384


@dataclass
class RedisProcess:
    """One server; `options` are given to every start."""

    port: int
    place: Path
    options: Sequence[str] = ()
    certificate: Certificate | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address as a pool takes it."""
        if self.certificate is None:
            return f"redis://127.0.0.1:{self.port}/0"
        return f"rediss://127.0.0.1:{self.port}/0?ssl_ca_certs={self.certificate.cert}"

    def start(self, *options: str, wait: bool = True) -> None:
        """Start it, empty, and wait until it answers."""
        where = ("--tls-port", str(self.port), "--port", "0") if self.certificate else ("--port", str(self.port))
        command = ["redis-server", *where, "--dir", str(self.place), *QUIET, *self.options, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if wait:
            until(self.answers, f"no Redis on {self.port}")

    def stop(self) -> None:
        """Kill it, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def freeze(self) -> None:
        """Let it do nothing any more, with its connections open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def client(self) -> Redis:
        """A client for the test itself."""
        tls: dict[str, Any] = {}
        if self.certificate is not None:
            cert, key = str(self.certificate.cert), str(self.certificate.key)
            tls = {"ssl": True, "ssl_ca_certs": cert, "ssl_certfile": cert, "ssl_keyfile": key}
        return Redis(host="127.0.0.1", port=self.port, socket_timeout=5, protocol=2, **tls)

    def ask(self, *command: str) -> object:
        """What it answers to one command."""
        with contextlib.closing(self.client()) as client:
            ask: Callable[..., object] = client.execute_command
            return ask(*command)

    def answers(self) -> bool:
        """Whether it answers."""
        with contextlib.suppress(RedisError, OSError):
            return self.ask("PING") is True
        return False

    def connections(self) -> int:
        """How many clients it has, but for the one that asks."""
        return int(self.info("clients")["connected_clients"]) - 1

    def info(self, section: str) -> dict[str, str]:
        """A section of what it tells about itself."""
        with contextlib.closing(self.client()) as client:
            return {name: str(value) for name, value in client.info(section).items()}


@contextlib.contextmanager
def redis_process(*options: str, tls: bool = False) -> Iterator[RedisProcess]:
    """A running server."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-redis-") as folder:
        place = Path(folder)
        certificate = FIRST if tls else None
        made = RedisProcess(free_port(), place, (*_tls(certificate), *options), certificate)
        try:
            made.start()
            yield made
        finally:
            made.stop()


@dataclass
class Watched:
    """A master and its replica behind Sentinels."""

    servers: list[RedisProcess]
    sentinels: list[RedisProcess] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address as a pool takes it."""
        return f"redis+sentinel://{','.join(f'127.0.0.1:{one.port}' for one in self.sentinels)}/{MASTER}/0"

    def master(self) -> RedisProcess:
        """The server that the Sentinels name."""
        for sentinel in self.sentinels:
            with contextlib.suppress(RedisError, OSError):
                found = sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)
                assert isinstance(found, tuple | list)
                return next(one for one in self.servers if one.port == int(found[1]))
        raise AssertionError("no Sentinel answers")


@contextlib.contextmanager
def watched_redis(lost_after: float = LATE) -> Iterator[Watched]:
    """A master, a replica and three Sentinels, of which two agree on a failover."""
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rpcgw-redis-")))
        made = Watched([])
        stack.callback(_stop, made)
        for number in range(2):
            one = RedisProcess(free_port(), _folder(place, f"server{number}"))
            made.servers.append(one)
            one.start(*(("--replicaof", f"127.0.0.1 {made.servers[0].port}") if number else ()))
        until(lambda: _in_sync(made.servers[1]), "the replica does not follow")
        for number in range(3):
            folder = _folder(place, f"sentinel{number}")
            made.sentinels.append(_sentinel(folder, made.servers[0].port, lost_after))
        until(lambda: all(map(_knows_others, made.sentinels)), "the Sentinels do not find each other")
        yield made


def _sentinel(folder: Path, port: int, lost_after: float) -> RedisProcess:
    file = folder / "sentinel.conf"
    millis = int(lost_after * 1000)
    file.write_text(
        f"sentinel monitor {MASTER} 127.0.0.1 {port} 2\n"
        f"sentinel down-after-milliseconds {MASTER} {millis}\n"
        f"sentinel failover-timeout {MASTER} 2000\n"
    )
    made = RedisProcess(free_port(), folder)
    command = ["redis-server", str(file), "--sentinel", "--port", str(made.port), "--bind", "127.0.0.1"]
    made.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder)
    until(made.answers, f"no Sentinel on {made.port}")
    return made


def _in_sync(replica: RedisProcess) -> bool:
    return replica.info("replication")["master_link_status"] == "up"


def _knows_others(sentinel: RedisProcess) -> bool:
    found = sentinel.ask("SENTINEL", "SENTINELS", MASTER)
    replicas = sentinel.ask("SENTINEL", "REPLICAS", MASTER)
    return isinstance(found, list) and len(found) == 2 and isinstance(replicas, list) and len(replicas) == 1


@dataclass
class Cluster:
    """Three masters, and a replica of the first where one is wanted."""

    nodes: list[RedisProcess]

    @property
    def url(self) -> str:
        """The address as a pool takes it: two nodes, from which the others are found."""
        return f"redis+cluster://{','.join(f'127.0.0.1:{one.port}' for one in self.nodes[:2])}"


@contextlib.contextmanager
def redis_cluster(lost_after: float = LATE, *, replica: bool = False) -> Iterator[Cluster]:
    """A Cluster of three nodes; with `replica` a fourth stands by for the first."""
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rpcgw-redis-")))
        made = Cluster([])
        stack.callback(_stop, made)
        for number in range(4 if replica else 3):
            folder = _folder(place, f"node{number}")
            options = ("--cluster-enabled", "yes", "--cluster-node-timeout", str(int(lost_after * 1000)))
            bus = ("--cluster-port", str(free_port()))
            one = RedisProcess(free_port(), folder, (*options, *bus, "--cluster-require-full-coverage", "no"))
            made.nodes.append(one)
            one.start()
        _join(made.nodes, replica=replica)
        yield made


def _join(nodes: Sequence[RedisProcess], *, replica: bool) -> None:
    for number, node in enumerate(nodes[:3]):
        node.ask("CLUSTER", "ADDSLOTSRANGE", str(number * SLOTS // 3), str((number + 1) * SLOTS // 3 - 1))
        # Each begins with an epoch of its own, so that they need not find out who yields.
        node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
    for node in nodes[1:]:
        bus = node.options[node.options.index("--cluster-port") + 1]
        nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", str(node.port), bus)
    until(lambda: all(_is_whole(node, len(nodes)) for node in nodes), "the Cluster does not come together")
    if replica:
        name = nodes[0].ask("CLUSTER", "MYID")
        assert isinstance(name, bytes)
        nodes[3].ask("CLUSTER", "REPLICATE", name.decode())
        until(lambda: _in_sync(nodes[3]), "the replica does not follow")


def _is_whole(node: RedisProcess, size: int) -> bool:
    said = node.ask("CLUSTER", "INFO")
    assert isinstance(said, bytes)
    known = f"cluster_known_nodes:{size}\r\n".encode()
    return all(each in said for each in (b"cluster_state:ok", b"cluster_slots_ok:16384\r\n", known))


def until(done: Callable[[], object], otherwise: str, seconds: float = PATIENCE) -> float:
    """Poll until something is so; return how many seconds that took."""
    start = time.monotonic()
    while True:
        with contextlib.suppress(RedisError, OSError):
            if done():
                return time.monotonic() - start
        assert time.monotonic() < start + seconds, otherwise
        time.sleep(0.02)


def _folder(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir()
    return folder


def _stop(made: Watched | Cluster) -> None:
    processes = made.nodes if isinstance(made, Cluster) else [*made.sentinels, *made.servers]
    for one in processes:
        one.stop()


def _tls(certificate: Certificate | None) -> tuple[str, ...]:
    if certificate is None:
        return ()
    files = ("--tls-cert-file", str(certificate.cert), "--tls-key-file", str(certificate.key))
    return (*files, "--tls-ca-cert-file", str(certificate.cert), "--tls-auth-clients", "no")
