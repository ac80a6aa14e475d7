"""Plain types: those for which the gate's verdict is enough. Pure.

A value that the advertised schema accepts as `int`, `str`, `list[str]` and the like is the value that the procedure
takes: pydantic would neither change it nor find anything wrong. Such parameters skip conversion.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_ATOMS = (int, float, str, bool, NoneType, list, dict, Any, object)
_RANGES = (Ge, Gt, Le, Lt, MinLen, MaxLen, Len, Interval)


def is_plain(hint: Any) -> bool:
    """Whether what the schema accepts needs no conversion, and no check that the schema cannot express."""
    if isinstance(hint, NewType):
        return is_plain(hint.__supertype__)
    judge = _BY_ORIGIN.get(get_origin(hint))
    if judge is not None:
        return judge(get_args(hint))
    return hint is None or any(hint is atom for atom in _ATOMS)


def number_of(hint: Any) -> type[int | float] | None:
    """`int` or `float` where a plain parameter is one, through NewType, Annotated and `| None`.

    JSON does not tell 1 from 1.0; a whole float given for an int becomes one, and an int given for a float.
    """
    if isinstance(hint, NewType):
        return number_of(hint.__supertype__)
    if get_origin(hint) is Annotated:
        return number_of(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return next((number for part in get_args(hint) if (number := number_of(part))), None)
    if hint is int:
        return int
    return float if hint is float else None


def _is_plain_annotated(parts: tuple[Any, ...]) -> bool:
    return is_plain(parts[0]) and all(_is_plain_note(note) for note in parts[1:])


def _is_plain_literal(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, str | None) for value in values)


def _is_plain_list(parts: tuple[Any, ...]) -> bool:
    return is_plain(parts[0]) and not _holds_number(parts[0])


def _is_plain_dict(parts: tuple[Any, ...]) -> bool:
    return parts[0] is str and is_plain(parts[1]) and not _holds_number(parts[1])


def _is_plain_union(parts: tuple[Any, ...]) -> bool:
    others = [part for part in parts if part is not NoneType]
    if len(others) == 1:
        return is_plain(others[0])
    # Among several forms a number's own type would have to be guessed.
    return all(is_plain(part) and not _holds_number(part) for part in others)


def _is_plain_note(note: object) -> bool:
    if isinstance(note, (*_RANGES, str)) or hasattr(note, "documentation"):
        return True
    if isinstance(note, FieldInfo):
        settled = note.default is PydanticUndefined and note.default_factory is None
        named = note.alias or note.validation_alias or note.discriminator
        return settled and not named and all(_is_plain_constraint(part) for part in note.metadata)
    return False


def _is_plain_constraint(part: object) -> bool:
    return isinstance(part, _RANGES) or set(getattr(part, "__dict__", {"": ""})) == {"pattern"}


def _holds_number(hint: Any) -> bool:
    if isinstance(hint, NewType):
        return _holds_number(hint.__supertype__)
    if get_origin(hint) is Literal:
        return False
    return hint in (int, float) or any(_holds_number(part) for part in get_args(hint) if _is_type(part))


def _is_type(part: object) -> bool:
    return isinstance(part, type | NewType) or get_origin(part) is not None


_BY_ORIGIN: dict[Any, Callable[[tuple[Any, ...]], bool]] = {
    Annotated: _is_plain_annotated,
    Union: _is_plain_union,
    UnionType: _is_plain_union,
    Literal: _is_plain_literal,
    list: _is_plain_list,
    dict: _is_plain_dict,
}
