"""Results made of content blocks: which methods return them, and their JSON on the wire. Pure.

The forms are MCP's (2026-07-28, Tools, Tool Result); bytes travel as base64 (RFC 4648 section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from rpcgw.api.content import Audio, EmbeddedResource, Image, ResourceLink, Text, ToolResult
from rpcgw.kernel.codec import NoJsonForm, encode

Wire = dict[str, Any]

_SEPARATOR: Final = b"\n"
"""Stands between blocks and structured value in what is kept; JSON as it is written here has none."""


def _text(block: Text) -> Wire:
    return {"type": "text", "text": block.text}


def _binary(kind: str) -> Callable[[Image | Audio], Wire]:
    def wire(block: Image | Audio) -> Wire:
        return {"type": kind, "data": block.data, "mimeType": block.mime_type}

    return wire


def _resource(block: EmbeddedResource) -> Wire:
    body = {"blob": block.data} if block.text is None else {"text": block.text}
    return {"type": "resource", "resource": {"uri": block.uri, **_given(mimeType=block.mime_type), **body}}


def _link(block: ResourceLink) -> Wire:
    told = _given(title=block.title, description=block.description, mimeType=block.mime_type, size=block.size)
    return {"type": "resource_link", "uri": block.uri, "name": block.name, **told}


def _given(**members: object) -> Wire:
    return {name: value for name, value in members.items() if value is not None}


_WIRES: Final[Mapping[type, Callable[[Any], Wire]]] = {
    Text: _text,
    Image: _binary("image"),
    Audio: _binary("audio"),
    EmbeddedResource: _resource,
    ResourceLink: _link,
}


def blocks_of(value: object) -> bytes:
    """The JSON array of what a procedure returned: one block, several, None for none, or a `ToolResult`'s.

    Raises:
        NoJsonForm: There is something else in it.
    """
    return encode([_wire(block) for block in _blocks(value.content if isinstance(value, ToolResult) else value)])


def structured_of(value: object) -> bytes | None:
    """The JSON object that comes beside the blocks; None where there is none.

    Raises:
        NoJsonForm: It is no object.
    """
    if not isinstance(value, ToolResult) or value.structured is None:
        return None
    encoded = encode(value.structured)
    if not encoded.startswith(b"{"):
        raise NoJsonForm("the structured part of a ToolResult must be a JSON object")
    return encoded


def packed(blocks: bytes, structured: bytes | None) -> bytes:
    """Both parts of a result in one piece, as a cache keeps them."""
    return blocks if structured is None else blocks + _SEPARATOR + structured


def unpacked(kept: bytes) -> tuple[bytes, bytes | None]:
    """The two parts of what `packed` made."""
    blocks, separator, structured = kept.partition(_SEPARATOR)
    return blocks, structured if separator else None


def _blocks(value: object) -> Iterable[object]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else (value,)


def _wire(block: object) -> Wire:
    form = _WIRES.get(type(block))
    if form is None:
        raise NoJsonForm(f"{type(block).__qualname__} is no content block")
    return form(block)


# -- which annotations mean blocks


class MixedContent(ValueError):
    """A return annotation that names content blocks and something else beside them."""


def kinds_of(hint: Any) -> tuple[type, ...]:
    """The blocks that a return annotation names, in the table's order; none where it returns a value like any other.

    Raises:
        MixedContent: It names both.
    """
    parts = set(_parts(hint, frozenset()))
    kinds = parts & _WIRES.keys()
    if ToolResult in parts:
        kinds = set(_WIRES)
    if kinds and not parts <= {*_WIRES, ToolResult, NoneType}:
        raise MixedContent("it names content blocks and other types; a rpc.ToolResult holds both")
    return tuple(kind for kind in _WIRES if kind in kinds)


def _parts(hint: Any, seen: frozenset[int]) -> Iterable[Any]:
    """The types that a hint comes down to, through unions, sequences, `Annotated` and (maybe circular) aliases."""
    if (alias := getattr(hint, "__value__", None)) is not None:
        return () if id(hint) in seen else _parts(alias, seen | {id(hint)})
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _parts(arguments[0], seen)
    if origin in (Union, UnionType) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return [part for argument in arguments if argument is not Ellipsis for part in _parts(argument, seen)]
    return [NoneType if hint is None else hint] if _is_hashable(hint) else [object]


def _is_hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True


# -- what OpenRPC says of them

_STRING: Final[Wire] = {"type": "string"}
_BASE64: Final[Wire] = {"type": "string", "contentEncoding": "base64"}


def _object(kind: str, required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> Wire:
    properties = {"type": {"type": "string", "const": kind}, **required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": ["type", *required]}


_CONTENTS: Final[Wire] = {
    "type": "object",
    "properties": {"uri": _STRING, "mimeType": _STRING, "text": _STRING, "blob": _BASE64},
    "required": ["uri"],
}
_SCHEMAS: Final[Mapping[type, Wire]] = {
    Text: _object("text", {"text": _STRING}),
    Image: _object("image", {"data": _BASE64, "mimeType": _STRING}),
    Audio: _object("audio", {"data": _BASE64, "mimeType": _STRING}),
    EmbeddedResource: _object("resource", {"resource": _CONTENTS}),
    ResourceLink: _object(
        "resource_link",
        {"uri": _STRING, "name": _STRING},
        {"title": _STRING, "description": _STRING, "mimeType": _STRING, "size": {"type": "integer"}},
    ),
}


def schema_of(kinds: Sequence[type]) -> Wire:
    """The JSON Schema of an array of these blocks."""
    branches = [_SCHEMAS[kind] for kind in kinds]
    return {"type": "array", "items": branches[0] if len(branches) == 1 else {"anyOf": branches}}


__all__ = ["MixedContent", "blocks_of", "kinds_of", "packed", "schema_of", "structured_of", "unpacked"]
