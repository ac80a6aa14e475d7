"""Queues behind `rpcgw.kernel.ports.JobQueue`. `open_queue` makes one of what `ufo_json_rpc.async` names.

taskiq was to carry them and cannot keep the promise. Its broker for Redis Streams looks for what a dead worker held
only after a new message has come, never counts deliveries, and never renews the claim of a job that takes long, so that
it runs twice at once; its receiver acknowledges a message that it cannot read, and one whose task was cancelled. What
is here instead is small: Redis Streams and RabbitMQ do the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rpcgw.api.records import record
from rpcgw.config.settings import Transport
from rpcgw.kernel.ports import HttpClient, JobQueue, Observer, Pool

__all__ = ["Surroundings", "open_queue"]


@record(frozen=True, slots=True)
class Surroundings:
    """What queues are opened with: `reclaim` is in seconds, `connect` makes a client for a hub."""

    reclaim: float
    observer: Observer
    pool: Pool
    connect: Callable[[], HttpClient]


def _redis(transport: Transport, around: Surroundings) -> JobQueue:
    from rpcgw.adapters.queues.redis import RedisQueue  # noqa: PLC0415 -- a queue is imported where one is configured

    return RedisQueue(transport.dsn, transport.name, around.observer, reclaim=around.reclaim)


def _amqp(transport: Transport, around: Surroundings) -> JobQueue:
    from rpcgw.adapters.queues.amqp import AmqpQueue  # noqa: PLC0415 -- as above

    return AmqpQueue(transport.dsn, transport.name, around.observer, reclaim=around.reclaim)


def _mercure(transport: Transport, around: Surroundings) -> JobQueue:
    from rpcgw.adapters.queues.mercure import MercureQueue  # noqa: PLC0415 -- as above

    return MercureQueue(
        transport.dsn,
        transport.topics_prefix,
        transport.jwt,
        client=around.connect(),
        pool=around.pool,
        observer=around.observer,
    )


_KINDS: Mapping[str, Callable[[Transport, Surroundings], JobQueue]] = {
    "redis": _redis,
    "amqp": _amqp,
    "mercure": _mercure,
}


def open_queue(transport: Transport, around: Surroundings) -> JobQueue:
    """The queue that a transport names; it connects when it is first used."""
    return _KINDS[transport.type](transport, around)
