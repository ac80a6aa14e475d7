"""What a procedure may know of the call that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal, Protocol, get_args

import msgspec

from rpcgw.api.errors import CapabilityMissing, RuntimeFault
from rpcgw.api.frozen import FrozenDict, frozen
from rpcgw.api.records import record

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""RFC 5424's severities, mildest first."""

Surface = Literal["rpc", "mcp", "webmcp", "queue", "cli"]


_NO_CLAIMS: Final = FrozenDict()


@record(frozen=True, slots=True)
class Principal:
    """Who calls: a token's name or an OAuth subject; `anonymous` where the group is not protected.

    `claims` cannot be changed, nor can what is in them: calls at the same time share them. `expires` is when the token
    ends, in seconds since the epoch; None where nobody says.
    """

    name: str = "anonymous"
    scopes: frozenset[str] = frozenset()
    claims: Mapping[str, object] = field(default_factory=dict)
    expires: float | None = None

    def __post_init__(self) -> None:
        """Take the claims as they are now."""
        object.__setattr__(self, "claims", frozen(dict(self.claims)) if self.claims else _NO_CLAIMS)


ANONYMOUS = Principal()
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


class Token(str):
    """A caller's token, which a log line or a traceback that shows it does not give away."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<token>"


class Client(Protocol):
    """Who waits for a running call, as far as its surface lets a procedure speak to them."""

    async def progress(self, progress: float, total: float | None, message: str | None, /) -> None:
        """Tell how far the call is; does nothing where nobody asked."""

    async def log(self, level: LogLevel, data: object, logger: str | None, /) -> None:
        """Tell something on the way; does nothing where nobody asked."""

    def has(self, capability: str, /) -> bool:
        """Whether the client says that it can do something."""


class Caller(Protocol):
    """Runs a call out of another one."""

    async def __call__(self, method: str, params: Mapping[str, object] | Sequence[object] | None, /) -> Any:
        """The result as a JSON value; raises `RpcError`."""


class CallContext(msgspec.Struct, frozen=True):
    """Injected into a parameter that is annotated with it; never part of the API.

    `ray_id` is the trace id of the whole chain of calls; `deadline` is a time of the event loop's clock in seconds,
    or None; `headers` holds only what the operator allows (`forward`), names in lower case, and `token` is the caller's
    where the operator allows that too. `client` is None on surfaces where nobody can be spoken to while the call runs.
    `caller` runs what `call` is asked for.
    """

    principal: Principal
    group: str
    version: int
    method: str
    surface: Surface
    locale: str
    ray_id: str
    deadline: float | None = None
    headers: Mapping[str, str] = {}
    client: Client | None = None
    token: Token | None = None
    exchange: Callable[[str, tuple[str, ...]], Awaitable[str]] | None = None
    caller: Caller | None = None

    async def call(self, method: str, params: Mapping[str, object] | Sequence[object] | None = None) -> Any:
        """Call another procedure in this process, as whoever called this one would, and get its result as a JSON value.

        It is a call like any other: of the same group, version, principal, language and trace; its parameters are
        checked, its cache, lock, deadline and events hold, and it is logged and counted. What this call's client could
        not call, it cannot either. It ends with this call at the latest.

        Args:
            method: `Catalog.search`.
            params: By name or by position; whatever has a form in JSON.

        Raises:
            RpcError: The procedure fails, is refused, or there is none of this name in the group. To be let through or
                caught.
        """
        if self.caller is None:
            raise RuntimeError("calls can be made while a call runs, by the context that it was given")
        return await self.caller(method, params)

    async def token_for(self, audience: str, scopes: Iterable[str] = ()) -> str:
        """An access token for another service, in the name of who calls (RFC 8693).

        Args:
            audience: What the other service is called at the authorization server.
            scopes: What the token should allow there.

        Raises:
            RuntimeFault: No exchange is configured for this group, no access token came, or the server gives none.
        """
        if self.exchange is None:
            raise RuntimeFault("No token can be had in the name of this caller")
        return await self.exchange(audience, tuple(scopes))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is, if it asked to be told (MCP's `progressToken`).

        What is not above the progress told last is not sent. Waits where the client reads more slowly than it is told.
        """
        if self.client is not None:
            await self.client.progress(progress, total, message)

    async def log(self, level: LogLevel, data: object, logger: str | None = None) -> None:
        """Send the client a message of any JSON value, if it asked for messages of this level (MCP's `logLevel`).

        Raises:
            ValueError: There is no such level.
        """
        if level not in LOG_LEVELS:
            raise ValueError(f"{level!r} is no level; they are {', '.join(LOG_LEVELS)}")
        if self.client is not None:
            await self.client.log(level, data, logger)

    def require(self, capability: str) -> None:
        """Refuse the call where the client does not say that it has a capability, such as `sampling`.

        A capability within another is written with a dot: `elicitation.url`.

        Raises:
            CapabilityMissing: It does not, or it cannot be spoken to. To be let through.
        """
        if self.client is None or not self.client.has(capability):
            raise CapabilityMissing(capability)
