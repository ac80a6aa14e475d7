"""A tool as a page gets it (W-03): a manifest's own words, its primitive's fields as `data`, hints. Pure.

docs/reference/webmcp-payload.md describes the JSON.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from rpcgw.api.webmcp import Call, Confirm, Form, Mailto, Manifest, Module, Primitive, Search, StaticList
from rpcgw.protocol.webmcp.arguments import input_schema

Json = dict[str, Any]

_READ_ONLY: Final = (Search, StaticList)
_UNTRUSTED: Final = (Search, Call)


def entry(manifest: Manifest) -> Json:
    """A tool of any primitive but `call`, whose method says more; members that say nothing are left out."""
    primitive = manifest.primitive
    consequential = is_consequential(manifest)
    made: Json = {
        "name": manifest.name,
        "title": manifest.title,
        "description": manifest.description,
        "inputSchema": dict(input_schema(primitive) if manifest.input_schema is None else manifest.input_schema),
        "outputSchema": None if manifest.output_schema is None else dict(manifest.output_schema),
        "primitive": primitive.wire,
        "data": data_of(primitive),
        "moduleUrl": primitive.url if isinstance(primitive, Module) else None,
        "annotations": hints_of(manifest),
        "confirm": wire(manifest.confirm or Confirm()) if manifest.confirm or consequential else None,
    }
    made["inputSchema"].setdefault("type", "object")
    return {name: value for name, value in made.items() if value is not None}


def hints_of(manifest: Manifest) -> dict[str, bool]:
    """The hints of a tool: what its manifest says, else what its primitive does."""
    primitive = manifest.primitive
    hints = {
        "readOnlyHint": _or(manifest.read_only, isinstance(primitive, _READ_ONLY)),
        "untrustedContentHint": _or(manifest.untrusted, isinstance(primitive, _UNTRUSTED)),
        "consequentialHint": is_consequential(manifest),
    }
    return hints | {"debugging": True} if manifest.debugging else hints


def is_consequential(manifest: Manifest) -> bool:
    """Whether a visitor is asked first. A call is, unless its manifest says that it only reads."""
    primitive = manifest.primitive
    derived = isinstance(primitive, Mailto) or (isinstance(primitive, Form) and primitive.submit)
    derived = derived or (isinstance(primitive, Call) and not manifest.read_only)
    return _or(manifest.consequential, derived)


def data_of(primitive: Primitive) -> Json:
    """A primitive's fields under their names on the wire, and its `extra` as it is, which never replaces one."""
    own: Json = wire(primitive)
    extra = own.pop("extra")
    if isinstance(primitive, Module | Call):
        own = {}
    if isinstance(primitive, Mailto):
        own["to"] = base64.b64encode(primitive.to.encode()).decode()
    if isinstance(primitive, Form):
        own["fields"] = [{**field, "param": field["param"] or field["name"]} for field in own["fields"]]
    return {**extra, **own}


def wire(value: Any) -> Any:
    """A value in JSON: dataclasses become objects with names in camelCase; a field that is None is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {camel(name): value if name == "extra" else wire(value) for name, value in named if value is not None}
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def camel(name: str) -> str:
    """`index_url` as `indexUrl`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _or(said: bool | None, derived: bool) -> bool:  # noqa: FBT001 -- two values of the same kind
    return derived if said is None else said
