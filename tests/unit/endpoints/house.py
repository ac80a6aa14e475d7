"""A whole MCP endpoint in this process: the demo's procedures, the real kernel, a pool in memory, clocks that tests move."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from multidict import CIMultiDict

from rpcgw.access.admit import JSON, Policy
from rpcgw.access.guards import compile_guards
from rpcgw.access.tokens import compile_tokens
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.endpoints.cancellations import Cancellations, Marks
from rpcgw.endpoints.mcp import Services, entrances
from rpcgw.endpoints.sessions import LocalRevocations, Sessions
from rpcgw.exchange import Entrance, Head, Inbound, Reply, never, settled
from rpcgw.kernel.call import Call, Outcome
from rpcgw.kernel.executor import Executor
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.instances import instantiate
from rpcgw.kernel.listeners import compile_listeners
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Pool
from rpcgw.kernel.table import compile_methods
from rpcgw.protocol.mcp import Endpoint, Limits, ToolSettings, build
from tests.golden import mcp_requests as golden
from tests.golden.mcp_demo import GROUP, PROCEDURES


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Ids:
    """Ids that a test can tell apart."""

    def __init__(self) -> None:
        self.count = 0

    def token(self) -> str:
        self.count += 1
        return f"id{self.count:030d}"


class Observer:
    """Keeps what it is told: `calls` that have begun, and the `outcomes` of those that have ended."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[Call] = []
        self.outcomes: list[Outcome] = []

    def call_started(self, call: Call) -> None:
        self.calls.append(call)

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None:
        self.outcomes.append(outcome)

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))

    def named(self, name: str) -> list[dict[str, Any]]:
        return [fields for event, fields in self.events if event == name]


class Plain:
    """Texts where no catalogue says anything."""

    def title(self, group: str, method: Method, locale: str) -> str:
        return method.title or ""

    def description(self, group: str, method: Method, locale: str) -> str:
        return method.description

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        return ""

    def result(self, group: str, method: Method, locale: str) -> str:
        return ""


@dataclass
class Locks:
    """Nobody else locks."""

    async def acquire(self, name: str, ttl: float) -> str | None:
        return "owner"

    async def renew(self, name: str, owner: str, ttl: float) -> bool:
        return True

    async def release(self, name: str, owner: str) -> None: ...


@dataclass
class House:
    """An endpoint and all that it stands on."""

    endpoint: Endpoint
    services: Services
    doors: tuple[Entrance, ...]
    pool: Pool
    clock: Clock
    ids: Ids
    observer: Observer

    async def send(self, raw: bytes, gone: Any = never, begin: Callable[[Reply], None] | None = None) -> Reply:
        """What a door does with a raw request, without the sockets."""
        head, body = parsed(raw)
        entrance = self.entrance(head.path)
        admitted = await settled(entrance.admit(head))
        if isinstance(admitted, Reply):
            return admitted
        if len(body) > entrance.max_body_bytes:
            return entrance.too_large(head)
        return await entrance.answer(admitted, Inbound(head, body, gone, begin))

    def entrance(self, path: str) -> Entrance:
        exact = [entrance for entrance in self.doors if entrance.pattern == path]
        return exact[0] if exact else next(entrance for entrance in self.doors if entrance.pattern.endswith("/{ver}"))

    async def begin(self, revision: str = golden.NEWEST, headers: golden.Fields = golden.NO_FIELDS) -> str:
        """A session's id."""
        reply = await self.send(golden.initialize(revision, headers=headers))
        return dict(reply.headers)["Mcp-Session-Id"]


def house(
    *,
    tokens: dict[str, str] | None = None,
    pool: Pool | None = None,
    listeners: tuple[Callable[..., Any], ...] = (),
    settings: ToolSettings | None = None,
    revocations: LocalRevocations | None = None,
    beside: House | None = None,
    procedures: Sequence[type] = PROCEDURES,
    environment: str = "test",
    **change: Any,
) -> House:
    """Build one; `beside` another one, it is a second worker of the same host. `change` replaces fields of the endpoint."""
    clock, ids = (beside.clock, beside.ids) if beside else (Clock(), Ids())
    observer = Observer()
    store = pool or (beside.pool if beside else MemoryPool(now=clock.monotonic))
    table, problems = compile_methods([Registration(procedure) for procedure in procedures])
    assert not problems, problems
    instances, unfilled = instantiate([registration.procedure for registration in table.procedures], ())
    assert not unfilled, unfilled
    chosen = settings or ToolSettings()
    toolboxes = {}
    for version in table.versions(GROUP):
        toolboxes[version], found = build(table.methods(GROUP, version) or {}, chosen)
        assert not found, found
    fields: dict[str, Any] = {
        "name": f"{GROUP}_ufo_mcp_endpoint",
        "prefix": "/mcp",
        "group": GROUP,
        "toolboxes": toolboxes,
        "texts": Plain(),
        "negotiate": lambda accept: "uk" if accept and accept.startswith("uk") else "en",
        "limits": Limits(max_body_bytes=golden.MAX_BODY_BYTES),
        "settings": chosen,
    }
    endpoint = Endpoint(**(fields | change))
    executor = Executor(
        table, instances, clock=clock, ids=ids, observer=observer, pool=store, locks=Locks(),
        listeners=compile_listeners(listeners)[0], environment=environment,
    )  # fmt: skip
    sessions = Sessions(store, clock, ids, observer, revocations or LocalRevocations())
    services = Services(executor, sessions, ids, clock, observer, Cancellations(Marks(store, observer)))
    held = compile_tokens("ufo-rpc-token", [(name, digest(token), None) for name, token in (tokens or {}).items()])
    policy = Policy(
        compile_guards(),
        methods=("POST", "DELETE"),
        tokens=dict.fromkeys(("POST", "DELETE"), held) if tokens else {},
        media_types={"POST": JSON},
    )
    return House(endpoint, services, entrances(endpoint, policy, services), store, clock, ids, observer)


def digest(token: str) -> str:
    """A token as settings hold it."""
    return sha256(token.encode()).hexdigest()


def parsed(raw: bytes) -> tuple[Head, bytes]:
    """A raw request as a door hands it on."""
    head, _, body = raw.partition(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    method, target, _ = line.split(" ")
    headers: CIMultiDict[str] = CIMultiDict()
    for each in fields:
        name, _, value = each.partition(":")
        headers.add(name, value.strip(" \t"))
    return Head(method, target, "", headers), body


def spoken(reply: Reply) -> Any:
    """The JSON of an answer; None where it has no body."""
    assert isinstance(reply.body, bytes)
    return json.loads(reply.body) if reply.body else None
