"""What a log line looks like: JSON, logfmt or console, with secrets masked. Functions from fields to a line's bytes.

No field can end its line or move a terminal's cursor: JSON escapes control characters by itself, the other two get them
escaped. Only a traceback has several lines, on the console.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Literal

import msgspec

Fields = dict[str, Any]
Render = Callable[[Fields], bytes]
Format = Literal["json", "logfmt", "console"]

MASKED = "***"
_LONGEST_TRACE = 16_384
_DEEPEST = 8
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_KEY = re.compile(r"[^\w.-]")
# JSON leaves these alone, a terminal does not: DEL, the C1 controls, the line ends of Unicode.
_RAW_CONTROL = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")


def renderer(form: Format, *, colours: bool = False) -> Render:
    """The function that makes a line of fields; it never raises because of what they hold."""
    match form:
        case "json":
            return json_line
        case "logfmt":
            return _logfmt()
        case "console":
            return _console(colours)


def json_line(fields: Fields) -> bytes:
    """One line of JSON; what has no JSON form appears as Python writes it."""
    try:
        line = _encoder.encode(fields)
    except (TypeError, ValueError, OverflowError, RecursionError):
        line = _encoder.encode({_encodable(key): _encodable(value) for key, value in fields.items()})
    return ended(line)


def ended(line: bytes) -> bytes:
    """A line of JSON with its end; nothing in it can end it earlier, or move a terminal's cursor."""
    return _RAW_CONTROL.sub(_escaped_bytes, line) + b"\n"


def _logfmt() -> Render:
    from structlog.processors import LogfmtRenderer  # noqa: PLC0415 -- structlog is loaded where lines look so

    render = LogfmtRenderer(key_order=["timestamp", "level", "event"], drop_missing=True, bool_as_flag=False)

    def line(fields: Fields) -> bytes:
        tame = {_NO_KEY.sub("_", str(key)): _tamed(value) for key, value in fields.items()}
        return _bytes(render(None, "", tame))

    return line


def _console(colours: bool) -> Render:  # noqa: FBT001 -- the renderer's own word
    from structlog.dev import ConsoleRenderer, plain_traceback  # noqa: PLC0415 -- as above

    render = ConsoleRenderer(colors=colours, exception_formatter=plain_traceback, sort_keys=False)

    def line(fields: Fields) -> bytes:
        tame: Fields = {
            _CONTROL.sub(_escaped, str(key)): value if key == "exception" else _tamed(value)
            for key, value in fields.items()
        }
        return _bytes(render(None, "", tame))

    return line


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _tamed(value: object) -> object:
    if isinstance(value, str):
        return _CONTROL.sub(_escaped, value)
    return value if value is None or isinstance(value, bool | int | float) else _CONTROL.sub(_escaped, shown(value))


def _escaped(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def shown(value: object) -> str:
    """Something that has no JSON form, as Python writes it."""
    try:
        return ascii(value)
    except Exception as error:  # noqa: BLE001 -- an author's __repr__ may raise anything; the line must be written
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _encodable(value: object) -> str:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else shown(value)


def _escaped_bytes(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())


def traceback_of(error: BaseException) -> str:
    """An exception's traceback with its causes; the middle of a very long one is left out."""
    text = "".join(traceback.format_exception(error)).rstrip()
    if len(text) <= _LONGEST_TRACE:
        return text
    half = _LONGEST_TRACE // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"


_encoder = msgspec.json.Encoder(enc_hook=shown)


class Mask:
    """Hides values whose key names a secret, at any depth. `api_key` hides `API-Key` and `x_api_key` too."""

    def __init__(self, names: Collection[str]) -> None:
        plain_names = tuple(_plain(name) for name in names)
        self._is_secret = lru_cache(4096)(lambda key: any(name in _plain(key) for name in plain_names))

    def __call__(self, fields: Fields) -> Fields:
        """The fields with secrets replaced by `***`."""
        return {key: self._value(key, value, _DEEPEST) for key, value in fields.items()}

    def _value(self, key: object, value: Any, depth: int) -> Any:
        if isinstance(key, str) and value is not None and self._is_secret(key[:200]):
            return MASKED
        if isinstance(value, Mapping) and depth:
            return {inner: self._value(inner, item, depth - 1) for inner, item in value.items()}
        if isinstance(value, list | tuple) and depth:
            return [self._value(None, item, depth - 1) for item in value]
        return value if depth or not isinstance(value, Mapping | list | tuple) else MASKED


def _plain(key: str) -> str:
    return key.lower().replace("-", "_")
