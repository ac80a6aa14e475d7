"""Calls over a Mercure hub (Server-Sent Events): topics `<prefix>request`, `<prefix>response` and `<prefix>dead`.

A worker subscribes to requests and publishes each answer. A hub tells every subscriber, knows no acknowledgement and no
competing workers: so that one worker runs a call, they agree in the pool that they share, by the update's id. A call
whose worker dies is not run again, unlike in the other queues. All updates are private, since they hold tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import uuid4

import msgspec

from rpcgw.adapters.queues.crew import Crew, first
from rpcgw.adapters.queues.sse import Event, Events
from rpcgw.kernel.ports import Delivery, Handle, HttpClient, Observer, Pool, SendError, StoreError

CLAIM: Final = 3600.0
"""Seconds for which a hub may send an update again."""
PAUSE: Final = 1.0
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


class MercureQueue:
    """`rpcgw.kernel.ports.JobQueue` over a hub.

    Args:
        dsn: The hub's URL; a password in it stands for `jwt`.
        prefix: What stands before the topics.
        jwt: The token that the hub wants to see, for publishing and subscribing.
        client: Speaks HTTP; closed with the queue.
        pool: Where workers agree who runs what.
        observer: Told when the hub is away.
    """

    def __init__(
        self, dsn: str, prefix: str, jwt: str | None, *, client: HttpClient, pool: Pool, observer: Observer
    ) -> None:
        parts = urlsplit(dsn)
        self._hub = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
        token = jwt or parts.password
        self._prefix = prefix
        self._authorization: Mapping[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = client
        self._pool = pool
        self._observer = observer

    async def put(self, body: bytes) -> None:
        """Publish a request."""
        await self._publish("request", body)

    async def ping(self) -> None:
        """A hub has nothing to ask without a subscription."""

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def consume(self, handle: Handle, concurrency: int, stopping: asyncio.Event) -> None:
        """Give out requests until told to stop; see `JobQueue`, and what a hub cannot do."""
        events = Events()
        async with Crew(concurrency) as crew:
            while not stopping.is_set():
                try:
                    await self._until_stopped(self._read(handle, crew, events, stopping), stopping)
                except (SendError, ValueError) as error:
                    self._observer.event("queue.error", queue=self._prefix, reason=str(error))
                    await first(stopping, within=events.retry or PAUSE)

    async def _until_stopped(self, reading: Coroutine[Any, Any, None], stopping: asyncio.Event) -> None:
        tasks = [asyncio.ensure_future(each) for each in (reading, stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, handle: Handle, crew: Crew, events: Events, stopping: asyncio.Event) -> None:
        """One subscription's life; a later one begins where it ended."""
        events.restart()
        separator = "&" if urlsplit(self._hub).query else "?"
        url = f"{self._hub}{separator}{urlencode({'topic': self._topic('request')})}"
        resumed = {"Last-Event-ID": events.last_id} if events.last_id else {}
        fields = {"Accept": "text/event-stream", **self._authorization, **resumed}
        async with self._client.stream(url, fields) as pieces:
            async for piece in pieces:
                for event in events.feed(piece):
                    if not await crew.until_free(stopping):
                        return
                    crew.begin(self._do(handle, event))
        raise SendError("the hub ended the stream")

    async def _do(self, handle: Handle, event: Event) -> None:
        try:
            if not await self._is_ours(event):
                return
            handled = await handle(Delivery(event.data.encode(), 1, event.id))
            if handled.dead:
                told = {"reason": handled.dead, "message": event.data}
                await self._publish("dead", msgspec.json.encode(told))
            elif handled.answer is not None:
                await self._publish("response", handled.answer)
        except StoreError as error:
            self._observer.event("queue.error", queue=self._prefix, reason=str(error), key=event.id)
        except Exception as error:  # noqa: BLE001 -- a job that cannot be handled must not keep the next one from it
            self._observer.event("job.broken", queue=self._prefix, key=event.id, error=error)

    async def _is_ours(self, event: Event) -> bool:
        """Whether this worker is the one to run it; an update without an id cannot be told from others."""
        return not event.id or await self._pool.add(f"ufo_mercure_{self._prefix}_{event.id}", b"1", CLAIM)

    async def _publish(self, topic: str, body: bytes) -> None:
        update = {"topic": self._topic(topic), "data": body.decode(), "id": f"urn:uuid:{uuid4()}", "private": "on"}
        try:
            await self._client.post(
                self._hub, urlencode(update).encode(), lambda: {**_FORM, **self._authorization}, retries=2
            )
        except SendError as error:
            raise StoreError(f"Mercure: {error}") from error

    def _topic(self, name: str) -> str:
        return f"{self._prefix}{name}"
