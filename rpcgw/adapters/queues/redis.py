"""A queue in a Redis stream. The stream's key is the queue's name, each entry has one field, `message`.

    XADD rpc_async * message '{"request": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "token": "..."}'

All workers are one consumer group, `rpcgw`. An entry belongs to the worker that took it until it is acknowledged, and
is removed then. A worker renews its claim on what it has in hand; entries whose claim lapsed are taken over by whoever
sees that first. Dead ones are moved, in one transaction, to the stream `<name>.dead`, with `reason` and `deliveries`.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from time import time
from typing import Any, Final, cast
from uuid import uuid4

from rpcgw.adapters.queues.crew import Crew, first
from rpcgw.adapters.redis.clients import Client
from rpcgw.adapters.redis.server import RedisServer
from rpcgw.kernel.ports import Delivery, Handle, Observer, StoreError

GROUP: Final = "rpcgw"
FIELD: Final = b"message"
PAUSE: Final = 0.5
"""Seconds between attempts where Redis does not answer."""
CONNECTIONS: Final = 32
"""How many a process holds at most."""
WAIT: Final = 1.0
"""Seconds that new entries are waited for, before lapsed ones are looked for again, or the end is seen."""

# Renews only what still is this consumer's: another one may have taken it over while this process stood still.
_RENEW: Final = """
local kept = {}
for i = 3, #ARGV do
  if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2]) == 1 then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'JUSTID')
    kept[#kept + 1] = ARGV[i]
  end
end
return kept
"""
# A consumer that is removed takes its pending entries along, so that it must have none.
_LEAVE: Final = """
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
  return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return 0
"""

_Entry = tuple[bytes, Mapping[bytes, bytes] | None]


class RedisQueue:
    """`rpcgw.kernel.ports.JobQueue` over one Redis server (6.2 or later).

    Args:
        dsn: `redis://[user:password@]host[:port][/database]`.
        name: The stream's key.
        observer: Told when Redis is away.
        reclaim: Seconds within which a lost worker's entries are given out again.
        timeout: Seconds for a command.
    """

    def __init__(self, dsn: str, name: str, observer: Observer, *, reclaim: float = 30.0, timeout: float = 5.0) -> None:
        # RESP 2: its answers have one form in every version of Redis.
        self._server = RedisServer(dsn, timeout, CONNECTIONS)
        self._name = name
        # In a Cluster both streams have to be on one node.
        self._dead = f"{{{name}}}.dead" if self._server.is_cluster else f"{name}.dead"
        self._observer = observer
        self._timeout = timeout
        # A lapsed claim is seen within one beat more, and the last beat may be one old: 4 and 1 and less than 1 are 6.
        self._beat = reclaim / 6
        self._lapse = int(reclaim * 4 / 6 * 1000)
        self._consumer = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        self._held: set[bytes] = set()

    async def put(self, body: bytes) -> None:
        """Add a message to the stream."""
        await self._ask(lambda redis: redis.xadd(self._name, {FIELD: body}))

    async def ping(self) -> None:
        """Raise `StoreError` where Redis does not answer."""
        await self._ask(lambda redis: redis.ping())

    async def close(self) -> None:
        """Close every connection."""
        await self._server.close()

    async def consume(self, handle: Handle, concurrency: int, stopping: asyncio.Event) -> None:
        """Give out entries until told to stop; see `JobQueue`."""
        async with self._beating(stopping), Crew(concurrency) as crew:
            while await crew.until_free(stopping):
                for entry, count in await self._next(crew.free, stopping):
                    self._held.add(entry[0])
                    crew.begin(self._do(handle, entry, count, stopping))
        with suppress(StoreError):
            await self._script(_LEAVE, GROUP, self._consumer)

    @asynccontextmanager
    async def _beating(self, stopping: asyncio.Event) -> AsyncIterator[None]:
        """Claims are renewed until the last entry is done, beyond `stopping`."""
        await self._until(self._ready, stopping)
        beats = asyncio.get_running_loop().create_task(self._renew())
        try:
            yield
        finally:
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)

    async def _ready(self) -> None:
        """Make the stream and its group where they are not; whatever was added before is given out too."""
        try:
            await self._ask(lambda redis: redis.xgroup_create(self._name, GROUP, id="0", mkstream=True))
        except StoreError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def _until(self, work: Any, stopping: asyncio.Event) -> Any:
        """Try until Redis answers; None where that never was before the end."""
        while not stopping.is_set():
            try:
                return await work()
            except StoreError as error:
                self._observer.event("queue.error", queue=self._name, reason=str(error))
                await first(stopping, within=PAUSE)
        return None

    async def _next(self, wanted: int, stopping: asyncio.Event) -> list[tuple[_Entry, int]]:
        """What is to be done now: lapsed entries first; waits for new ones for a beat."""

        async def attempt() -> list[tuple[_Entry, int]]:
            try:
                return await self._lapsed(wanted) or await self._fresh(wanted)
            except StoreError as error:
                if "NOGROUP" in str(error):  # somebody emptied the database
                    await self._ready()
                raise

        return await self._until(attempt, stopping) or []

    async def _lapsed(self, wanted: int) -> list[tuple[_Entry, int]]:
        """Entries that nobody renewed; of several who ask at once, one gets each."""
        pending = await self._ask(
            lambda redis: redis.xpending_range(self._name, GROUP, "-", "+", wanted, idle=self._lapse)
        )
        taken: list[tuple[_Entry, int]] = []
        for each in cast("list[dict[str, Any]]", pending):
            number = each["message_id"]
            if number not in self._held:
                taken += [(entry, each["times_delivered"] + 1) for entry in await self._claim(number) if entry[0]]
        return taken

    async def _claim(self, number: bytes) -> list[_Entry]:
        claimed = await self._ask(lambda redis: redis.xclaim(self._name, GROUP, self._consumer, self._lapse, [number]))
        return cast("list[_Entry]", claimed)

    async def _fresh(self, wanted: int) -> list[tuple[_Entry, int]]:
        """Entries that nobody had yet."""
        wait = min(self._beat, WAIT)
        block = max(1, int(wait * 1000))
        read = await self._server.ask(
            lambda redis: redis.xreadgroup(GROUP, self._consumer, {self._name: ">"}, count=wanted, block=block),
            wait + self._timeout,
        )
        found = cast("list[tuple[bytes, list[_Entry]]] | None", read)
        return [(entry, 1) for _, entries in found or () for entry in entries]

    async def _do(self, handle: Handle, entry: _Entry, count: int, stopping: asyncio.Event) -> None:
        number, fields = entry
        try:
            body = (fields or {}).get(FIELD)
            if body is None:
                dead = "the entry has no field named message"
                self._observer.event("job.dead", queue=self._name, outcome="dead", key=number.decode(), reason=dead)
            else:
                dead = (await handle(Delivery(body, count, number.decode()))).dead
            # Redis away meanwhile does not make a job run twice: it is acknowledged as soon as Redis is back.
            settled = await self._until(lambda: self._settle(number, body or b"", dead, count), stopping)
            if settled is None:
                await self._settle(number, body or b"", dead, count)
        except StoreError as error:
            # Done, and Redis does not know: it will be given out again.
            self._observer.event("queue.error", queue=self._name, reason=str(error), key=number.decode())
        except Exception as error:  # noqa: BLE001 -- a job that cannot be handled stays in the queue; the next one must not
            self._observer.event("job.broken", queue=self._name, key=number.decode(), error=error)
        finally:
            self._held.discard(number)

    async def _settle(self, number: bytes, body: bytes, dead: str, count: int) -> bool:
        """Acknowledge; a dead entry is moved in the same transaction."""

        async def settle(redis: Client) -> None:
            async with redis.pipeline(transaction=True) as pipe:
                if dead:
                    at = f"{time():.3f}"
                    told = {FIELD: body, "reason": dead, "deliveries": count, "queue": self._name, "at": at}
                    pipe.xadd(self._dead, cast("Any", told))
                pipe.xack(self._name, GROUP, number)
                pipe.xdel(self._name, number)
                await pipe.execute()

        await self._ask(settle)
        return True

    async def _renew(self) -> None:
        """Renew the claims on what is in hand, once a beat."""
        while True:
            await asyncio.sleep(self._beat)
            held = list(self._held)
            if not held:
                continue
            try:
                kept = await self._script(_RENEW, GROUP, self._consumer, *held)
            except StoreError as error:
                self._observer.event("queue.error", queue=self._name, reason=str(error))
                continue
            for lost in (set(held) - set(kept)) & self._held:
                self._observer.event(
                    "job.lost", queue=self._name, key=lost.decode(), reason="claimed by another worker"
                )

    def _script(self, script: str, *arguments: Any) -> Awaitable[Any]:
        return self._ask(lambda redis: redis.eval(script, 1, self._name, *arguments))

    async def _ask(self, command: Callable[[Client], Awaitable[Any]]) -> Any:
        return await self._server.ask(command)
