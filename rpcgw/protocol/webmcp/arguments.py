"""The arguments that a primitive takes, as a JSON Schema, where a manifest says nothing of them. Pure.

Only keywords that browsers are going to keep (type, properties, required, enum, minimum, maximum, additionalProperties,
description), so that no tool vanishes the day they refuse the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rpcgw.api.webmcp import Form, Mailto, Navigate, Primitive, Search, StaticList
from rpcgw.protocol.webmcp.placeholders import placeholders

Schema = dict[str, Any]


def input_schema(primitive: Primitive) -> Schema:
    """The schema of a primitive's arguments; of a `Module` anything is taken, a `Call` has its method's."""
    make = _SCHEMAS.get(type(primitive))
    return {"type": "object"} if make is None else make(primitive)


def _navigate(navigate: Navigate) -> Schema:
    places = {"type": "string", "enum": [option.match for option in navigate.options]}
    return _object({navigate.param: places}, [navigate.param])


def _search(search: Search) -> Schema:
    query = {"type": "string", "description": "Words to look for; every one has to occur."}
    limit = {
        "type": "integer",
        "minimum": 1,
        "maximum": search.limit_maximum,
        "description": f"How many results; {search.limit_default} where it is not given.",
    }
    required = [search.query_param] if search.query_required else []
    return _object({search.query_param: query, search.limit_param: limit}, required)


def _mailto(mail: Mailto) -> Schema:
    """Every argument that the subject or the body is made of; lines that are not optional need theirs."""
    lines: Mapping[str, Schema] = {
        line.param: {"type": "string", "description": line.label} for line in mail.body_lines
    }
    subject = {name: {"type": "string"} for name in placeholders(mail.subject_template) if name != "to"}
    message = {mail.message_param: {"type": "string"}} if mail.message_param else {}
    required = [line.param for line in mail.body_lines if not line.optional]
    return _object({**subject, **lines, **message}, [*required, *message])


def _form(form: Form) -> Schema:
    properties: dict[str, Schema] = {}
    for field in form.fields:
        said = {"description": field.description} if field.description else {}
        properties[field.param or field.name] = {"type": "string", **said}
    return _object(properties, [field.param or field.name for field in form.fields if field.required])


def _static(_: StaticList) -> Schema:
    return _object({})


def _object(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if needed := list(dict.fromkeys(required)):
        schema["required"] = needed
    return {**schema, "additionalProperties": False}


_SCHEMAS: Mapping[type, Callable[[Any], Schema]] = {
    Navigate: _navigate,
    Search: _search,
    Mailto: _mailto,
    StaticList: _static,
    Form: _form,
}
