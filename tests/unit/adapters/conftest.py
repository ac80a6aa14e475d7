"""Every kind of Redis, for what stores, queues and limiters promise over each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.redisservers import Cluster, RedisProcess, Watched, redis_cluster, redis_process, watched_redis


@pytest.fixture(scope="session")
def tls_redis() -> Iterator[RedisProcess]:
    """A server that is spoken to over TLS only."""
    with redis_process(tls=True) as server:
        yield server


@pytest.fixture(scope="session")
def watched() -> Iterator[Watched]:
    """Servers behind Sentinels."""
    with watched_redis() as servers:
        yield servers


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A Cluster of three nodes."""
    with redis_cluster() as nodes:
        yield nodes
