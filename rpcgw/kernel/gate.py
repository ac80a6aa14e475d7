"""The gate: whether arguments fit what is advertised, and if not, which of two answers is due. Pure.

The advertised schema is the gate, so nothing is accepted that the published schema refuses. Only a refusal asks the shape
schema, made from the same source by leaving out assertions: a wrong shape is the caller's mistake of form (`-32602` in
MCP, T-09), a failed assertion is an answer of the method (T-16).
"""

from __future__ import annotations

from dataclasses import dataclass, field

Errors = dict[str, list[str]]
"""What is wrong, by path: `items[0].price` -> texts for people, in the order found."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments fit the advertised schema."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Something is missing, unknown, or of the wrong type."""

    errors: Errors = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assertion:
    """The shape is right; a length, range, pattern, format or rule of the author's is broken."""

    errors: Errors = field(default_factory=dict)


Verdict = Passed | Shape | Assertion

PASSED = Passed()
