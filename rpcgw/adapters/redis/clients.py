"""A client of redis-py for an address.

A command is not repeated, so that nobody waits twice and nothing is done twice. RESP 2, because a pool that speaks
RESP 3 does not notice at check-out that an idle connection was closed by a restarted server.

redis-py's own timeouts are off where one around the whole command will do: its `socket_timeout` costs two more timers a
command, and on Python 3.11 it loses a cancellation that arrives in the same turn as the bytes are sent. A Cluster has
them, because its client only looks for other nodes when it has itself given up on one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from redis.asyncio import ConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool, SentinelManagedConnection, SentinelManagedSSLConnection
from redis.backoff import NoBackoff

from rpcgw.adapters.redis.connections import cancellable, over_tls
from rpcgw.adapters.redis.sentinels import Sentinels
from rpcgw.config.redisaddress import RedisAddress

Client = Redis | RedisCluster
BASICS: Final[Mapping[str, Any]] = {
    "protocol": 2,
    "retry": Retry(NoBackoff(), 0),
    "socket_timeout": None,
    "socket_connect_timeout": None,
}
"""What holds for every connection."""


def client_for(address: RedisAddress, timeout: float, connections: int) -> Client:
    """A client that connects when it is first used.

    Args:
        address: Where to.
        timeout: Seconds that a command will be given; a node of a Cluster or a Sentinel gets a share of them.
        connections: How many connections are made to a server at most; whoever uses more at once gets an error.
    """
    if address.kind == "cluster":
        return _cluster(address, timeout, connections)
    kept = {"max_connections": connections, "db": address.database, **_credentials(address), **BASICS}
    if address.kind == "sentinel":
        return Redis.from_pool(_watched(address, timeout, kept))
    return Redis.from_pool(ConnectionPool(**_place(address), **kept))


def _watched(address: RedisAddress, timeout: float, options: dict[str, Any]) -> ConnectionPool:
    """Connections to whichever server is the master."""
    patience = timeout / (len(address.nodes) + 1)
    credentials = {"username": address.sentinel_username, "password": address.sentinel_password}
    kind: Any = over_tls(address) if address.tls else Connection
    sentinels = Sentinels(address.nodes, patience, partial(kind, **credentials, **BASICS))
    made: Any = SentinelConnectionPool
    managed = over_tls(address, SentinelManagedSSLConnection) if address.tls else SentinelManagedConnection
    pool: ConnectionPool = made(address.master, sentinels, connection_class=managed, **options)
    return pool


def _cluster(address: RedisAddress, timeout: float, connections: int) -> RedisCluster:
    # One that is frozen and one that is well can be asked within the time of a command.
    share = 0.4 * timeout
    client = RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in address.nodes],
        # What is being closed after an error counts until it is closed.
        max_connections=2 * connections,
        # Slots that have moved are noted one by one: to learn them all anew would cut what is under way.
        reinitialize_steps=0,
        # A pool goes on with the slots that are served.
        require_full_coverage=False,
        **{**BASICS, "socket_timeout": share, "socket_connect_timeout": share},
        **_credentials(address),
    )
    kind = cancellable(over_tls(address) if address.tls else Connection)
    client.connection_kwargs["connection_class"] = kind  # of the nodes that will be found
    for node in client.startup_nodes:
        node.connection_class = kind
    return client


def _place(address: RedisAddress) -> dict[str, Any]:
    if address.path:
        return {"connection_class": UnixDomainSocketConnection, "path": address.path}
    [(host, port)] = address.nodes
    return {"connection_class": over_tls(address) if address.tls else Connection, "host": host, "port": port}


def _credentials(address: RedisAddress) -> dict[str, Any]:
    return {"username": address.username, "password": address.password}
