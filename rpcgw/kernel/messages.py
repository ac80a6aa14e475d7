"""What is said of a refused value, by path. Pure.

Two sources speak: pydantic (better words, it knows the author's types) and the schema (it knows all that is
advertised). Both give the same keys, so one table of texts serves both, and a catalogue may replace any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jsonschema_rs
from pydantic import ValidationError

from rpcgw.api.rules import Broken
from rpcgw.kernel.codec import TOO_DEEP
from rpcgw.kernel.rewrite import DECIMAL

Errors = dict[str, list[str]]
"""Texts by path: `items[0].price` -> what is wrong there, in the order found."""

_DATE_TIME = "must be a date and time such as 2026-11-30T12:00:00Z"
_DATE = "must be a date such as 2026-11-30"
_TIME = "must be a time such as 12:00:00"
_DURATION = "must be an ISO 8601 duration such as PT1H30M"
_DECIMAL = "must be a decimal number"
_OBJECT = "must be an object"
_ARRAY = "must be an array"

Texts = Mapping[str, str]
"""A text per kind of fault: the product's own, or a locale's catalogue laid over it (`rpcgw.messages.<key>`)."""

MESSAGES: Texts = {
    "invalid_data": "Invalid data for {method}",
    "invalid_parameters": "Invalid parameters of {method}",
    "positions": "{method} takes {takes} parameter(s), {given} were given",
    "missing": "is required",
    "unknown_parameter": "is not a known parameter",
    "extra_forbidden": "is not a known field",
    "wrong_type": "must be {expected}",
    "no_json": "holds a value that JSON cannot carry",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "none_required": "must be null",
    "list_type": _ARRAY,
    "set_type": _ARRAY,
    "frozen_set_type": _ARRAY,
    "tuple_type": _ARRAY,
    "dict_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "date_type": "must be a string",
    "datetime_type": "must be a string",
    "string_too_short": "must have at least {min_length} character(s)",
    "string_too_long": "must have at most {max_length} character(s)",
    "too_short": "must have at least {min_length} item(s)",
    "too_long": "must have at most {max_length} item(s)",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "finite_number": "must be a finite number",
    "too_large": "is too large",
    "string_pattern_mismatch": "must match {pattern}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "unique": "must not hold the same item twice",
    "bad_key": "has a key that is not allowed",
    "no_form": "must have one of the advertised forms",
    "not_allowed": "is not allowed",
    "predicate_failed": "is not allowed",
    "not_operation_failed": "is not allowed",
    "not_blank": "must not be blank",
    "not_null": "must not be null",
    "not_found": "not found",
    "email": "must be an e-mail address",
    "url": "must be a URL that begins with {schemes}",
    "ip": "must be an IP{version} address",
    "json": "must be JSON",
    "equal_to": "must be {value}",
    "not_equal_to": "must not be {value}",
    "zoned": "must have {zone}",
    "date_format": "must be written as {example}",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "datetime_parsing": _DATE_TIME,
    "datetime_from_date_parsing": _DATE_TIME,
    "timezone_naive": "must not have a time zone",
    "timezone_aware": "must have a time zone",
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "time_type": _TIME,
    "time_parsing": _TIME,
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    "decimal_type": _DECIMAL,
    "decimal_parsing": _DECIMAL,
    "bytes_type": "must be base64",
    "bytes_invalid_encoding": "must be base64",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}, not '{tag}'",
    "union_tag_not_found": "must have {discriminator}",
    "set_item_not_hashable": "must not be an array or object",
    "value_error": "{error}",
    "assertion_error": "{error}",
    "json_invalid": TOO_DEEP,
}
"""A text per kind of fault; `{...}` are facts of the fault. The keys are pydantic's error types, and a few of ours."""

_FACTS: Mapping[str, tuple[str, str]] = {
    "minimum": ("greater_than_equal", "ge"),
    "maximum": ("less_than_equal", "le"),
    "exclusiveMinimum": ("greater_than", "gt"),
    "exclusiveMaximum": ("less_than", "lt"),
    "multipleOf": ("multiple_of", "multiple_of"),
    "minLength": ("string_too_short", "min_length"),
    "maxLength": ("string_too_long", "max_length"),
    "pattern": ("string_pattern_mismatch", "pattern"),
    "minItems": ("too_short", "min_length"),
    "maxItems": ("too_long", "max_length"),
    "minProperties": ("too_short", "min_length"),
    "maxProperties": ("too_long", "max_length"),
    "uniqueItems": ("unique", ""),
    "anyOf": ("no_form", ""),
    "oneOf": ("no_form", ""),
    "propertyNames": ("bad_key", ""),
    "falseSchema": ("not_allowed", ""),
    "not": ("not_allowed", ""),
}
"""A schema keyword's message, and the name that the keyword's value has in it."""

_TYPES: Mapping[str, str] = {
    "string": "string_type",
    "integer": "int_type",
    "number": "float_type",
    "boolean": "bool_type",
    "null": "none_required",
    "array": "list_type",
    "object": "dict_type",
}
"""A JSON type's message where a value is not of it."""

_UNCLEAR = frozenset({"anyOf", "oneOf", "propertyNames", "not", "minItems", "maxItems", "falseSchema"})
"""Keywords whose faults say little: the type behind them has better words."""


WORDED = frozenset({"type", "enum", "const", *_FACTS}) - _UNCLEAR
"""Keywords whose faults are worded by their schema alone, whatever the value."""


def show_path(steps: Iterable[object]) -> str:
    """Steps into a value as text: names joined by dots, positions in brackets."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def say(key: str, facts: Mapping[str, Any], fallback: str, texts: Texts = MESSAGES) -> str:
    """The text of a kind of fault; `fallback` where there is none, or the facts do not fill it."""
    try:
        return texts[key].format_map(facts)
    except (KeyError, IndexError, ValueError):
        return fallback


def add(errors: Errors, path: str, text: str) -> None:
    """Note a text at a path, once."""
    known = errors.setdefault(path, [])
    if text not in known:
        known.append(text)


def follow(steps: Sequence[Any], value: Any) -> list[Any]:
    """Those of pydantic's steps that can be taken in the value: names of union branches and `[key]` are left out."""
    taken: list[Any] = []
    for step in steps:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
            taken.append(step)
    return taken


def refused_by_type(error: ValidationError, value: Any, texts: Texts = MESSAGES) -> Errors:
    """What pydantic says of a value, by path."""
    errors: Errors = {}
    for fault in error.errors(include_url=False, include_input=False):
        path = follow(fault["loc"], value)
        if fault["type"] in ("missing", "extra_forbidden") and path[-1:] != [fault["loc"][-1]]:
            path.append(fault["loc"][-1])
        facts = fault.get("ctx", {})
        if isinstance(broken := facts.get("error"), Broken):
            for steps, key, more in broken.faults:
                add(errors, show_path([*path, *steps]), say(key, more, key.replace("_", " "), texts))
        else:
            add(errors, show_path(path), say(fault["type"], facts, fault["msg"], texts))
    return errors


def refused_by_schema(
    faults: Iterable[jsonschema_rs.ValidationError], texts: Texts = MESSAGES
) -> tuple[Errors, set[Any]]:
    """What a schema says of named arguments, by path, and the arguments of which it has little to say."""
    errors: Errors = {}
    unclear: set[Any] = set()
    listed: dict[str, str] = {}
    for fault in faults:
        kind, steps = fault.kind, fault.instance_path
        name, value = kind.name, kind.value
        if name in _UNCLEAR or (name == "type" and len(value) > 1):
            unclear.update(steps[:1])
        for told in _told(name, value, list(steps)):
            for path, key, facts in _schema_faults(told):
                text = say(key, facts, "", texts) or fault.message
                add(errors, path, text)
                if key == "enum":
                    listed[path] = text
    # Where values are listed nobody need be told of their type.
    for path, text in listed.items():
        errors[path] = [text]
    return errors, unclear


_Told = tuple[list[Any], str, Any]
"""Path, keyword, and the keyword's value."""


def _told(name: str, value: Any, path: list[Any]) -> list[_Told]:
    """A fault, or those of the members of a union that the value comes nearest to."""
    if name not in ("anyOf", "oneOf"):
        return [(path, name, value)]
    branches = [[told for fault in branch for told in _told_of(fault)] for branch in value]
    typed = [branch for branch in branches if branch and not _names(branch, path, ("type",))]
    if typed:
        return _nearest(typed)
    types = [each for branch in branches for expected in _names(branch, path, ("type",)) for each in expected]
    types = [each for each in dict.fromkeys(types) if each != "null"]
    return [(path, "type", types)] if types else [(path, name, None)]


def _told_of(fault: jsonschema_rs.ValidationError) -> list[_Told]:
    return _told(fault.kind.name, fault.kind.value, list(fault.instance_path))


def _names(branch: list[_Told], path: list[Any] | None, names: tuple[str, ...]) -> list[Any]:
    """The values of these keywords at a path, or at any for None."""
    return [value for steps, name, value in branch if name in names and path in (None, steps)]


def _nearest(branches: list[list[_Told]]) -> list[_Told]:
    """Members that a constant does not rule out, else what the constants may be: they tell the members apart."""
    open_ones = [branch for branch in branches if not _names(branch, None, ("const", "enum"))]
    if open_ones or len(branches) == 1:
        return [told for branch in open_ones or branches for told in branch]
    options: dict[str, tuple[list[Any], list[Any]]] = {}
    for steps, name, value in (told for branch in branches for told in branch):
        if name in ("const", "enum"):
            known = options.setdefault(show_path(steps), (steps, []))[1]
            known += [each for each in ([value] if name == "const" else value) if each not in known]
    return [(steps, "enum", known) for steps, known in options.values()]


def _schema_faults(told: _Told) -> list[tuple[str, str, Mapping[str, Any]]]:
    """The faults that one keyword stands for: path, message key and facts."""
    steps, name, value = told
    path = show_path(steps)
    if name == "required":
        return [(_below(path, value), "missing", {})]
    if name in ("additionalProperties", "unevaluatedProperties"):
        key = "extra_forbidden" if steps else "unknown_parameter"
        return [(_below(path, unexpected), key, {}) for unexpected in value]
    if name == "type":
        key = _TYPES.get(value[0], "wrong_type") if len(value) == 1 else "wrong_type"
        return [(path, key, {"expected": " or ".join(sorted(value))})]
    if name in ("enum", "const"):
        options = value if name == "enum" else [value]
        return [(path, "enum", {"expected": " or ".join(map(_shown, options))})]
    if name == "pattern" and value in _PATTERNS:
        return [(path, _PATTERNS[value], {})]
    key, fact = _FACTS.get(name, ("", ""))
    return [(path, key, {fact: int(value) if isinstance(value, float) and value.is_integer() else value})]


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_PATTERNS: Mapping[str, str] = {r"\S": "not_blank", DECIMAL: "decimal_parsing"}
"""Patterns that have a name."""

_JSON_WORDS: Mapping[object, str] = {None: "null", True: "true", False: "false"}


def _shown(option: object) -> str:
    return _JSON_WORDS[option] if option is None or isinstance(option, bool) else repr(option)


def merge(said: Errors, refused: Errors, *, only_refused: bool) -> Errors:
    """Both sources' words: where pydantic speaks at or under a place that the schema refuses, its words are kept.

    `only_refused` leaves out what the schema has nothing against: an answer about shape lists faults of shape alone.
    """
    if not said:
        return refused
    kept = {
        path: texts for path, texts in said.items() if not only_refused or any(_under(path, place) for place in refused)
    }
    rest = {
        place: texts
        for place, texts in refused.items()
        if not any(_under(path, place) or _under(place, path) for path in kept)
    }
    return kept | rest


def _under(path: str, place: str) -> bool:
    return path == place or not place or path.startswith((f"{place}.", f"{place}["))
