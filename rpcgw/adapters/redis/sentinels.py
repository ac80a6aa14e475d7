"""Which server is the master just now, as Sentinels know it.

redis-py's own asks one Sentinel after the other and waits for each as long as for a command: the first one frozen would
use up the time of all. Here each has its share, and the one that answered last is asked first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import RedisError

from rpcgw.config.redisaddress import Node


class Sentinels:
    """Asked for the master whenever a connection is made. `connection` makes one to a host and a port."""

    def __init__(self, nodes: tuple[Node, ...], patience: float, connection: Callable[..., Any]) -> None:
        self._nodes = list(nodes)
        self._patience = patience
        self._connection = connection

    async def discover_master(self, name: str) -> Node:
        """The master's address; what redis-py's pool asks for. Raises `MasterNotFoundError` where nobody knows."""
        said = []
        for node in list(self._nodes):
            try:
                async with asyncio.timeout(self._patience):
                    found = await self._ask(node, name)
            except (TimeoutError, RedisError, OSError) as error:
                said.append(f"{node[0]}:{node[1]}: {str(error) or 'no answer'}")
                continue
            if found is not None:
                self._nodes.remove(node)
                self._nodes.insert(0, node)
                return found
            said.append(f"{node[0]}:{node[1]}: knows no {name}")
        raise MasterNotFoundError(f"no Sentinel names the master {name!r} ({'; '.join(said)})")

    async def _ask(self, node: Node, name: str) -> Node | None:
        host, port = node
        connection = self._connection(host=host, port=port)
        try:
            await connection.connect()
            await connection.send_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
            found = await connection.read_response()
        finally:
            await connection.disconnect(nowait=True)
        return None if found is None else (found[0].decode(), int(found[1]))
