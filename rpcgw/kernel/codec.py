"""JSON in and out: bytes -> values and values -> bytes. Pure; the only home of msgspec's decoder and encoder.

What comes in is held to RFC 8259 to the letter: UTF-8 without a byte order mark, no NaN or Infinity, and nothing nested
deeper than `MAX_DEPTH`, since pydantic's parser stops there and others have been seen to crash beyond. Integers are
exact, up to Python's own limit of 4,300 digits; longer ones are refused.

What goes out is encoded by the value's own type at run time, so that `/rpc`, MCP and the cache share one dialect.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import isfinite
from types import NoneType
from typing import Any

import msgspec
from pydantic import BaseModel, PlainSerializer, SerializeAsAny, WrapSerializer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

MAX_DEPTH = 200
"""How deep arrays and objects may be nested in what comes in."""

TOO_DEEP = f"is nested too deeply ({MAX_DEPTH} levels at most)"


class NotJson(ValueError):
    """Bytes that are no JSON which rpcgw reads; `reason` is for people."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NoJsonForm(ValueError):
    """A value that cannot be written as JSON; `reason` is for people."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def decode(body: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        NotJson: Whatever is wrong with the bytes.
    """
    value = decode_own(body)
    # A text with fewer opening brackets than the limit cannot be too deep: nearly every text is settled by counting.
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and is_too_deep(value):
        raise NotJson(TOO_DEEP)
    return value


def decode_own(body: bytes) -> Any:
    """As `decode`, for what `encode` has made, however deep it is: to look at that costs more than all else here.

    Raises:
        NotJson: Whatever is wrong with the bytes.
    """
    try:
        return _decoder.decode(body)
    except RecursionError:
        raise NotJson(TOO_DEEP) from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise NotJson(str(error)) from None


def encode(value: object) -> bytes:
    """A value as JSON text.

    Dataclasses, pydantic models, TypedDicts, enums (by value), dates (ISO 8601), UUID, Decimal (as text), bytes
    (base64), sets, mappings, and what pydantic knows beside these. NaN and infinity become `null`: `find_non_finite`
    finds them where that is not wanted. Iterators are refused, since reading them is the author's decision.

    Raises:
        NoJsonForm: The value has a part that JSON cannot carry.
    """
    return encoded(_encoder.encode, value)


def encoded(encoder: Callable[[Any], bytes], value: object) -> bytes:
    """What `encoder` makes of a value; its many exceptions become `NoJsonForm`.

    Raises:
        NoJsonForm: The encoder could not.
    """
    try:
        return encoder(value)
    except RecursionError:
        raise NoJsonForm("it is nested too deeply, or contains itself") from None
    except UnicodeEncodeError:
        raise NoJsonForm("a text in it holds half of a surrogate pair") from None
    except (TypeError, ValueError, PydanticSerializationError) as error:
        raise NoJsonForm(str(error)) from None


def is_too_deep(value: object) -> bool:
    """Whether arrays and objects in a decoded value are nested deeper than `MAX_DEPTH`; walks level by level."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def find_non_finite(value: object) -> str | None:
    """The path of the first NaN or infinity in a value that `encode` takes, such as `items[2].price`; None without one.

    The path of the value itself is the empty string.
    """
    todo: list[tuple[str, object]] = [("", msgspec.to_builtins(value, enc_hook=_as_json))]
    while todo:
        path, node = todo.pop()
        if isinstance(node, float):
            if not isfinite(node):
                return path
        elif isinstance(node, dict):
            todo.extend((f"{path}.{key}" if path else str(key), child) for key, child in reversed(node.items()))
        elif isinstance(node, list | tuple):
            todo.extend((f"{path}[{index}]", node[index]) for index in reversed(range(len(node))))
    return None


def _as_json(value: Any) -> object:
    """What msgspec asks for a value, or a key, of a type that it does not know."""
    for kind, form in _FORMS:
        if isinstance(value, kind):
            return form(value)
    try:
        return to_jsonable_python(value, by_alias=True)
    except PydanticSerializationError:
        return _refuse(value)


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__qualname__} has no JSON form")


def _refuse_key(value: object) -> object:
    raise TypeError(f"{type(value).__qualname__} is no key of a JSON object")


def _model(value: BaseModel) -> object:
    fields = value.__dict__
    # A cached property keeps its value among the fields.
    if is_transparent(type(value)) and len(fields) == len(type(value).model_fields):
        return fields
    return msgspec.Raw(value.__pydantic_serializer__.to_json(value, by_alias=True))


@lru_cache(maxsize=1024)
def is_transparent(model: type[BaseModel]) -> bool:
    """Whether a model's JSON is just its fields by their names: nothing is renamed, left out, computed or added.

    Encoding such a model's `__dict__` gives the same as its own serializer, and is five times as fast.
    """
    decorators = model.__pydantic_decorators__
    return (
        model.model_config.get("extra") != "allow"
        and not model.__pydantic_root_model__
        and not any(name.startswith("ser_json") or name == "json_encoders" for name in model.model_config)
        and not (decorators.field_serializers or decorators.model_serializers or decorators.computed_fields)
        and not any(_is_configured(field) for field in model.model_fields.values())
    )


def _is_configured(field: FieldInfo) -> bool:
    if field.alias or field.serialization_alias or field.exclude or field.exclude_if:
        return True
    return any(isinstance(note, PlainSerializer | WrapSerializer | SerializeAsAny) for note in field.metadata)


_FORMS: tuple[tuple[type | tuple[type, ...], Callable[[Any], object]], ...] = (
    (BaseModel, _model),
    # msgspec asks for these only where they are keys; JSON's keys are texts, and "true" would be a guess.
    ((bool, NoneType, tuple, frozenset), _refuse_key),
    ((Iterator, ValuesView, complex, re.Pattern), _refuse),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (bytes, bytes.__bytes__),
    (Mapping, dict),
    ((AbstractSet, Sequence, deque), list),
)
"""Ordered: the first kind that fits says how a value is written. What fits none is left to pydantic."""

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder(enc_hook=_as_json)
