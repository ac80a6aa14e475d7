"""A small Mercure hub: topics over Server-Sent Events, tokens, private updates, and a history for `Last-Event-ID`."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Update:
    """One update as it was published."""

    topic: str
    data: str
    id: str
    private: bool


class Hub:
    """`jwt` is the one token that it takes; `path` is where it answers."""

    path = "/.well-known/mercure"

    def __init__(self, jwt: str) -> None:
        self._jwt = jwt
        self.updates: list[Update] = []
        self.subscribed: list[str | None] = []
        self._news = asyncio.Condition()
        self._streams: set[web.StreamResponse] = set()

    def app(self) -> web.Application:
        """The hub as an application."""
        app = web.Application()
        app.router.add_get(self.path, self._subscribe)
        app.router.add_post(self.path, self._publish)
        return app

    async def until(self, topic: str, count: int = 1) -> list[Update]:
        """Wait until so many updates of a topic were published."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.of(topic)) >= count)
        return self.of(topic)

    async def until_subscribed(self, count: int = 1) -> None:
        """Wait until so many subscriptions were made, ever."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.subscribed) >= count)

    def of(self, topic: str) -> list[Update]:
        """The updates of a topic so far."""
        return [update for update in self.updates if update.topic == topic]

    async def publish(self, update: Update) -> None:
        """Add an update, and tell who listens."""
        async with self._news:
            self.updates.append(update)
            self._news.notify_all()

    def drop(self) -> None:
        """Break every stream."""
        for stream in self._streams:
            transport = stream._req.transport if stream._req is not None else None
            if transport is not None:
                transport.abort()

    def _known(self, request: web.Request) -> bool:
        return request.headers.get("Authorization") == f"Bearer {self._jwt}"

    async def _publish(self, request: web.Request) -> web.Response:
        if not self._known(request):
            return web.Response(status=401)
        form = await request.post()
        topic, data, number = (str(form.get(name, "")) for name in ("topic", "data", "id"))
        await self.publish(Update(topic, data, number, form.get("private") == "on"))
        return web.Response(text=number)

    async def _subscribe(self, request: web.Request) -> web.StreamResponse:
        topics, last = request.query.getall("topic", []), request.headers.get("Last-Event-ID")
        ids = [update.id for update in self.updates]
        at = ids.index(last) + 1 if last in ids else len(self.updates)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self._streams.add(response)
        await response.write(b":\n\n")
        async with self._news:
            self.subscribed.append(last)
            self._news.notify_all()
        try:
            while True:
                async with self._news:
                    while len(self.updates) <= at:
                        await self._news.wait()
                    fresh, at = self.updates[at:], len(self.updates)
                for update in fresh:
                    if update.topic in topics and (self._known(request) or not update.private):
                        lines = "".join(f"data: {line}\n" for line in update.data.split("\n"))
                        await response.write(f"id: {update.id}\n{lines}\n".encode())
        finally:
            self._streams.discard(response)


@contextlib.contextmanager
def hub_at(jwt: str) -> Iterator[tuple[Hub, str, Callable[[str, str], None]]]:
    """Serve a hub from a thread: the hub, its URL, and a function that publishes data on a topic."""
    hub, started = Hub(jwt), threading.Event()
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(hub.app(), shutdown_timeout=0.1)
    urls: list[str] = []

    async def start() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        urls.append(f"http://127.0.0.1:{runner.addresses[0][1]}{hub.path}")
        started.set()

    async def stop() -> None:
        hub.drop()
        await runner.cleanup()

    def publish(topic: str, data: str) -> None:
        update = Update(topic, data, f"urn:{secrets.token_hex(8)}", private=True)
        asyncio.run_coroutine_threadsafe(hub.publish(update), loop).result(10)

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(stop())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10), "the hub did not start"
    try:
        yield hub, urls[0], publish
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
