"""The gate: whether arguments fit what is advertised, and if not, which of two answers is due. Pure.

The advertised schema is the gate, so nothing is accepted that the published schema refuses. Only a refusal asks the
shape schema, made from the same source by leaving out assertions: a wrong shape is the caller's mistake of form
(`-32602` in MCP, T-09), a failed assertion is an answer of the method (T-16).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import jsonschema_rs

from rpcgw.kernel.codec import decode, encode
from rpcgw.kernel.messages import MESSAGES, Errors, Texts, merge, refused_by_schema
from rpcgw.kernel.rewrite import JsonSchema, shape
from rpcgw.kernel.rules import Ask, Rules, compile_rules


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments fit the advertised schema."""


Memo = dict[object, Any]
"""What follows from a refusal alone, by whoever found it out, for later refusals that say the same."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Something is missing, unknown, or of the wrong type. `memo` is None where the refusal is not kept."""

    errors: Errors = field(default_factory=dict)
    memo: Memo | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assertion:
    """The shape is right; a length, range, pattern, format or other rule of the schema is broken. `memo` as there."""

    errors: Errors = field(default_factory=dict)
    memo: Memo | None = field(default=None, compare=False, repr=False)


Verdict = Passed | Shape | Assertion

PASSED = Passed()

Explain = Callable[[dict[str, Any], Collection[str] | None, Texts], Errors]


def validator(schema: Any) -> jsonschema_rs.Draft202012Validator:
    """A compiled JSON Schema (2020-12). Patterns are matched in linear time; `format` is an annotation.

    Its own words never show a value, which may be a secret.

    Raises:
        jsonschema_rs.ValidationError: The schema is not valid, a pattern needs look-around or back-references, or a
            reference leads out of the schema: nothing is fetched.
        jsonschema_rs.ReferencingError: A reference leads nowhere in the schema.
    """
    return jsonschema_rs.Draft202012Validator(
        schema, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), offline=True, mask="the value"
    )


MOST_KEPT: Final = 1024
"""How many refusals a process keeps, of all methods together."""
_KEPT: Final[dict[tuple[object, ...], tuple[Shape | Assertion, Texts]]] = {}
"""Refusals, and the texts that they are worded with, whose identity is part of their key."""


def _asking(rule: JsonSchema) -> Ask:
    return _compiled(encode(rule))


@lru_cache(1024)
def _compiled(rule: bytes) -> Ask:
    """Methods have most of their rules in common."""
    return validator(decode(rule)).is_valid


class Gate:
    """The two schemas of one method, each compiled when it is first needed.

    `explain` says what the types have against the arguments of some names, or of all for None: what the schema cannot
    say, or not as well. It must not run any of the author's code.
    """

    def __init__(self, schema: bytes, explain: Explain) -> None:
        self._schema = schema
        self._explain = explain

    @cached_property
    def advertised(self) -> jsonschema_rs.Draft202012Validator:
        """The schema as published."""
        return validator(decode(self._schema))

    @cached_property
    def shape(self) -> jsonschema_rs.Draft202012Validator:
        """The schema without its assertions; refusals alone need it."""
        return validator(shape(decode(self._schema)))

    @cached_property
    def accepts(self) -> Callable[[Any], bool]:
        """Whether arguments fit; the hot path. Raises `ValueError` for what JSON cannot carry."""
        return self.advertised.is_valid

    def refused(self, arguments: dict[str, Any]) -> set[Any]:
        """The names of the arguments that do not fit. Raises `ValueError` for what JSON cannot carry."""
        return {step for fault in self.advertised.iter_errors(arguments) for step in list(fault.instance_path)[:1]}

    def refuse(self, arguments: dict[str, Any], texts: Texts = MESSAGES) -> Shape | Assertion:
        """Which refusal is due to arguments that do not fit, with words for each place.

        It may be one that others were given before: nobody changes it.
        """
        try:
            mistakes = self._mistakes(arguments)
            if mistakes is None or (mistakes[0] is Assertion and self._explain(arguments, None, texts)):
                return self._worded(arguments, texts)
            key = (self, mistakes, id(texts))
            if (kept := _KEPT.get(key)) is not None:
                return kept[0]
            made = self._worded(arguments, texts)
        except ValueError:
            return Shape({"": [texts["no_json"]]})
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        refusal = replace(made, memo={})
        _KEPT[key] = refusal, texts
        return refusal

    def _mistakes(self, arguments: dict[str, Any]) -> tuple[type[Shape | Assertion], tuple[Hashable, ...]] | None:
        """Which rules of whole arguments are broken, where the refusal is worded by them alone."""
        for kind, rules in self._rules:
            broken = None if rules is None else rules.broken(arguments)
            if broken is None:
                return None
            if broken:
                return kind, tuple(broken)
        return None

    @cached_property
    def _rules(self) -> tuple[tuple[type[Shape | Assertion], Rules | None], ...]:
        """What is asked first, and what is asked of arguments of the right shape."""
        schema = decode(self._schema)
        return (Shape, compile_rules(shape(schema), _asking)), (Assertion, compile_rules(schema, _asking))

    def _worded(self, arguments: dict[str, Any], texts: Texts) -> Shape | Assertion:
        right_shape = self.shape.is_valid(arguments)
        faults = (self.advertised if right_shape else self.shape).iter_errors(arguments)
        refused, unclear = refused_by_schema(faults, texts)
        if right_shape:
            # Formats and the like, which a schema only names, may be wrong elsewhere: all is said at once.
            return Assertion(merge(self._explain(arguments, None, texts), refused, only_refused=False))
        said = self._explain(arguments, unclear, texts) if unclear else {}
        return Shape(merge(said, refused, only_refused=True))
