"""A compiled gateway in operation, on an event loop that only runs while somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, TypeVar

from rpcgw.adapters.stores import open_pool
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.observer import Telemetry
from rpcgw.adapters.telemetry.slotfile import SlotFile
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.config.settings import PoolSettings
from rpcgw.daemon.runtime import Runtime, open_runtime
from rpcgw.daemon.wiring import Equipment, entrances
from rpcgw.endpoints.sessions import LocalRevocations
from rpcgw.exchange import Entrance, Inbound, Reply, settled
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.ports import Pool
from rpcgw.testing.answers import Received
from rpcgw.testing.clock import MovableClock, MovedLoop
from rpcgw.testing.records import Lines, Recorder

_T = TypeVar("_T")


class Running:
    """What a test's gateway runs with."""

    def __init__(
        self, runner: asyncio.Runner, runtime: Runtime, clock: MovableClock, recorder: Recorder, lines: Lines
    ) -> None:
        self.runtime = runtime
        self.clock = clock
        self.recorder = recorder
        self.lines = lines
        self._runner = runner
        self._doors = {entrance.pattern: entrance for entrance in entrances(runtime, LocalRevocations(), Equipment())}

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """A coroutine's result, on the gateway's loop."""
        return run_on(self._runner, work)

    def ask(self, pattern: str, inbound: Inbound) -> Received:
        """What a door would write, and all that follows an answer."""
        entrance = self._doors.get(pattern) or self._doors[f"{pattern.rpartition('/')[0]}/{{ver}}"]
        return self.run(_answer(entrance, inbound))


def run_on(runner: asyncio.Runner, work: Coroutine[Any, Any, _T]) -> _T:
    """A coroutine's result.

    Raises:
        RuntimeError: A loop is running already.
    """
    try:
        _must_be_outside_of_loops()
    except RuntimeError:
        work.close()
        raise
    return runner.run(work)


def _must_be_outside_of_loops() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("the gateway under test has an event loop of its own: write the test as a plain function")


@contextmanager
def running(gateway: Gateway) -> Iterator[Running]:
    """Open a gateway, with everything that it says kept in memory.

    Raises:
        RuntimeError: A loop is running already.
    """
    _must_be_outside_of_loops()
    clock, lines, file = MovableClock(), Lines(), SlotFile("/dev/null")
    log = Log(gateway.settings.logging, lines)
    recorder = Recorder(Telemetry(Slots(file), log, gateway.table.methods, calls=gateway.settings.logging.calls))
    with closing(file), log.beside(), asyncio.Runner(loop_factory=partial(MovedLoop, clock)) as runner:
        life = _Life(gateway, recorder, clock)
        runtime = run_on(runner, life.begin())
        try:
            yield Running(runner, runtime, clock, recorder, lines)
        finally:
            run_on(runner, life.end())


class _Life:
    """One task that enters the plugin's lifespan and leaves it: some of them insist on that."""

    def __init__(self, gateway: Gateway, recorder: Recorder, clock: MovableClock) -> None:
        self._gateway = gateway
        self._recorder = recorder
        self._clock = clock
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> Runtime:
        opened: asyncio.Future[Runtime] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(opened))
        self._task.add_done_callback(lambda _: opened.cancel())
        try:
            return await opened
        except asyncio.CancelledError:
            await self._task  # raises what kept it from opening
            raise

    async def end(self) -> None:
        assert self._task is not None, "it has begun"
        self._over.set()
        await self._task

    async def _live(self, opened: asyncio.Future[Runtime]) -> None:
        opener = partial(_open_pool, self._clock)
        async with open_runtime(self._gateway, self._recorder, clock=self._clock, opener=opener) as runtime:
            opened.set_result(runtime)
            await self._over.wait()


def _open_pool(clock: MovableClock, settings: PoolSettings, directory: str) -> Pool:
    return MemoryPool(now=clock.monotonic) if settings.url.startswith("memory:") else open_pool(settings, directory)


async def _answer(entrance: Entrance, inbound: Inbound) -> Received:
    head = inbound.head
    principal = await settled(entrance.admit(head))
    if isinstance(principal, Reply):
        return await _received(principal)
    if len(inbound.body) > entrance.max_body_bytes:
        return await _received(entrance.too_large(head))
    begun: list[asyncio.Task[Received]] = []

    def begin(reply: Reply) -> None:
        begun.append(asyncio.create_task(_received(reply)))

    reply = await entrance.answer(principal, Inbound(head, inbound.body, begin=begin))
    received = await begun[0] if begun else await _received(reply)
    if reply.after is not None:
        await reply.after()
    return received


async def _received(reply: Reply) -> Received:
    headers: Mapping[str, str] = {name.lower(): value for name, value in reply.headers}
    body = reply.body if isinstance(reply.body, bytes) else await _whole(reply.body)
    return Received(reply.status, headers, body)


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])
