"""Webhooks: may an answer go to this URL, and sending it there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from rpcgw.access.webhooks import WebhookPolicy, parse_callback
from rpcgw.api.records import record
from rpcgw.kernel.language import Phrase
from rpcgw.kernel.ports import Clock, HttpClient, Observer, Resolver, SendError, Tracer
from rpcgw.protocol.jsonrpc import delivery

RESOLVE: Final = 5.0
"""Seconds that a name may take to become addresses."""


@record(frozen=True, slots=True)
class Webhooks:
    """Sends answers to callbacks. `secret` signs them; `retries` is how often a receiver is tried again."""

    policy: WebhookPolicy
    client: HttpClient
    resolver: Resolver
    clock: Clock
    observer: Observer
    secret: str | None = None
    retries: int = 5
    tracer: Tracer | None = None

    async def refuses(self, url: str) -> str:
        """Why an answer must not go to this URL, in words for the client; empty where it may."""
        reason = self.policy.refuses(url)
        if reason:
            return reason
        target = parse_callback(url)
        assert target is not None, "the policy has read it"
        try:
            async with asyncio.timeout(RESOLVE):
                addresses = await self.resolver.resolve(target.host, target.port)
        except (OSError, TimeoutError):
            return Phrase("webhook.unresolved")
        if not addresses or not all(self.policy.admits(address, target.port) for address in addresses):
            return Phrase("webhook.resolves_private")
        return ""

    async def deliver(self, url: str, envelope: bytes, tracing: Mapping[str, str], ray_id: str) -> bool:
        """POST an answer; says whether the receiver took it. Whatever happens is logged and counted, nothing raised.

        Raises:
            CancelledError: From outside; that is logged too.
        """
        if self.tracer is None:
            return await self._deliver(url, envelope, tracing, ray_id)
        about = {"http.request.method": "POST", "server.address": urlsplit(url).hostname or ""}
        with self.tracer.span("POST", "client", about, parent={}) as span:
            taken = await self._deliver(url, envelope, {**tracing, **span.trace}, ray_id)
            if not taken:
                span.failed("undelivered")
        return taken

    async def _deliver(self, url: str, envelope: bytes, tracing: Mapping[str, str], ray_id: str) -> bool:
        told = {"host": urlsplit(url).netloc, "ray_id": ray_id}
        fields = partial(self._fields, tracing, envelope)
        try:
            sent = await self.client.post(url, envelope, fields, self.retries)
        except SendError as error:
            self.observer.event(
                "webhook.failed",
                outcome="failed",
                reason=str(error),
                status=error.status,
                attempts=error.attempts,
                **told,
            )
            return False
        except asyncio.CancelledError:
            self.observer.event("webhook.abandoned", outcome="abandoned", reason="the daemon ended before", **told)
            raise
        self.observer.event(
            "webhook.delivered", outcome="delivered", status=sent.status, attempts=sent.attempts, **told
        )
        return True

    def _fields(self, tracing: Mapping[str, str], envelope: bytes) -> Mapping[str, str]:
        return delivery.fields(tracing, envelope, self.secret, self.clock.now())
