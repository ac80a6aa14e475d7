"""What jsonschema finds wrong with a value (Draft 2020-12, as strict as YAML is meant): imported where something is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from rpcgw.api.records import record
from rpcgw.config.nodes import Path


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


def _pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[jsonschema.ValidationError]:
    # in Python `$` also stands before a last newline; in a JSON Schema it must not
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield jsonschema.ValidationError("does not match")


_STRICT = jsonschema.validators.create(
    meta_schema=jsonschema.Draft202012Validator.META_SCHEMA,
    validators={**jsonschema.Draft202012Validator.VALIDATORS, "pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    ),
)


@record(frozen=True, slots=True)
class Finding:
    """What jsonschema found at one value: the keyword, what it asks for, the value, the schema around it."""

    path: Path
    rule: str
    limit: Any
    instance: Any
    schema: Mapping[str, Any]
    in_names: bool


def findings(schema: Mapping[str, Any], value: Any) -> Iterator[Finding]:
    """Everything that a schema refuses in a value."""
    for error in _STRICT(schema).iter_errors(value):
        around = error.schema if isinstance(error.schema, Mapping) else {}
        in_names = "propertyNames" in error.absolute_schema_path
        path: Path = tuple(error.absolute_path)
        yield Finding(path, str(error.validator), error.validator_value, error.instance, around, in_names)
