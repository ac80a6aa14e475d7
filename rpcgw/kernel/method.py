"""A compiled method: everything about one RPC method that is known before a call, and its pure steps.

A call goes `bind` (positions to names) -> `gate` (the advertised schema) -> `convert` (the values that the procedure
takes) -> `call` -> `encode`. None of them does I/O; only `call` runs the author's procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rpcgw.api.context import CallContext
from rpcgw.api.errors import AssertionFailed, InvalidParams
from rpcgw.api.marks import Cache, Invalidates, Lock, Tool
from rpcgw.api.problems import Place
from rpcgw.kernel.arguments import Arguments, Refused
from rpcgw.kernel.codec import encode
from rpcgw.kernel.content import blocks_of, packed, structured_of
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.gate import PASSED, Assertion, Gate, Shape, Verdict
from rpcgw.kernel.messages import MESSAGES, Errors
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
    arguments: Arguments
    """How raw arguments become values."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The defaults as JSON values, by parameter: what an absent one stands for in keys of cache and lock."""
    result_codec: Codec | None = None
    """How the result is written; None where it has no annotation."""
    content: bool = False
    """Whether the result is content blocks."""

    def bind(self, params: dict[str, Any] | list[Any] | None, *, strict: bool, refuse_unknown: bool) -> dict[str, Any]:
        """Raw JSON values by parameter name; absent ones that have a default stay absent.

        Unknown names are dropped, or refused where `strict` (the surface holds callers to the advertised form) or
        `refuse_unknown`. Forms that only lenient surfaces take (an enum by name, a timestamp) are to be made into
        advertised ones here, so that the gate stays the one measure of what is accepted.

        Raises:
            InvalidParams: Too many or too few positions, a required parameter missing, an unknown one; all at once.
        """
        if isinstance(params, list):
            return self._bind_positions(params)
        given = params or {}
        known = self._known
        if given.keys() <= known:
            bound = given
        elif strict or refuse_unknown:
            raise self._invalid({name: [MESSAGES["unknown_parameter"]] for name in given if name not in known}, given)
        else:
            bound = {name: value for name, value in given.items() if name in known}
        if not self._required <= bound.keys():
            raise self._invalid({name: [MESSAGES["missing"]] for name in self._required - bound.keys()}, bound)
        return bound

    def gate(self, arguments: dict[str, Any]) -> Verdict:
        """Whether named raw values fit the advertised schema; runs none of the author's code."""
        try:
            if self._gate.accepts(arguments):
                return PASSED
        except ValueError:
            pass
        return self._gate.refuse(arguments)

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The values that the procedure takes, defaults filled in (mutable ones as copies); only after `gate` passed.

        Raises:
            AssertionFailed: A value is refused by its type or by a rule of the author's; all of them at once.
        """
        try:
            return self.arguments.convert(arguments)
        except Refused as refused:
            raise self.refusal(Assertion(refused.errors)) from None

    def refusal(self, verdict: Shape | Assertion) -> InvalidParams:
        """The error that a refusing verdict stands for: `AssertionFailed`, or `InvalidParams` for a wrong shape."""
        if isinstance(verdict, Assertion):
            return AssertionFailed(f"Invalid data for {self.name}", extra=dict(verdict.errors))
        return InvalidParams(f"Invalid parameters of {self.name}", extra=dict(verdict.errors))

    def call(self, function: Callable[..., Any], values: Mapping[str, Any], context: CallContext) -> Any:
        """Call the bound function with converted values and what is injected; an async one gives its coroutine."""
        signature = self.signature
        if signature.contexts:
            values = {**values, **dict.fromkeys(signature.contexts, context)}
        if not signature.positional:
            return function(**values)
        named = dict(values)
        positions = [named.pop(name) for name in signature.positional]
        return function(*positions, **named)

    def encode(self, value: object) -> bytes:
        """A result as JSON; content blocks as `rpcgw.kernel.content` packs them.

        Raises:
            NoJsonForm: JSON cannot carry it, or a number in it is NaN or infinite where the type promises a number.
        """
        if self.result_codec is not None:
            return self.result_codec.encode(value)
        return packed(blocks_of(value), structured_of(value)) if self.content else encode(value)

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.input_schema, self.arguments.explain)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(param.name for param in self.signature.params)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(param.name for param in self.signature.params if param.required)

    def _bind_positions(self, values: list[Any]) -> dict[str, Any]:
        params = self.signature.params
        bound = {param.name: value for param, value in zip(params, values, strict=False)}
        missing = [param.name for param in params if param.required and param.name not in bound]
        if not missing and len(values) <= len(params):
            return bound
        least, most = len(self._required), len(params)
        counts = str(most) if least == most else f"{least} to {most}"
        text = f"{self.name} takes {counts} parameter(s), {len(values)} were given"
        raise InvalidParams(text, extra={name: [MESSAGES["missing"]] for name in missing})

    def _invalid(self, errors: Errors, given: dict[str, Any]) -> InvalidParams:
        """The refusal of named parameters; whatever else is wrong with their shape is said at once."""
        verdict = self.gate(given)
        return self.refusal(Shape({**errors, **(verdict.errors if isinstance(verdict, Shape) else {})}))
