"""The gate: whether arguments fit what is advertised, and if not, which of two answers is due. Pure.

The advertised schema is the gate, so nothing is accepted that the published schema refuses. Only a refusal asks the
shape schema, made from the same source by leaving out assertions: a wrong shape is the caller's mistake of form
(`-32602` in MCP, T-09), a failed assertion is an answer of the method (T-16).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jsonschema_rs

from rpcgw.kernel.codec import decode
from rpcgw.kernel.messages import Errors, merge, refused_by_schema
from rpcgw.kernel.rewrite import shape


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments fit the advertised schema."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Something is missing, unknown, or of the wrong type."""

    errors: Errors = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assertion:
    """The shape is right; a length, range, pattern, format or other rule of the schema is broken."""

    errors: Errors = field(default_factory=dict)


Verdict = Passed | Shape | Assertion

PASSED = Passed()


def validator(schema: Any) -> jsonschema_rs.Draft202012Validator:
    """A compiled JSON Schema (2020-12). Patterns are matched in linear time; `format` is an annotation.

    Raises:
        jsonschema_rs.ValidationError: The schema is not valid, a pattern needs look-around or back-references, or a
            reference leads out of the schema: nothing is fetched.
        jsonschema_rs.ReferencingError: A reference leads nowhere in the schema.
    """
    return jsonschema_rs.Draft202012Validator(
        schema, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), offline=True
    )


class Gate:
    """The two schemas of one method, each compiled when it is first needed.

    `explain` gives words that are better than the schema's; it must not run any of the author's code.
    """

    def __init__(self, schema: bytes, explain: Callable[[dict[str, Any]], Errors]) -> None:
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

    def refuse(self, arguments: dict[str, Any]) -> Shape | Assertion:
        """Which refusal is due to arguments that do not fit, with words for each place."""
        try:
            right_shape = self.shape.is_valid(arguments)
            faults = list((self.advertised if right_shape else self.shape).iter_errors(arguments))
        except ValueError:
            return Shape({"": ["holds a value that JSON cannot carry"]})
        errors = merge(self._explain(arguments), refused_by_schema(faults), only_refused=not right_shape)
        return Assertion(errors) if right_shape else Shape(errors)
