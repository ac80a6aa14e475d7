"""How problems speak: values, types, lists of choices, and what was probably meant. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping",
    "string": "a string",
}

_SHOWN = 60
_CREDENTIALS = re.compile(r"://[^/\s]*@")


def type_names(names: str | Iterable[str]) -> str:
    """JSON Schema's type names in words: `a string or a list`."""
    wanted = [names] if isinstance(names, str) else list(names)
    return " or ".join(_TYPES[name] for name in wanted)


def quoted(text: str) -> str:
    """Text in double quotes: control characters escaped, credentials of a URL left out, cut where it is long."""
    text = _CREDENTIALS.sub("://...@", text)
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return json.dumps(shown, ensure_ascii=not shown.isprintable())


def choices(names: Iterable[str]) -> str:
    """`"a", "b", "c"`."""
    return ", ".join(f'"{name}"' for name in names)


def described(value: Any, *, secret: bool = False) -> str:
    """A value in words. A secret one is named by its type alone."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "nothing"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case str():
            return "this string" if secret else f"the string {quoted(value)}"
        case _:
            return "this number" if secret else f"the number {value}"


def meant(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?`, or nothing where no known word is near."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else ""
