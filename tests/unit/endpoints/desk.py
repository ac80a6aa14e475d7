"""The ports of deferred calls, in memory: what a test can see of them, and what it can make fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rpcgw.access.webhooks import compile_policy
from rpcgw.api.errors import InternalError
from rpcgw.endpoints.webhooks import Webhooks
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.codec import encode
from rpcgw.kernel.failure import render
from rpcgw.kernel.ports import Handle, SendError, Sent, StoreError

HOOK = "https://hooks.example.com/x"
NOW = 1_700_000_000.0


@dataclass
class Desk:
    """Executor, HTTP client, resolver, queue, clock, ids and observer in one."""

    addresses: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"hooks.example.com": ["203.0.114.1"]})
    sent: list[tuple[str, bytes, Mapping[str, str]]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    failing: bool = False
    """Receivers and queues refuse."""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0

    def begin(self, call: Call) -> Coroutine[Any, Any, Outcome]:
        return self.execute(call)

    async def execute(self, call: Call) -> Outcome:
        """`gate` waits, `fail` fails, everything else answers its params."""
        self.calls.append(call)
        self.running += 1
        try:
            if call.refused is not None:
                return render(call.refused, exposed=False)
            if call.method == "gate":
                await self.gate.wait()
            if call.method == "fail":
                return render(InternalError("no"), exposed=False)
            return Done(encode(call.params), after=self._after)
        finally:
            self.running -= 1

    async def _after(self) -> None:
        self.answered.append("post_response")

    async def post(self, url: str, body: bytes, fields: Callable[[], Mapping[str, str]], retries: int = 0) -> Sent:
        if self.failing:
            raise SendError("answered 503", status=503, attempts=retries + 1)
        self.sent.append((url, body, fields()))
        return Sent(204, 1)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if host not in self.addresses:
            raise OSError("unknown")
        return self.addresses[host]

    async def put(self, body: bytes) -> None:
        if self.failing:
            raise StoreError("away")
        self.messages.append(body)

    async def consume(self, handle: Handle, concurrency: int, stopping: asyncio.Event) -> None:
        raise AssertionError("nobody consumes here")

    async def ask(self, url: str, fields: Mapping[str, str], body: bytes | None = None, most: int = 0) -> Any:
        raise AssertionError("nobody is asked here")

    def stream(self, url: str, fields: Mapping[str, str]) -> Any:
        raise AssertionError("nobody reads a stream here")

    async def ping(self) -> None: ...
    async def close(self) -> None: ...

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return NOW

    def token(self) -> str:
        return f"own-{len(self.calls)}"

    def call_started(self, call: Call) -> None: ...
    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...
    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))

    def named(self, name: str) -> list[dict[str, Any]]:
        """What was told under one name."""
        return [fields for event, fields in self.events if event == name]

    def webhooks(self, *allow: str, secret: str | None = None) -> Webhooks:
        """Webhooks to what is allowed; to `HOOK`'s host where nothing is said."""
        policy = compile_policy(allow or ("https://hooks.example.com/",), allow_private=False)
        return Webhooks(policy, self, self, self, self, secret=secret, retries=2)
