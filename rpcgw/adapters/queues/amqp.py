"""A queue in RabbitMQ: a durable quorum queue of the queue's name, fed through the default exchange.

    body {"request": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "token": "..."}, routing key: the queue's name

The broker gives a message out again as soon as the connection of the worker that has it is lost: at once where the
process died, after missed heartbeats where its host did. Dead messages are published to the queue `<name>.dead` with
`x-reason` and `x-deliveries`, and acknowledged once the broker has confirmed that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from time import time
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit, urlunsplit

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, AbstractQueue
from aio_pika.exceptions import AMQPError, DeliveryError
from yarl import URL

from rpcgw.adapters.queues.crew import Crew, first
from rpcgw.kernel.ports import Delivery, Handle, Observer, StoreError

PAUSE: Final = 1.0
"""Seconds between attempts where the broker does not answer."""
_PAUSES: Final = (0.1, 0.3, 1.0)
"""Seconds before a message is sent again that the broker did not take."""
_QUORUM: Final = "quorum"

_Answer = TypeVar("_Answer")


class _NotTaken(StoreError):
    """The broker says that it has not kept a message."""


class AmqpQueue:
    """`rpcgw.kernel.ports.JobQueue` over RabbitMQ (3.10 or later).

    Args:
        dsn: `amqp://[user:password@]host[:port][/vhost[/queue]]`; a queue in it stands instead of `name`.
        name: The queue.
        observer: Told when the broker is away.
        reclaim: Seconds within which a lost worker's messages are given out again.
        timeout: Seconds for a command.
    """

    def __init__(self, dsn: str, name: str, observer: Observer, *, reclaim: float = 30.0, timeout: float = 5.0) -> None:
        address, own = split(dsn)
        self._name = own or name
        self._dead = f"{self._name}.dead"
        self._observer = observer
        self._timeout = timeout
        # RabbitMQ takes a peer for lost after two beats without a sign.
        self._url = URL(address).update_query(heartbeat=max(1, int(reclaim / 3)))
        self._connection: AbstractConnection | None = None
        self._sending: AbstractChannel | None = None
        self._opening = asyncio.Lock()

    async def put(self, body: bytes) -> None:
        """Publish a message; the broker has confirmed that it is in the queue."""
        await self._publish(self._name, body, {})

    async def ping(self) -> None:
        """Raise `StoreError` where the broker does not answer."""
        await self._channel()

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection, self._sending = self._connection, None, None
        if connection is not None:
            await self._ask(connection.close())

    async def consume(self, handle: Handle, concurrency: int, stopping: asyncio.Event) -> None:
        """Give out messages until told to stop; see `JobQueue`."""
        # It outlives channels: what is in hand while the broker is away goes on, beside what comes after that.
        async with Crew(concurrency) as crew:
            while not stopping.is_set():
                try:
                    await self._consume(handle, crew, concurrency, stopping)
                except StoreError as error:
                    self._observer.event("queue.error", queue=self._name, reason=str(error))
                    await first(stopping, within=PAUSE)

    async def _consume(self, handle: Handle, crew: Crew, concurrency: int, stopping: asyncio.Event) -> None:
        """One channel's life: until the end, or until the channel is lost."""
        connection = await self._connected()
        channel = await self._ask(connection.channel())
        lost = asyncio.Event()
        channel.close_callbacks.add(lambda *_: lost.set())

        async def begin(message: AbstractIncomingMessage) -> None:
            if await crew.until_free(stopping):
                crew.begin(self._do(handle, message))

        try:
            # The broker gives out no more than this before something is acknowledged: each is begun as it comes.
            await self._ask(channel.set_qos(prefetch_count=concurrency))
            queue = await self._declared(channel)
            tag = await self._ask(queue.consume(begin))
            await first(stopping, lost)
            if not lost.is_set():
                await self._ask(queue.cancel(tag))
                await crew.finish()
            elif not stopping.is_set():
                raise StoreError("RabbitMQ: the channel was lost")
        finally:
            if not channel.is_closed:
                await self._ask(channel.close())

    async def _do(self, handle: Handle, message: AbstractIncomingMessage) -> None:
        key = str(message.message_id or message.delivery_tag)
        count = deliveries(message)
        try:
            handled = await handle(Delivery(message.body, count, key))
            if handled.dead:
                told = {"x-reason": handled.dead, "x-deliveries": count, "x-queue": self._name, "x-at": f"{time():.3f}"}
                await self._publish(self._dead, message.body, told)
            await self._ask(message.ack())
        except StoreError as error:
            # Done, and the broker does not know: it will be given out again.
            self._observer.event("queue.error", queue=self._name, reason=str(error), key=key)
        except Exception as error:  # noqa: BLE001 -- a job that cannot be handled goes back; the next one must not
            self._observer.event("job.broken", queue=self._name, key=key, error=error)
            await self._back(message)

    async def _back(self, message: AbstractIncomingMessage) -> None:
        try:
            await self._ask(message.nack(requeue=True))
        except StoreError as error:
            self._observer.event("queue.error", queue=self._name, reason=str(error))

    async def _publish(self, queue: str, body: bytes, told: dict[str, Any]) -> None:
        message = aio_pika.Message(
            body, headers=told, content_type="application/json", delivery_mode=aio_pika.DeliveryMode.PERSISTENT
        )
        for pause in (*_PAUSES, None):
            channel = await self._channel()
            try:
                await self._ask(channel.default_exchange.publish(message, routing_key=queue, mandatory=True))
            except _NotTaken:
                # A new queue has no leader for a moment; what was not taken may be sent again.
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return

    async def _channel(self) -> AbstractChannel:
        """The channel for publishing, with confirms; both queues exist once it is there."""
        async with self._opening:
            if self._sending is None or self._sending.is_closed:
                connection = await self._open()
                self._sending = await self._ask(connection.channel(publisher_confirms=True, on_return_raises=True))
                await self._declared(self._sending)
            return self._sending

    async def _connected(self) -> AbstractConnection:
        async with self._opening:
            return await self._open()

    async def _open(self) -> AbstractConnection:
        if self._connection is None or self._connection.is_closed:
            # No robust one: it would declare and consume again beside what is done here.
            self._connection = await self._ask(aio_pika.connect(self._url))
        return self._connection

    async def _declared(self, channel: AbstractChannel) -> AbstractQueue:
        """Both queues; a limit of the broker's own ends with the dead ones too, rather than nowhere."""
        kind: dict[str, Any] = {"x-queue-type": _QUORUM}
        await self._ask(channel.declare_queue(self._dead, durable=True, arguments=kind))
        limits = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self._dead}
        return await self._ask(channel.declare_queue(self._name, durable=True, arguments={**kind, **limits}))

    async def _ask(self, command: Awaitable[_Answer]) -> _Answer:
        try:
            async with asyncio.timeout(self._timeout):
                return await command
        except TimeoutError as error:
            raise StoreError(f"RabbitMQ: no answer within {self._timeout:g} s") from error
        except DeliveryError as error:
            raise _NotTaken("RabbitMQ: the message was not taken") from error
        except (AMQPError, OSError, RuntimeError) as error:
            raise StoreError(f"RabbitMQ: {str(error) or type(error).__name__}") from error


def split(dsn: str) -> tuple[str, str]:
    """A DSN without the queue that its path may name after the vhost, and that queue ("" where there is none)."""
    parts = urlsplit(dsn)
    vhost, _, queue = parts.path.removeprefix("/").partition("/")
    return urlunsplit(parts._replace(path=f"/{vhost}" if vhost else "/")), queue


def deliveries(message: AbstractIncomingMessage) -> int:
    """How often a message was given out, this time included; a quorum queue counts, a classic one says "again"."""
    counted = (message.headers or {}).get("x-delivery-count")
    if isinstance(counted, int):
        return counted + 1
    return 2 if message.redelivered else 1
