"""Real brokers, queues with names of their own, and a worker that a test can look into."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from rpcgw.kernel.call import Call, Outcome
from rpcgw.kernel.ports import Delivery, Handled, JobQueue
from tests.support.rabbit import rabbit

RECLAIM = 0.6


class Observer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def call_started(self, call: Call) -> None: ...
    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...
    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))


@dataclass
class Bench:
    """A worker's hands: what came, in order; `opened` lets those that wait go on.

    A body `wait` waits for it, `dead` is dead, `raise` raises, anything else is done at once.
    """

    came: asyncio.Queue[Delivery] = field(default_factory=asyncio.Queue)
    ended: asyncio.Queue[Delivery] = field(default_factory=asyncio.Queue)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, delivery: Delivery) -> Handled:
        await self.came.put(delivery)
        if delivery.body == b"wait":
            await self.opened.wait()
        if delivery.body == b"raise":
            raise RuntimeError("no")
        await self.ended.put(delivery)
        return Handled(answer=delivery.body, dead="because" if delivery.body == b"dead" else "")

    @asynccontextmanager
    async def at(self, queue: JobQueue, concurrency: int = 2) -> AsyncIterator[asyncio.Event]:
        """Consume until the end of the block; the event ends it before."""
        stopping = asyncio.Event()
        task = asyncio.create_task(queue.consume(self.handle, concurrency, stopping))
        try:
            yield stopping
        finally:
            stopping.set()
            self.opened.set()
            async with asyncio.timeout(10):
                await task


@asynccontextmanager
async def killed(queue: JobQueue, handle: Callable[[Delivery], Any], concurrency: int = 2) -> AsyncIterator[None]:
    """Consume, and vanish at the end of the block as a process does that is killed: nothing is said to anybody."""
    task = asyncio.create_task(queue.consume(handle, concurrency, asyncio.Event()))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def observer() -> Observer:
    return Observer()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def name() -> str:
    """A queue's name that nobody else has."""
    return f"rpcgw-test-{secrets.token_hex(6)}"


@pytest.fixture(scope="session")
def rabbit_url() -> Iterator[str]:
    """The address of a real RabbitMQ."""
    with rabbit() as url:
        yield url
