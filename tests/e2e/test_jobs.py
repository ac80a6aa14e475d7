"""Queues as operators have them: a real daemon, real workers, a real Redis and RabbitMQ, and kills in the middle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import aio_pika
import pytest
from redis import Redis

from tests.support.acceptance import Note, noted, noting
from tests.support.daemon import (
    RPCGW,
    Daemon,
    as_yaml,
    clean_environment,
    cli,
    daemon,
    end,
    folder,
    parse_log,
    wait_until,
)
from tests.support.http import Answer
from tests.support.hub import hub_at
from tests.support.rabbit import rabbit
from tests.support.receiver import Receiver, receiver

pytestmark = pytest.mark.slow

RECLAIM = 3.0
TOKEN = "s3cret-token"
CLIENT = f"client-{sha256(TOKEN.encode()).hexdigest()[:8]}"
PLUGIN = """
import asyncio
import os
import pathlib

import rpcgw as rpc


@rpc.procedure("Demo")
class Demo:
    async def double(self, number: int, ctx: rpc.CallContext) -> str:
        return f"{ctx.principal.name} {ctx.surface} {2 * number}"

    async def hold(self, place: str) -> int:
        # Says which process has begun, and waits for somebody to let it go on.
        here = pathlib.Path(place)
        (here / f"begun-{os.getpid()}").touch()
        while not (here / "go").exists():
            await asyncio.sleep(0.01)
        (here / f"ended-{os.getpid()}").touch()
        return os.getpid()

    def die(self, place: str) -> None:
        (pathlib.Path(place) / f"died-{os.getpid()}").touch()
        os._exit(9)


plugin = rpc.Plugin(procedures=[Demo])
"""


@dataclass(frozen=True, slots=True)
class Broker:
    """A queue of a test's own, seen from outside."""

    name: str
    dsn: str
    produce: Callable[[str], None]
    buried: Callable[[], list[tuple[str, str]]]
    left: Callable[[], int]


@contextlib.contextmanager
def in_redis(dsn: str, name: str) -> Iterator[Broker]:
    with contextlib.closing(Redis.from_url(dsn, decode_responses=True, protocol=2)) as redis:

        def buried() -> list[tuple[str, str]]:
            found = cast("list[tuple[str, dict[str, str]]]", redis.xrange(f"{name}.dead"))
            return [(fields["message"], fields["reason"]) for _, fields in found]

        yield Broker(
            name,
            dsn,
            lambda message: cast("None", redis.xadd(name, {"message": message})),
            buried,
            lambda: redis.xlen(name),
        )
        redis.delete(name, f"{name}.dead")


@contextlib.contextmanager
def in_rabbit(dsn: str, name: str) -> Iterator[Broker]:
    with asyncio.Runner() as runner:
        connection = runner.run(_connected(dsn))
        channel = runner.run(_channel(connection))

        async def produce(message: str) -> None:
            await channel.default_exchange.publish(aio_pika.Message(message.encode()), routing_key=name)

        async def buried() -> list[tuple[str, str]]:
            queue = await channel.get_queue(f"{name}.dead")
            found = []
            while (message := await queue.get(no_ack=True, fail=False)) is not None:
                found.append((message.body.decode(), str(message.headers["x-reason"])))
            return found

        async def left() -> int:
            other = await connection.channel()
            queue = await other.declare_queue(name, passive=True)
            await other.close()
            return queue.declaration_result.message_count or 0

        yield Broker(
            name,
            dsn,
            lambda message: runner.run(produce(message)),
            lambda: runner.run(buried()),
            lambda: runner.run(left()),
        )
        runner.run(_removed(channel, name))
        runner.run(connection.close())


async def _connected(dsn: str) -> aio_pika.abc.AbstractConnection:
    return await aio_pika.connect(dsn)


async def _channel(connection: aio_pika.abc.AbstractConnection) -> aio_pika.abc.AbstractChannel:
    return await connection.channel()


async def _removed(channel: aio_pika.abc.AbstractChannel, name: str) -> None:
    await channel.queue_delete(name)
    await channel.queue_delete(f"{name}.dead")


@pytest.fixture(scope="session")
def rabbit_url() -> Iterator[str]:
    """The address of a real RabbitMQ."""
    with rabbit() as url:
        yield url


KINDS = {"redis": (in_redis, "redis_url"), "amqp": (in_rabbit, "rabbit_url")}


@pytest.fixture(params=list(KINDS))
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """Each kind of queue in turn, under a name that nobody else has."""
    make, dsn = KINDS[request.param]
    with make(request.getfixturevalue(dsn), f"rpcgw-test-{secrets.token_hex(6)}") as made:
        yield made


@pytest.fixture
def hooks() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def config(broker: Broker, hooks: Receiver, **jobs: Any) -> dict[str, Any]:
    kind = "redis" if broker.dsn.startswith("redis") else "amqp"
    return {
        "ufo_json_rpc": {
            "security": {"clients_tokens": [TOKEN]},
            "async": [{"type": kind, "config": {"name": broker.name, "dsn": broker.dsn}}],
        },
        "jobs": {"reclaim": RECLAIM, "retries": 1, "webhooks": {"allow": [f"{hooks.url}/"]}, **jobs},
        "server": {"timeouts": {"grace": 5}},
    }


class Worker:
    """A running `rpcgw worker`."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    def log(self) -> str:
        return self._log.read_text(errors="backslashreplace")

    def logs(self, event: str) -> list[dict[str, Any]]:
        return [line for line in parse_log(self.log()) if line.get("event") == event]

    def wait_log(self, event: str, seconds: float = 20.0) -> dict[str, Any]:
        wait_until(lambda: self.logs(event), seconds, lambda: f"no {event!r} in:\n{self.log()}")
        return self.logs(event)[-1]


@contextlib.contextmanager
def worker(place: Path, name: str, *, ready: bool = True) -> Iterator[Worker]:
    """Consume a queue until the block ends."""
    path = place / f"worker-{secrets.token_hex(4)}.log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [RPCGW, "worker", name, "-c", "gateway.yaml"],
            cwd=place,
            env=clean_environment(place, None),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    made = Worker(process, path)
    try:
        if ready:
            made.wait_log("worker.ready")
        yield made
    finally:
        end(process)


@pytest.fixture
def place(broker: Broker, hooks: Receiver) -> Iterator[Path]:
    """An operator's folder for workers alone."""
    with folder(config=as_yaml(config(broker, hooks)), plugins={"demo.py": PLUGIN}) as made:
        yield made


def message(method: str, token: str | None = TOKEN, callback: str = "", **params: Any) -> str:
    special = {"$rpc": {"callback": callback}} if callback else {}
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, **special}}
    return json.dumps({"request": request, "token": token})


def the_dead(broker: Broker, consumer: Worker, count: int) -> dict[str, str]:
    """The messages in the dead-letter queue with their reasons, as soon as there are so many."""
    found: dict[str, str] = {}

    def look() -> bool:
        found.update(broker.buried())
        return len(found) >= count

    wait_until(look, 20, consumer.log)
    return found


def files(place: Path, kind: str) -> list[int]:
    """The processes that left a mark of a kind."""
    return sorted(int(path.name.partition("-")[2]) for path in place.glob(f"{kind}-*"))


def post(running: Daemon, body: Mapping[str, Any]) -> Any:
    return running.post("/rpc", body, {"Ufo-RPC-Token": TOKEN, "traceparent": "00-9"}).json()


def test_deferred(broker: Broker, hooks: Receiver, record_property: Note) -> None:
    """A-RPC-35, A-RPC-60, A-RPC-99: a call with a callback goes into the queue; a worker admits it again, runs it, delivers the answer."""
    callback = f"{hooks.url}/x"
    body = {"jsonrpc": "2.0", "id": 7, "method": "Demo.double"}
    with (
        daemon(config=config(broker, hooks), plugins={"demo.py": PLUGIN}) as running,
        noting(record_property, running),
    ):
        answer = post(running, {**body, "params": {"number": 4, "$rpc": {"callback": callback}}})
        assert answer == {"id": 7, "result": {"async": True, "callback": callback}, "jsonrpc": "2.0"}
        assert hooks.received == []
        with worker(running.folder, broker.name) as consumer:
            [got] = hooks.wait()
            told = consumer.wait_log("job.done")
            assert (told["queue"], told["method"]) == (broker.name, "Demo.double")
            metrics = running.get("/metrics").text
    record_property("exchange", noted(f"POST {got.path}", (), got.body, Answer(204, (), b"")))
    assert got.json() == {"id": 7, "result": f"{CLIENT} queue 8", "jsonrpc": "2.0"}
    assert got.headers["traceparent"] == "00-9"
    for outcome in ("queued", "done"):
        assert f'rpcgw_jobs_total{{outcome="{outcome}",queue="{broker.name}"}} 1.0' in metrics


def test_foreign_producers(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A-RPC-35, A-RPC-41: whoever may write to the queue can ask for calls, with a token of the group."""
    with worker(place, broker.name):
        broker.produce(message("Demo.double", number=5, callback=f"{hooks.url}/x"))
        assert hooks.wait()[0].json()["result"] == f"{CLIENT} queue 10"


def test_a_method_that_is_off(broker: Broker, hooks: Receiver) -> None:
    """It is not accepted into the queue; what waited there is answered as a call of what never was, until it is on."""
    callback = f"{hooks.url}/x"
    body = {"jsonrpc": "2.0", "id": 7, "method": "Demo.double"}
    wanted = {**body, "params": {"number": 4, "$rpc": {"callback": callback}}}
    with daemon(config=config(broker, hooks), plugins={"demo.py": PLUGIN}) as running:
        assert "result" in post(running, wanted)
        assert cli("switch", "off", "Demo.double", cwd=running.folder).returncode == 0
        with worker(running.folder, broker.name):
            assert hooks.wait()[0].json()["error"]["code"] == -32601
            wait_until(lambda: "error" in post(running, {**body, "params": {"number": 4}}), 20, running.stderr)
            assert post(running, wanted)["error"]["code"] == -32601
            assert cli("switch", "on", "Demo.double", cwd=running.folder).returncode == 0
            broker.produce(message("Demo.double", number=5, callback=callback))
            assert hooks.wait(2)[1].json()["result"] == f"{CLIENT} queue 10"


DEAD = {
    'O:8:"stdClass":0:{}': "the message is no JSON",
    message("Demo.double", None, number=1): "refused: no token",
    message("Demo.double", "wrong", number=1): "refused: not a token",
    message("Demo.double", callback="http://10.0.0.1/", number=1): "the callback is not",
}


def test_dead(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A-RPC-41: what can never be done ends in the dead-letter queue, whole, with its reason, and holds up nothing."""
    with worker(place, broker.name) as consumer:
        for body in DEAD:
            broker.produce(body)
        broker.produce(message("Demo.double", number=1, callback=f"{hooks.url}/x"))
        hooks.wait()
        found = the_dead(broker, consumer, len(DEAD))
        told = [line["reason"] for line in consumer.logs("job.dead")]
    assert set(found) == set(DEAD)
    assert all(DEAD[body] in reason for body, reason in found.items())
    assert sorted(told) == sorted(found.values())


def test_a_killed_worker(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A worker that is killed in the middle of a job loses nothing: another one does the job within `reclaim`, once."""
    with worker(place, broker.name) as first, worker(place, broker.name) as second:
        broker.produce(message("Demo.hold", place=str(place), callback=f"{hooks.url}/x"))
        wait_until(lambda: files(place, "begun"), 10, first.log)
        [victim] = files(place, "begun")
        survivor = second if victim == first.process.pid else first
        os.kill(victim, signal.SIGKILL)
        killed_at = time.monotonic()
        wait_until(lambda: len(files(place, "begun")) == 2, RECLAIM + 5, survivor.log)
        took = time.monotonic() - killed_at
        (place / "go").touch()
        assert hooks.wait()[0].json() == {"id": 7, "result": survivor.process.pid, "jsonrpc": "2.0"}
        survivor.wait_log("job.done")
        assert survivor.wait_log("job.retried")["deliveries"] == 2
        hooks.stays_at(1, RECLAIM)
    assert took <= RECLAIM + 0.5  # the poll's own time on a busy machine
    assert files(place, "ended") == [survivor.process.pid]
    assert broker.left() == 0
    assert broker.buried() == []


def test_a_long_job_stays_where_it_is(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A job that takes longer than `reclaim` is not begun anywhere else."""
    with worker(place, broker.name) as first, worker(place, broker.name):
        broker.produce(message("Demo.hold", place=str(place), callback=f"{hooks.url}/x"))
        wait_until(lambda: files(place, "begun"), 10, first.log)
        hooks.stays_at(0, RECLAIM * 1.5)
        assert len(files(place, "begun")) == 1
        (place / "go").touch()
        hooks.wait()


def test_a_poison_message(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A job that ends every worker that begins it is begun so many times, and is dead then."""
    body = message("Demo.die", place=str(place))
    with worker(place, broker.name) as first:
        broker.produce(body)
        assert first.process.wait(20) == 9
    with worker(place, broker.name, ready=False) as second:
        assert second.process.wait(20) == 9
    with worker(place, broker.name) as third:
        found = the_dead(broker, third, 1)
        broker.produce(message("Demo.double", number=1, callback=f"{hooks.url}/x"))
        hooks.wait()
    assert len(files(place, "died")) == 2
    assert list(found) == [body]
    assert "given out 2 times, and never done" in found[body]


def test_told_to_end(broker: Broker, hooks: Receiver, place: Path) -> None:
    """A-RPC-99: SIGTERM: nothing more is taken, what is in hand is ended and delivered, and the exit code is 0."""
    with worker(place, broker.name) as consumer:
        broker.produce(message("Demo.hold", place=str(place), callback=f"{hooks.url}/x"))
        wait_until(lambda: files(place, "begun"), 10, consumer.log)
        consumer.process.terminate()
        consumer.wait_log("worker.draining")
        (place / "go").touch()
        assert consumer.process.wait(20) == 0
        assert hooks.wait()[0].json()["result"] == consumer.process.pid
    assert broker.left() == 0


def test_cut_at_the_end(broker: Broker, hooks: Receiver) -> None:
    """What the grace cuts was not acknowledged: the next worker does it."""
    short = {**config(broker, hooks), "server": {"timeouts": {"grace": 0.2}}}
    with folder(config=as_yaml(short), plugins={"demo.py": PLUGIN}) as place:
        with worker(place, broker.name) as consumer:
            broker.produce(message("Demo.hold", place=str(place), callback=f"{hooks.url}/x"))
            wait_until(lambda: files(place, "begun"), 10, consumer.log)
            consumer.process.terminate()
            assert consumer.process.wait(20) == 1
        (place / "go").touch()
        with worker(place, broker.name) as consumer:
            assert hooks.wait()[0].json()["result"] == consumer.process.pid


def test_over_a_hub(hooks: Receiver, record_property: Note) -> None:
    """A-RPC-36: a request on its topic is run by a worker and answered on the other; without a token it is dead."""
    prefix = "https://example.com/rpc/"
    with hub_at("hub-token") as (hub, url, post_update):
        transport = {"name": "sse", "dsn": url, "topics_prefix": prefix, "jwt": "hub-token"}
        settings = {"security": {"clients_tokens": [TOKEN]}, "async": [{"type": "mercure", "config": transport}]}
        with (
            folder(config=as_yaml({"ufo_json_rpc": settings}), plugins={"demo.py": PLUGIN}) as place,
            worker(place, "sse") as consumer,
        ):
            wait_until(lambda: hub.subscribed, 20, consumer.log)
            post_update(f"{prefix}request", message("Demo.double", number=3))
            post_update(f"{prefix}request", message("Demo.double", None, number=3))
            wait_until(lambda: hub.of(f"{prefix}response") and hub.of(f"{prefix}dead"), 20, consumer.log)
    [answer] = hub.of(f"{prefix}response")
    for update in sorted(hub.updates, key=lambda update: (update.topic, update.data)):
        record_property("exchange", {"request": f"topic: {update.topic}\n{update.data}", "status": "", "answer": ""})
    assert json.loads(answer.data) == {"id": 7, "result": f"{CLIENT} queue 6", "jsonrpc": "2.0"}
    assert json.loads(hub.of(f"{prefix}dead")[0].data)["reason"] == "refused: no token"


def test_an_unknown_queue(redis_url: str) -> None:
    """A-RPC-99: a name that is no queue is a mistake on the command line, and the queues that there are get named."""
    settings = f"ufo_json_rpc: {{security: {{protected_api: false}}, async: {{orders: '{redis_url}'}}}}"
    with folder(config=settings) as place:
        done = cli("worker", "order", "-c", "gateway.yaml", cwd=place)
    assert done.returncode == 2
    assert "there is no queue 'order'; ufo_json_rpc.async has: orders" in done.stderr
