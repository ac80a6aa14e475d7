"""`key=value` words of a command line as the JSON values that a method takes. Pure.

The method's schema decides: where it wants a string, the word is one; elsewhere the word is read as JSON, and is a
string where it is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class NotAnArgumentError(ValueError):
    """A word that is no `key=value`."""


def arguments(words: Iterable[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name.

    Raises:
        NotAnArgumentError: A word has no `=`, or a name comes twice.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise NotAnArgumentError(f"{word!r} is no key=value")
        if name in found:
            raise NotAnArgumentError(f"{name!r} is given twice")
        found[name] = _value(text, schema.get("properties", {}).get(name, {}))
    return found


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
