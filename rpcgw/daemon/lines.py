"""Log lines of the processes that load no logging library: the supervisor, the template, a worker before it serves.

One `os.write` a line, so that lines of several processes never mix. Standard library only.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

STDERR = 2


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, default=str, separators=(",", ":"))


def _logfmt(fields: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_word(value)}" for name, value in fields.items())


def _console(fields: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in fields.items() if name not in {"timestamp", "level", "event"}}
    trace = rest.pop("exception", None)
    line = f"{str(fields['timestamp'])[11:19]} {fields['level']:<7} {fields['event']:<20} {_logfmt(rest)}".rstrip()
    return f"{line}\n{trace}" if trace else line


def _word(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if text and not any(mark in text for mark in ' "=\n') else json.dumps(text, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"json": _json, "logfmt": _logfmt, "console": _console}


class Lines:
    """Writes events as lines; `form` is one of `FORMATS` and may change when the configuration is known."""

    def __init__(self, form: str = "json", descriptor: int = STDERR) -> None:
        self.form = form
        self._descriptor = descriptor

    def __call__(self, name: str, /, level: str = "info", **fields: Any) -> None:
        """Write one event; an `exception` becomes its traceback. Never raises."""
        if isinstance(error := fields.get("exception"), BaseException):
            fields["exception"] = "".join(traceback.format_exception(error)).rstrip()
            level = "error"
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = FORMATS[self.form]({"timestamp": now, "level": level, "event": name, **fields, "pid": os.getpid()})
        with suppress(OSError):  # where nobody reads our log any more, serving goes on
            os.write(self._descriptor, f"{line}\n".encode(errors="backslashreplace"))
