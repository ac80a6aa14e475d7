"""Calls over a hub: who hears what, who runs it, and where the answer goes."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp.test_utils import TestServer

from rpcgw.adapters.http.client import Client
from rpcgw.adapters.queues.mercure import MercureQueue
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.kernel.ports import StoreError
from tests.support.hub import Hub, Update
from tests.unit.adapters.queues.conftest import Bench, Observer

JWT = "header.payload.signature"
PREFIX = "https://example.com/rpc/"


@pytest.fixture
def hub() -> Hub:
    return Hub(JWT)


@pytest.fixture
async def url(hub: Hub) -> AsyncIterator[str]:
    server = TestServer(hub.app())
    await server.start_server()
    yield str(server.make_url(hub.path))
    hub.drop()
    await server.close()


Opened = Callable[..., MercureQueue]


@pytest.fixture
async def opened(url: str, observer: Observer) -> AsyncIterator[Opened]:
    """Workers' ends of the same topics; they share a pool."""
    pool, queues = MemoryPool(), list[MercureQueue]()

    def make(jwt: str | None = JWT, dsn: str = url) -> MercureQueue:
        client = Client(first_pause=0.001)
        queues.append(MercureQueue(dsn, PREFIX, jwt, client=client, pool=pool, observer=observer))
        return queues[-1]

    yield make
    for queue in queues:
        await queue.close()


def request(data: str) -> Update:
    return Update(f"{PREFIX}request", data, f"urn:{secrets.token_hex(4)}", private=True)


async def test_answered(hub: Hub, opened: Opened, bench: Bench) -> None:
    """A request on its topic is answered on the other; both are private, since they hold tokens."""
    queue = opened()
    async with asyncio.timeout(10), bench.at(queue):
        await hub.until_subscribed()
        await queue.put(b'{"request":1}')
        [update] = await hub.until(f"{PREFIX}response")
    assert (update.data, update.private) == ('{"request":1}', True)
    assert [each.private for each in hub.updates] == [True, True]


async def test_one_worker_runs_it(hub: Hub, opened: Opened, bench: Bench) -> None:
    """A hub tells all who listen; of several workers one runs the call."""
    other = Bench()
    async with asyncio.timeout(10), bench.at(opened()), other.at(opened()):
        await hub.until_subscribed(2)
        for number in range(5):
            await hub.publish(request(str(number)))
        await hub.until(f"{PREFIX}response", 5)
    assert bench.came.qsize() + other.came.qsize() == 5
    assert len(hub.of(f"{PREFIX}response")) == 5


async def test_dead(hub: Hub, opened: Opened, bench: Bench) -> None:
    """A dead message is published with its reason."""
    async with asyncio.timeout(10), bench.at(opened()):
        await hub.until_subscribed()
        await hub.publish(request("dead"))
        [update] = await hub.until(f"{PREFIX}dead")
    assert json.loads(update.data) == {"reason": "because", "message": "dead"}


async def test_a_broken_stream(hub: Hub, opened: Opened, bench: Bench, observer: Observer) -> None:
    """After a broken stream the next one begins where it ended: nothing is lost, nothing runs twice."""
    async with asyncio.timeout(10), bench.at(opened()):
        await hub.until_subscribed()
        await hub.publish(request("1"))
        assert (await bench.ended.get()).body == b"1"
        hub.drop()
        await hub.publish(request("2"))
        assert (await bench.ended.get()).body == b"2"
    assert hub.subscribed == [None, hub.updates[0].id]
    assert bench.came.qsize() == 2
    assert "queue.error" in [name for name, _ in observer.events]


async def test_drain(hub: Hub, opened: Opened, bench: Bench) -> None:
    """Told to stop, a worker ends what it has in hand, and publishes its answer."""
    async with asyncio.timeout(10), bench.at(opened()) as stopping:
        await hub.until_subscribed()
        await hub.publish(request("wait"))
        await bench.came.get()
        stopping.set()
        bench.opened.set()
        await hub.until(f"{PREFIX}response")


async def test_a_token_in_the_dsn(hub: Hub, opened: Opened, bench: Bench, url: str) -> None:
    """The hub's token may stand in the URL as a password; it is never sent as one."""
    queue = opened(None, url.replace("://", f"://:{JWT}@"))
    async with asyncio.timeout(10), bench.at(queue):
        await hub.until_subscribed()
        await queue.put(b"x")
        await hub.until(f"{PREFIX}response")


async def test_a_wrong_token(opened: Opened) -> None:
    """What the hub refuses is an error for who puts it."""
    with pytest.raises(StoreError, match="answered 401"):
        await opened("wrong").put(b"x")
