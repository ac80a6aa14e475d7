"""What the handlers of `/mcp` have in common: one visit, its services, one message's answer."""

from __future__ import annotations

from dataclasses import field

import msgspec

from rpcgw.api.context import Principal
from rpcgw.api.records import record
from rpcgw.endpoints.cancellations import Cancellations
from rpcgw.endpoints.executing import Beginner
from rpcgw.endpoints.sessions import Sessions
from rpcgw.endpoints.subscribed import Subscriptions
from rpcgw.exchange import Inbound
from rpcgw.kernel.ports import Clock, Ids, Observer, Span, Tracer
from rpcgw.kernel.switches import EVERYTHING, Offered
from rpcgw.protocol.mcp import Endpoint
from rpcgw.protocol.mcp.answers import After
from rpcgw.protocol.mcp.ready import Ready
from rpcgw.protocol.mcp.spans import Transport


@record(frozen=True, slots=True)
class Services:
    """What the endpoint needs from outside; `tracer` is None where nothing is traced, `transport` what clients use.

    `switches` say which methods are off.
    """

    executor: Beginner
    sessions: Sessions
    ids: Ids
    clock: Clock
    observer: Observer
    cancellations: Cancellations = field(default_factory=Cancellations)
    subscriptions: Subscriptions = field(default_factory=Subscriptions)
    tracer: Tracer | None = None
    transport: Transport = "tcp"
    switches: Offered = EVERYTHING


class Visit(msgspec.Struct, frozen=True):
    """One request that was let in: what all of its messages have in common.

    `span` is that of the message that is being answered, where messages are traced.
    """

    endpoint: Endpoint
    services: Services
    principal: Principal
    inbound: Inbound
    locale: str
    span: Span | None = None


class Answer(msgspec.Struct, frozen=True):
    """One message's answer, and what to run once it is out.

    One that is `ready` but for the id in `body` may go out compressed.
    """

    body: bytes
    after: After | None = None
    ready: Ready | None = None

    @property
    def text(self) -> bytes:
        """The answer as JSON."""
        return self.body if self.ready is None else self.ready.text(self.body)
