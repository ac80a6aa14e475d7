"""What Redis and RabbitMQ both promise as queues, against real ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import aio_pika
import pytest

from rpcgw.adapters.queues.amqp import AmqpQueue
from rpcgw.adapters.queues.redis import RedisQueue
from rpcgw.adapters.redis.clients import client_for
from rpcgw.config.redisaddress import redis_address
from rpcgw.kernel.ports import JobQueue, StoreError
from tests.unit.adapters.queues.conftest import RECLAIM, Bench, Observer, killed

pytestmark = pytest.mark.timeout(60)


@dataclass(frozen=True, slots=True)
class Broker:
    """One kind of queue: makes workers' ends of the same queue, and looks into it from outside."""

    open: Callable[[], JobQueue]
    produce: Callable[[bytes], Awaitable[None]]
    left: Callable[[], Awaitable[int]]
    buried: Callable[[], Awaitable[tuple[bytes, str, str]]]


@asynccontextmanager
async def in_redis(url: str, name: str, observer: Observer) -> AsyncIterator[Broker]:
    address = redis_address(url)
    redis = client_for(address, 30.0, 8)
    dead = f"{{{name}}}.dead" if address.kind == "cluster" else f"{name}.dead"

    async def produce(body: bytes) -> None:
        await redis.xadd(name, {"message": body})

    async def left() -> int:
        return int(await redis.xlen(name))

    async def buried() -> tuple[bytes, str, str]:
        while not (found := await redis.xrange(dead)):
            await asyncio.sleep(0.01)
        fields = cast("dict[bytes, bytes]", found[0][1])
        return fields[b"message"], fields[b"reason"].decode(), fields[b"deliveries"].decode()

    yield Broker(lambda: RedisQueue(url, name, observer, reclaim=RECLAIM), produce, left, buried)
    for stream in (name, dead):
        await redis.delete(stream)
    await redis.aclose()


@asynccontextmanager
async def in_rabbit(url: str, name: str, observer: Observer) -> AsyncIterator[Broker]:
    connection = await aio_pika.connect(url)
    channel = await connection.channel()

    async def produce(body: bytes) -> None:
        # A foreign producer knows the queue's name and nothing else.
        await channel.default_exchange.publish(aio_pika.Message(body), routing_key=name)

    async def left() -> int:
        other = await connection.channel()
        queue = await other.declare_queue(name, passive=True)
        await other.close()
        return queue.declaration_result.message_count or 0

    async def buried() -> tuple[bytes, str, str]:
        queue = await channel.get_queue(f"{name}.dead")
        while (message := await queue.get(no_ack=True, fail=False)) is None:
            await asyncio.sleep(0.01)
        return message.body, str(message.headers["x-reason"]), str(message.headers["x-deliveries"])

    # The broker answers a second declaration before the queue of the first one is up: there is to be one here.
    first = AmqpQueue(url, name, observer, reclaim=RECLAIM)
    await first.put(b"up")
    await (await channel.get_queue(name)).purge()
    await first.close()
    yield Broker(lambda: AmqpQueue(url, name, observer, reclaim=RECLAIM), produce, left, buried)
    await channel.queue_delete(name)
    await channel.queue_delete(f"{name}.dead")
    await connection.close()


KINDS = {
    "redis": (in_redis, "redis_url"),
    "redis behind Sentinels": (in_redis, "watched"),
    "a Cluster": (in_redis, "cluster"),
    "rabbit": (in_rabbit, "rabbit_url"),
}


@pytest.fixture(params=list(KINDS))
async def broker(request: pytest.FixtureRequest, name: str, observer: Observer) -> AsyncIterator[Broker]:
    """Each kind in turn."""
    make, where = KINDS[request.param]
    found = request.getfixturevalue(where)
    async with make(found if isinstance(found, str) else found.url, name, observer) as made:
        yield made


@pytest.fixture
async def opened(broker: Broker) -> AsyncIterator[Callable[[], JobQueue]]:
    """Workers' ends of the queue, closed with the test."""
    queues: list[JobQueue] = []

    def make() -> JobQueue:
        queues.append(broker.open())
        return queues[-1]

    yield make
    for queue in queues:
        await queue.close()


Opened = Callable[[], JobQueue]


async def until_empty(broker: Broker) -> None:
    async with asyncio.timeout(10):
        while await broker.left():
            await asyncio.sleep(0.01)


async def test_put_and_done(broker: Broker, opened: Opened, bench: Bench) -> None:
    """What was put before anybody consumed is given out, once, and is gone when it is done."""
    queue = opened()
    await queue.put(b"first")
    async with bench.at(opened()):
        await queue.put(b"second")
        bodies = [(await bench.ended.get()).body for _ in range(2)]
        await until_empty(broker)
    assert bodies == [b"first", b"second"]
    assert bench.came.qsize() == 2


async def test_a_foreign_producer(broker: Broker, opened: Opened, bench: Bench) -> None:
    """Whoever knows the queue's name can put messages there."""
    async with bench.at(opened()):
        await opened().put(b"ours")
        assert (await bench.ended.get()).body == b"ours"
        await broker.produce(b"theirs")
        delivery = await bench.ended.get()
    assert (delivery.body, delivery.count) == (b"theirs", 1)


async def test_not_acknowledged_before_it_is_done(broker: Broker, opened: Opened, bench: Bench) -> None:
    """A job whose worker vanishes in the middle is given out again to another one, and counted."""
    queue = opened()
    lost = opened()
    async with killed(lost, bench.handle):
        await queue.put(b"wait")
        assert (await bench.came.get()).count == 1
    await lost.close()
    bench.opened.set()
    async with asyncio.timeout(RECLAIM + 5), bench.at(opened()):
        delivery = await bench.ended.get()
        await until_empty(broker)
    assert (delivery.body, delivery.count) == (b"wait", 2)


async def test_a_long_job_is_not_given_out_twice(broker: Broker, opened: Opened, bench: Bench) -> None:
    """A job that takes much longer than `reclaim` stays with its worker, while others look for work."""
    other = Bench()
    async with bench.at(opened(), concurrency=1):
        await opened().put(b"wait")
        await bench.came.get()
        async with other.at(opened()):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(RECLAIM * 3):
                    await other.came.get()
            bench.opened.set()
            await bench.ended.get()
            await until_empty(broker)
    assert other.came.qsize() == 0


async def test_dead(broker: Broker, opened: Opened, bench: Bench) -> None:
    """A dead message is kept aside, whole, with its reason, and holds up nobody."""
    async with bench.at(opened()):
        await opened().put(b"dead")
        await bench.ended.get()
        assert await broker.buried() == (b"dead", "because", "1")
        await until_empty(broker)


async def test_a_handler_that_raises(broker: Broker, opened: Opened, bench: Bench, observer: Observer) -> None:
    """What could not be handled is given out again, and the next one is not kept from it."""
    async with bench.at(opened()):
        await opened().put(b"raise")
        assert (await bench.came.get()).count == 1
        assert (await bench.came.get()).count == 2
        await opened().put(b"fine")
        assert (await bench.ended.get()).body == b"fine"
    assert "job.broken" in [name for name, _ in observer.events]


async def test_concurrency(broker: Broker, opened: Opened, bench: Bench) -> None:
    """So many at a time; the others stay in the queue for whoever has hands free."""
    other = Bench()
    producer = opened()
    async with bench.at(opened(), concurrency=1):
        for _ in range(2):
            await producer.put(b"wait")
        await bench.came.get()
        async with other.at(opened(), concurrency=2):
            await other.came.get()
            assert bench.came.qsize() == other.came.qsize() == 0


async def test_drain(broker: Broker, opened: Opened, bench: Bench) -> None:
    """Told to stop, a worker takes nothing more and ends what it has in hand."""
    producer = opened()
    async with bench.at(opened(), concurrency=2) as stopping:
        await producer.put(b"wait")
        await bench.came.get()
        stopping.set()
        bench.opened.set()
        assert (await bench.ended.get()).body == b"wait"
    await producer.put(b"later")
    assert await broker.left() == 1
    async with bench.at(opened()):
        assert (await bench.ended.get()).body == b"later"


@pytest.fixture
def nowhere(unused_tcp_port: int) -> str:
    return f"127.0.0.1:{unused_tcp_port}"


@pytest.mark.parametrize("kind", ["redis", "amqp"])
async def test_away(kind: str, nowhere: str, name: str, observer: Observer, bench: Bench) -> None:
    """A broker that is away is an error for producers, and a worker tries until it is told to stop."""
    queue: JobQueue = (
        RedisQueue(f"redis://{nowhere}/0", name, observer)
        if kind == "redis"
        else AmqpQueue(f"amqp://{nowhere}/", name, observer)
    )
    with pytest.raises(StoreError):
        await queue.put(b"x")
    with pytest.raises(StoreError):
        await queue.ping()
    async with bench.at(queue):
        async with asyncio.timeout(5):
            while not observer.events:
                await asyncio.sleep(0.01)
    assert observer.events[0][0] == "queue.error"
    await queue.close()


async def test_ping(broker: Broker, opened: Opened) -> None:
    """A broker that is there answers."""
    await opened().ping()
