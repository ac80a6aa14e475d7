"""A compiled method: everything about one RPC method that is known before a call, and its pure steps.

A call goes `bind` (positions to names) -> `gate` (the advertised schema) -> `convert` (the values that the procedure
takes) -> `call` -> `encode`. None of them does I/O; only `call` runs the author's procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rpcgw.api.context import CallContext
from rpcgw.api.errors import AssertionFailed, InvalidParams
from rpcgw.api.marks import Cache, Invalidates, Lock, Tool
from rpcgw.api.problems import Place
from rpcgw.kernel.gate import Assertion, Shape, Verdict
from rpcgw.kernel.signature import Signature


@dataclass(frozen=True, slots=True)
class ParamDoc:
    """One parameter for documents; `schema` is JSON whose references are `#/components/schemas/...`."""

    name: str
    description: str
    required: bool
    schema: bytes


@dataclass(frozen=True, slots=True)
class ResultDoc:
    """The result for documents: `name` is the type as the author wrote it; `schema` as in `ParamDoc`."""

    name: str
    description: str
    schema: bytes


@dataclass(frozen=True, slots=True)
class ErrorDoc:
    """An error that the docstring's `Raises:` promises; unique by code within a method."""

    code: int
    message: str
    description: str


@dataclass(frozen=True, eq=False)
class Method:
    """One RPC method of one version; the groups that serve it share it.

    `input_schema` and `output_schema` are JSON texts as MCP sends them (T-07 to T-12), `output_schema` None where
    nothing is promised. `description` is the docstring above its parameter section. `procedure` is the class,
    `attribute` the function's name in it; the executor gets the function from the procedure's instance.
    """

    name: str
    version: int
    groups: frozenset[str]
    procedure: type
    attribute: str
    signature: Signature
    title: str | None
    description: str
    tool: Tool
    cache: Cache | None
    lock: Lock | None
    invalidates: Invalidates | None
    inline: bool
    is_async: bool
    deprecated: bool
    plugin: str
    place: Place
    input_schema: bytes
    output_schema: bytes | None
    params: tuple[ParamDoc, ...]
    result: ResultDoc
    errors: tuple[ErrorDoc, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The defaults as JSON values, by parameter: what an absent one stands for in keys of cache and lock."""

    def bind(self, params: dict[str, Any] | list[Any] | None, *, strict: bool, refuse_unknown: bool) -> dict[str, Any]:
        """Raw JSON values by parameter name; absent ones that have a default stay absent.

        Unknown names are dropped, or refused where `strict` (the surface holds callers to the advertised form) or
        `refuse_unknown`.

        Raises:
            InvalidParams: Too many or too few positions, a required parameter missing, an unknown one; all at once.
        """
        raise NotImplementedError

    def gate(self, arguments: dict[str, Any]) -> Verdict:
        """Whether named raw values fit the advertised schema; runs none of the author's code where they do."""
        raise NotImplementedError

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The values that the procedure takes, defaults filled in (mutable ones as copies); only after `gate` passed.

        Raises:
            AssertionFailed: A value is refused by its type or by a rule of the author's; all of them at once.
        """
        raise NotImplementedError

    def refusal(self, verdict: Shape | Assertion) -> InvalidParams | AssertionFailed:
        """The error that a refusing verdict stands for."""
        raise NotImplementedError

    def call(self, function: Callable[..., Any], values: Mapping[str, Any], context: CallContext) -> Any:
        """Call the bound function with converted values and what is injected; an async one gives its coroutine."""
        raise NotImplementedError

    def encode(self, value: object) -> bytes:
        """A result as JSON.

        Raises:
            NoJsonForm: JSON cannot carry it, or a number in it is NaN or infinite where the type promises a number.
        """
        raise NotImplementedError
