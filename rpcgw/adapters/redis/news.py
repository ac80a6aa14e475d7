"""What those who share a Redis tell each other at once: which keys were withdrawn. By pub/sub.

Pub/sub loses what is said while a connection is cut, and a connection may be cut long before anybody notices. So it is
proven, again and again, that nothing was missed: a beat is a message to oneself through each master. Redis hands
messages of one master on in the order in which they were said, also over the bus of a Cluster. Whoever hears a beat has
heard all that was said before the beat was sent.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from time import monotonic
from typing import Any, Final
from uuid import uuid4

from redis.asyncio import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from rpcgw.adapters.redis.clients import Client
from rpcgw.adapters.redis.server import RedisServer
from rpcgw.kernel.ports import StoreError

WITHDRAWN: Final = "rpcgw:withdrawn"
"""The channel; a message is a key."""
BEAT: Final = 0.3
"""Seconds between two beats."""
GOOD: Final = 0.9
"""Seconds since a beat was sent after which it no longer proves anything."""
PAUSE: Final = 0.2
"""Seconds after a cut until the next try."""
_SILENCE: Final = 2.0
_log = logging.getLogger("rpcgw.redis")


class RedisNews:
    """`rpcgw.kernel.ports.News` of one Redis, Sentinels' master or Cluster."""

    def __init__(self, server: RedisServer) -> None:
        self.good_until = 0.0
        self.heard = 0
        self._server = server
        self._own = f"rpcgw:beat:{uuid4().hex}"
        self._dropped: Callable[[str], None] = _ignore
        self._missed: Callable[[], None] = _ignore
        self._rounds = count(1)
        self._beaten: dict[int, tuple[float, set[str]]] = {}
        self._why = ""

    def follow(self, dropped: Callable[[str], None], missed: Callable[[], None]) -> None:
        """See `rpcgw.kernel.ports.News`."""
        self._dropped, self._missed = dropped, missed

    async def run(self) -> None:
        """Listen until cancelled; what is cut is begun again."""
        while True:
            try:
                await self._listen()
            except (TimeoutError, RedisError, RedisClusterException, OSError, StoreError) as error:
                self._cut(str(error) or type(error).__name__)
            finally:
                self.good_until = 0.0
            await asyncio.sleep(PAUSE)

    async def _listen(self) -> None:
        async with self._connection() as connection:
            await connection.send_command("SUBSCRIBE", WITHDRAWN, self._own)
            for _ in (WITHDRAWN, self._own):
                await self._next(connection)
            # What was said since the last connection was cut is lost.
            self.heard += 1
            self._missed()
            beating = asyncio.ensure_future(self._beats())
            try:
                while True:
                    self._hear(await self._next(connection))
            finally:
                beating.cancel()
                self._beaten.clear()

    async def _next(self, connection: Any) -> list[Any]:
        async with asyncio.timeout(_SILENCE):
            found: list[Any] = await connection.read_response()
            return found

    def _hear(self, message: list[Any]) -> None:
        kind, channel, said = message
        if kind != b"message":
            return
        if channel == WITHDRAWN.encode():
            self.heard += 1
            self._dropped(said.decode("utf-8", "surrogateescape"))
        else:
            number, _, name = said.decode().partition(" ")
            self._felt(int(number), name)

    def _felt(self, number: int, name: str) -> None:
        """A beat came back through one master; once it has through all, nothing was missed before it."""
        began, through = self._beaten.get(number, (0.0, set()))
        through.discard(name)
        if began and not through:
            self.good_until = began + GOOD
            self._beaten = {later: beat for later, beat in self._beaten.items() if later > number}
            if self._why:
                _log.warning("Redis at %s: the channel is back", self._server.name)
                self._why = ""

    async def _beats(self) -> None:
        while True:
            with suppress(StoreError):  # what does not come back proves nothing; the server's own log tells of it
                await self._beat()
            await asyncio.sleep(BEAT)

    async def _beat(self) -> None:
        number, began = next(self._rounds), monotonic()
        nodes = await self._server.ask(masters)
        names = [getattr(node, "name", "") for node in nodes]
        self._beaten = {n: beat for n, beat in self._beaten.items() if beat[0] + GOOD > began}
        self._beaten[number] = (began, set(names))
        for node, name in zip(nodes, names, strict=True):
            await self._server.ask(_publish(node, self._own, f"{number} {name}"))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        """A connection that nobody else uses; of a Cluster, to one of its masters: all of them pass everything on."""
        nodes = await self._server.ask(masters)
        client: Any = self._server.client
        if nodes == [None]:
            made = client.connection_pool.make_connection()
        else:
            node = random.choice(nodes)  # noqa: S311 -- no secret
            made = node.connection_class(**node.connection_kwargs)
        try:
            async with asyncio.timeout(self._server.timeout):
                await made.connect()
            made.socket_timeout = None  # silence is bounded here
            yield made
        finally:
            await made.disconnect(nowait=True)

    def _cut(self, why: str) -> None:
        """Note that nothing is heard; the beginning of it is logged."""
        if not self._why:
            _log.warning("Redis at %s: the channel is cut: %s", self._server.name, why)
        self._why = why


async def masters(redis: Client) -> list[Any]:
    """The masters of a Cluster; None stands for the only server."""
    if not isinstance(redis, RedisCluster):
        return [None]
    await redis.initialize()
    return list(redis.get_primaries())


def _publish(node: Any, channel: str, message: str) -> Callable[[Client], Any]:
    async def ask(redis: Client) -> Any:
        where = {} if node is None else {"target_nodes": node}
        return await redis.execute_command("PUBLISH", channel, message, **where)

    return ask


def _ignore(*_: object) -> None:
    """Nobody wants to know."""
