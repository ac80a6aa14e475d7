"""Every rule that `Annotated` may carry: what it adds to the schema, and who checks it. Pure.

The registry is one table for the three vocabularies, annotated-types, pydantic's `Field` and rpcgw's own. A note that
stands in none of them is enforced by nobody, and an author is told so.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from datetime import timedelta
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import annotated_types as at
from pydantic import Field
from pydantic.fields import FieldInfo
from typing_extensions import get_type_hints

from rpcgw.api.assertions import RULES, Zoned
from rpcgw.api.rules import Rule

REGISTRY: Mapping[type, tuple[str, ...]] = {
    at.Gt: ("exclusiveMinimum",),
    at.Ge: ("minimum",),
    at.Lt: ("exclusiveMaximum",),
    at.Le: ("maximum",),
    at.Interval: ("exclusiveMinimum", "minimum", "exclusiveMaximum", "maximum"),
    at.MultipleOf: ("multipleOf",),
    at.MinLen: ("minLength", "minItems", "minProperties"),
    at.MaxLen: ("maxLength", "maxItems", "maxProperties"),
    at.Len: ("minLength", "minItems", "minProperties", "maxLength", "maxItems", "maxProperties"),
    at.Timezone: ("pattern",),
    at.Predicate: (),
    at.Not: (),
    FieldInfo: ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "minLength",
                "maxLength", "minItems", "maxItems"),
    **dict.fromkeys(RULES, ()),
}  # fmt: skip
"""A rule's class -> the keywords that it may add. pydantic checks those of other libraries, ours say theirs themselves
(`Rule.keywords`); an author's predicate has no keyword, and its name is what documents show."""

_BASES = (at.BaseMetadata, at.Interval, at.Len, Rule)  # GroupedMetadata is a protocol, and slow to ask for


def enforceable(hint: Any) -> Any:
    """A hint whose zones are said by a rule of ours: pydantic overlooks them. `overlooked` tells of classes' fields."""
    if not any(isinstance(note, at.Timezone) for note in _notes(hint)):
        return hint
    return _replaced(hint)


def rules_of(hint: Any) -> tuple[str, ...]:
    """The rules on a parameter as they could be written: `MinLen(min_length=1)`."""
    return tuple(_shown(note) for note in _notes(hint, deep=False) if isinstance(note, _BASES) or _is_field_rule(note))


def unenforced(hint: Any) -> Iterator[object]:
    """Notes that look like rules and are none: of a vocabulary that nobody checks, or a class instead of a value."""
    for note in _notes(hint):
        is_class = note is Field or (inspect.isclass(note) and issubclass(note, (*_BASES, FieldInfo)))
        is_known = isinstance(note, (*REGISTRY, at.Unit)) or _is_field_rule(note)
        is_unknown = isinstance(note, at.BaseMetadata) and not is_known
        if is_class or is_unknown or (isinstance(note, at.Timezone) and _zone(note) is None):
            yield note


def overlooked(cls: type) -> Iterator[at.Timezone]:
    """Notes on a class's fields that pydantic overlooks, and that stand where no rule of ours can take their place."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):
        return
    for hint in hints.values():
        yield from (note for note in _notes(hint) if isinstance(note, at.Timezone))


def _notes(hint: Any, *, deep: bool = True) -> Iterator[Any]:
    """The notes on a hint and on what it is made of; those on members of a union alone where not `deep`."""
    origin = get_origin(hint)
    if origin is Annotated:
        yield from _flat(get_args(hint)[1:])
        yield from _notes(get_args(hint)[0], deep=deep)
    elif deep or origin in (Union, UnionType):
        for part in get_args(hint):
            yield from _notes(part, deep=deep)


def _flat(notes: tuple[Any, ...]) -> Iterator[Any]:
    """A field's constraints one by one; the field itself where it has none."""
    for note in notes:
        if isinstance(note, FieldInfo):
            yield from note.metadata
        else:
            yield note


def _is_field_rule(note: object) -> bool:
    """Whether it is what `Field(pattern=...)` and the like leave in a field's metadata: a class of pydantic's own."""
    return isinstance(note, at.BaseMetadata) and type(note).__module__.startswith("pydantic.")


def _shown(note: object) -> str:
    if isinstance(note, at.Predicate | at.Not):
        return f"{type(note).__name__}({getattr(note.func, '__qualname__', note.func)})"
    if _is_field_rule(note):
        return f"Field({', '.join(f'{key}={value!r}' for key, value in vars(note).items())})"
    return repr(note)


def _replaced(hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = [(_zone(note) or note) if isinstance(note, at.Timezone) else note for note in parts[1:]]
        return Annotated[(_replaced(parts[0]), *notes)]
    made = tuple(_replaced(part) for part in parts)
    if origin in (Union, UnionType):
        return Union[made]  # noqa: UP007 -- made at run time
    generic: Any = origin
    return generic[made] if isinstance(origin, type) else hint


def _zone(note: at.Timezone) -> Zoned | None:
    """The rule that a note stands for; None for a zone by name, which is more than an offset can tell."""
    if note.tz is ...:
        return Zoned()
    if note.tz is None:
        return Zoned(None)
    offset = None if isinstance(note.tz, str) else note.tz.utcoffset(None)
    return Zoned(offset) if isinstance(offset, timedelta) else None
