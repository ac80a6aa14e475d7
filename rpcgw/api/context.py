"""What a procedure may know of the call that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Surface = Literal["rpc", "mcp", "webmcp", "queue", "cli"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls: a token's name or an OAuth subject; `anonymous` where the group is not protected."""

    name: str = "anonymous"
    scopes: frozenset[str] = frozenset()
    claims: Mapping[str, object] = field(default_factory=dict)


ANONYMOUS = Principal()


@dataclass(frozen=True, slots=True)
class CallContext:
    """Injected into a parameter that is annotated with it; never part of the API.

    `ray_id` is the trace id of the whole chain of calls; `deadline` is a time of the event loop's clock in seconds,
    or None; `headers` holds only what the operator allows (`forward`), names in lower case.
    """

    principal: Principal
    group: str
    version: int
    method: str
    surface: Surface
    locale: str
    ray_id: str
    deadline: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
