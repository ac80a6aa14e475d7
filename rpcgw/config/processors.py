"""What may stand before a variable's name in `%env(...)%`: one value in, one out. Pure.

Names and meanings are those of Symfony's environment variable processors, as far as they mean something outside PHP.
"""

from __future__ import annotations

import base64
import binascii
import csv
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_TRUE = ("1", "true", "on", "yes")
_FALSE = ("0", "false", "off", "no", "")


def _bool(text: str, _: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError("it must be one of true, yes, on, 1, false, no, off, 0, or empty")
    return word in _TRUE


def _int(text: str, _: str) -> int:
    if not re.fullmatch(r"\s*[-+]?[0-9]{1,100}\s*", text):
        raise ValueError("it must be a whole number")
    return int(text)


def _float(text: str, _: str) -> float:
    if not re.fullmatch(r"\s*[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\s*", text):
        raise ValueError("it must be a number")
    return float(text)


def _json(text: str, _: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it must be JSON") from None


def _csv(text: str, _: str) -> list[str]:
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True)) if text else []
    except csv.Error:
        raise ValueError("it must be one line of comma-separated values") from None
    return [cell.strip() for row in rows for cell in row]


def _base64(text: str, _: str) -> str:
    compact = "".join(text.split()).translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise ValueError("it must be text in base64") from None


def _url(text: str, _: str) -> dict[str, Any]:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("it must be a URL") from None
    if not parts.scheme or parts.hostname is None:
        raise ValueError("it must be a URL with a scheme and a host")
    return {
        "scheme": parts.scheme,
        "host": parts.hostname,
        "port": port,
        "user": None if parts.username is None else unquote(parts.username),
        "pass": None if parts.password is None else unquote(parts.password),
        "path": parts.path.removeprefix("/") or None,
        "query": parts.query or None,
        "fragment": parts.fragment or None,
    }


_PROCESSORS: Mapping[str, Callable[[str, str], Any]] = {
    "bool": _bool,
    "int": _int,
    "float": _float,
    "string": lambda text, _: text,
    "json": _json,
    "csv": _csv,
    "trim": lambda text, _: text.strip(),
    "not": lambda text, name: not _bool(text, name),
    "base64": _base64,
    "url": _url,
    "query_string": lambda text, _: dict(parse_qsl(text, keep_blank_values=True)),
    "urlencode": lambda text, _: quote(text, safe="-_.~"),
}

ARGUED = ("key", "default")
"""Processors with an argument of their own: `key:<index>:...`, `default:<parameter>:...`."""
PROCESSORS = (*_PROCESSORS, "file", "resolve", "defined", *ARGUED)
"""The names that may stand before a variable in `%env(...)%`, the last one applied first."""


def process(processor: str, text: str, name: str) -> Any:
    """What one of the plain processors makes of the text of a variable. Raises ValueError with the reason."""
    return _PROCESSORS[processor](text, name)


def at_key(value: Any, key: str) -> Any:
    """What `key:<index>` takes out of a mapping or a list. Raises KeyError; TypeError where it is neither."""
    match value:
        case dict():
            return value[key]
        case list():
            if key.isascii() and key.isdigit() and int(key) < len(value):
                return value[int(key)]
            raise KeyError(key)
        case _:
            raise TypeError
