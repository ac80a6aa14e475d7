"""A compiled method: everything about one RPC method that is known before a call, and its pure steps.

A call goes `bind` (positions to names) -> `gate` (the advertised schema) -> `convert` (the values that the procedure
takes) -> `call` -> `encode`. None of them does I/O; only `call` runs the author's procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import jsonschema_rs

from rpcgw.api.context import CallContext
from rpcgw.api.errors import AssertionFailed, InvalidParams
from rpcgw.api.marks import Cache, Invalidates, Lock, Tool
from rpcgw.api.problems import Place
from rpcgw.api.records import record
from rpcgw.kernel.arguments import Arguments, Refused
from rpcgw.kernel.codec import decode, decode_own, encode
from rpcgw.kernel.content import blocks_of, packed, structured_of
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.gate import PASSED, Assertion, Gate, Shape, Verdict, validator
from rpcgw.kernel.messages import MESSAGES, Errors, Texts, refused_by_schema
from rpcgw.kernel.rewrite import closed, rewrite
from rpcgw.kernel.signature import Signature
from rpcgw.kernel.substitution import Resolution


@record(frozen=True, slots=True)
class ParamDoc:
    """One parameter for documents; `schema` is JSON whose references are `#/components/schemas/...`."""

    name: str
    description: str
    required: bool
    schema: bytes
    assertions: tuple[str, ...] = ()
    """The rules on it as the author wrote them: the source of `x-ufo-assertions`."""


@record(frozen=True, slots=True)
class ResultDoc:
    """The result for documents: `name` is the type as the author wrote it; `schema` as in `ParamDoc`."""

    name: str
    description: str
    schema: bytes


@record(frozen=True, slots=True)
class ErrorDoc:
    """An error that the docstring's `Raises:` promises; unique by code within a method."""

    code: int
    message: str
    description: str


@record(frozen=True, eq=False)
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
    scopes: frozenset[str] = frozenset()
    """What a caller's token must allow, all of it."""

    def bind(
        self,
        params: dict[str, Any] | list[Any] | None,
        *,
        strict: bool,
        refuse_unknown: bool,
        texts: Texts = MESSAGES,
    ) -> dict[str, Any]:
        """Raw JSON values by parameter name; absent ones that have a default stay absent.

        Unknown names are dropped, or refused where `strict` (the surface holds callers to the advertised form) or
        `refuse_unknown`. Other surfaces also take forms that are not advertised (an enum by name, a timestamp): they
        are made into advertised ones here, so that the gate stays the one measure of what is accepted.

        Raises:
            InvalidParams: Too many or too few positions, a required parameter missing, an unknown one; all at once.
        """
        if isinstance(params, list):
            bound = self._bind_positions(params, texts)
        else:
            bound = params or {}
            known = self._known
            if not bound.keys() <= known:
                if strict or refuse_unknown:
                    errors = {name: [texts["unknown_parameter"]] for name in bound if name not in known}
                    raise self._invalid(errors, bound, texts, strict=strict)
                bound = {name: value for name, value in bound.items() if name in known}
            if not self._required <= bound.keys():
                absent = self._required - bound.keys()
                errors = {param.name: [texts["missing"]] for param in self.signature.params if param.name in absent}
                raise self._invalid(errors, bound, texts, strict=strict)
        return self._mended(bound) if self._lenient and not strict else bound

    def gate(self, arguments: dict[str, Any], texts: Texts = MESSAGES) -> Verdict:
        """Whether named raw values fit the advertised schema; runs none of the author's code."""
        try:
            if self._accepts(arguments):
                return PASSED
        except ValueError:
            pass
        return self._gate.refuse(arguments, texts)

    def convert(
        self, arguments: dict[str, Any], resolution: Resolution | None = None, texts: Texts = MESSAGES
    ) -> dict[str, Any]:
        """The values that the procedure takes, defaults filled in (mutable ones as copies); only after `gate` passed.

        `resolution` gives the objects that ids name (`rpcgw.kernel.resolution`).

        Raises:
            AssertionFailed: A value is refused by its type or by a rule of the author's; all of them at once.
        """
        try:
            return self.arguments.convert(arguments, resolution, texts)
        except Refused as refused:
            raise self.refusal(Assertion(refused.errors), texts) from None

    def refusal(self, verdict: Shape | Assertion, texts: Texts = MESSAGES) -> InvalidParams:
        """The error that a refusing verdict stands for: `AssertionFailed`, or `InvalidParams` for a wrong shape."""
        extra = _copied(verdict.errors)
        if isinstance(verdict, Assertion):
            return AssertionFailed(texts["invalid_data"].format(method=self.name), extra=extra)
        return InvalidParams(texts["invalid_parameters"].format(method=self.name), extra=extra)

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

    @cached_property
    def encode(self) -> Callable[[object], bytes]:
        """Makes JSON of a result; content blocks as `rpcgw.kernel.content` packs them.

        Raises:
            NoJsonForm: JSON cannot carry it, or a number in it is NaN or infinite where the type promises a number.
        """
        if self.result_codec is not None:
            return self.result_codec.encoder
        return _packed if self.content else encode

    def kept(self, encoded: bytes, texts: Texts = MESSAGES) -> Errors:
        """How a result breaks the published type, by path: nothing where it is as promised, or nothing is (T-15)."""
        if self._promise is None:
            return {}
        try:
            value = {"result": decode_own(encoded)}
            return {} if self._promise.is_valid(value) else _said(self._promise, value, texts)
        except ValueError:
            # Deeper than anything that can be read here: nobody can tell.
            return {}

    def misfits(self, encoded: bytes, texts: Texts = MESSAGES) -> Errors:
        """What the published type has against a result, by path; fields that it does not name count.

        For development: it costs as much as the call. Nothing is found where nothing is promised.
        """
        if self._promise is None:
            return {}
        return _said(self._full_promise, {"result": decode(encoded)}, texts)

    @cached_property
    def evident(self) -> type | None:
        """The type whose values are what the published type promises, with no need to look closer; None for most."""
        promised = decode(self.output_schema).get("properties", {}).get("result", {}) if self.output_schema else {}
        return _EVIDENT.get(promised["type"]) if promised.keys() == {"type"} and type(promised["type"]) is str else None

    @cached_property
    def _promise(self) -> jsonschema_rs.Draft202012Validator | None:
        if self.output_schema is None or self.content:
            return None
        return validator(decode(self.output_schema))

    @cached_property
    def _full_promise(self) -> jsonschema_rs.Draft202012Validator:
        assert self.output_schema is not None, "only asked where something is promised"
        return validator(rewrite(decode(self.output_schema), closed))

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.input_schema, self.arguments.explain)

    @cached_property
    def _accepts(self) -> Callable[[Any], bool]:
        return self._gate.accepts

    @cached_property
    def _lenient(self) -> bool:
        return self.arguments.lenient

    def _mended(self, bound: dict[str, Any]) -> dict[str, Any]:
        try:
            return bound if self._accepts(bound) else self.arguments.mend(bound, self._gate.refused(bound))
        except ValueError:
            return bound

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(param.name for param in self.signature.params)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(param.name for param in self.signature.params if param.required)

    def _bind_positions(self, values: list[Any], texts: Texts) -> dict[str, Any]:
        params = self.signature.params
        bound = {param.name: value for param, value in zip(params, values, strict=False)}
        missing = [param.name for param in params if param.required and param.name not in bound]
        if not missing and len(values) <= len(params):
            return bound
        least, most = len(self._required), len(params)
        counts = str(most) if least == most else f"{least} to {most}"
        text = texts["positions"].format(method=self.name, takes=counts, given=len(values))
        # What is wrong with those that were given is said at once.
        verdict = self.gate(self._mended(bound) if self._lenient else bound, texts)
        shape = _copied(verdict.errors) if isinstance(verdict, Shape) else {}
        raise InvalidParams(text, extra={**{name: [texts["missing"]] for name in missing}, **shape})

    def _invalid(self, errors: Errors, given: dict[str, Any], texts: Texts, *, strict: bool) -> InvalidParams:
        """The refusal of named parameters; whatever else is wrong with their shape is said at once."""
        verdict = self.gate(given if strict or not self._lenient else self._mended(given), texts)
        shape = verdict.errors if isinstance(verdict, Shape) else {}
        return self.refusal(Shape({**errors, **shape}), texts)


_EVIDENT: Mapping[str, type] = {"boolean": bool, "integer": int, "string": str}
"""What stands for the types of JSON Schema that say all in one word."""


def _packed(value: object) -> bytes:
    return packed(blocks_of(value), structured_of(value))


def _copied(errors: Errors) -> Errors:
    """What an author's listener may change, where a verdict is kept for others."""
    return {path: [*words] for path, words in errors.items()}


def _said(promise: jsonschema_rs.Draft202012Validator, value: object, texts: Texts) -> Errors:
    said, _ = refused_by_schema(promise.iter_errors(value), texts)
    return {path.removeprefix("result").lstrip("."): words for path, words in said.items()}
