"""The log of a worker: structlog for whoever logs, the same lines for stdlib logging, and a short way for call lines.

`Log.install` is the one place that changes what is global to the process (structlog's and logging's configuration): a
plugin's `structlog.get_logger()` and `logging.getLogger()` come out in the same form, with the call that they ran in.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rpcgw.adapters.telemetry.awaited import when_imported
from rpcgw.adapters.telemetry.current import context
from rpcgw.adapters.telemetry.rendering import Fields, Mask, renderer, traceback_of
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.config.settings import Logging

LEVELS: dict[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}

_RECORD_ATTRIBUTES = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class Stamp:
    """The time as ISO 8601 in UTC, milliseconds; the date is made once a second, the text once a millisecond.

    Safe in threads.
    """

    def __init__(self) -> None:
        self._date = (-1, "")
        self._made = (-1, "")

    def __call__(self, now: float) -> str:
        """`now` in seconds since the epoch."""
        millis = int(now * 1000)
        made, text = self._made
        if made != millis:
            text = self._text(millis)
            self._made = (millis, text)
        return text

    def _text(self, millis: int) -> str:
        second, date = self._date
        if second != millis // 1000:
            second = millis // 1000
            date = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
            self._date = (second, date)
        return f"{date}{millis - 1000 * second:03}Z"


class Log:
    """Lines of one form to one sink, from a level on."""

    def __init__(self, settings: Logging, sink: Sink) -> None:
        self.level = LEVELS[settings.level]
        self.form = settings.format
        self._sink = sink
        self._mask = Mask(settings.mask)
        self._render = renderer(settings.format, colours=sink.is_terminal)
        self.stamp = Stamp()
        """The time in seconds since the epoch as lines show it."""
        self.raw = sink.write_soon
        """Takes a line that is ready, with its end, from whoever renders cheaper than this and has nothing to mask.

        It is written within `sink.SOON`.
        """

    def write(self, event: str, level: str = "info", /, **fields: Any) -> None:
        """One line, where the level is logged at all; `exception` may be an exception and appears as its traceback."""
        if LEVELS.get(level, 0) >= self.level:
            head = {"timestamp": self.now(), "level": level, "event": event}
            self.line({**head, **fields, **head})

    def line(self, fields: Fields) -> None:
        """A line of these fields, level and time included, whatever the level."""
        trace = fields.get("exception")
        if isinstance(trace, BaseException):
            fields["exception"] = traceback_of(trace)
        self._sink.write(self._render(self._mask(fields)))

    def masked(self, fields: Fields) -> Fields:
        """The fields as a line would show them: what names a secret is hidden."""
        return self._mask(fields)

    def now(self) -> str:
        """The time as lines show it."""
        return self.stamp(time.time())

    def reopen(self) -> None:
        """Follow a log file that was moved away. Raises `OSError`."""
        self._sink.reopen()

    def install(self) -> None:
        """Send what structlog and stdlib logging are given through this log, from now on and for the whole process."""
        when_imported("structlog", self._take_structlog)
        root = logging.getLogger()
        root.handlers[:] = [_Handler(self)]
        root.setLevel(self.level)
        logging.captureWarnings(capture=True)

    def _take_structlog(self) -> None:
        from rpcgw.adapters.telemetry.structured import configure  # noqa: PLC0415 -- where somebody has structlog

        configure(self, cached=True)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Hear what structlog and stdlib logging are given until the block ends, beside whoever hears it already."""
        from rpcgw.adapters.telemetry import structured  # noqa: PLC0415 -- as above

        root, handler = logging.getLogger(), _Handler(self)
        level = root.level
        root.addHandler(handler)
        root.setLevel(min(level, self.level))
        try:
            with structured.beside(self):
                yield
        finally:
            root.setLevel(level)
            root.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line for a record: the message, the logger's name, and what the caller gave as `extra`."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = str(record.msg)
        extra = {key: value for key, value in record.__dict__.items() if key not in _RECORD_ATTRIBUTES}
        head = {"timestamp": self._log.now(), "level": record.levelname.lower(), "event": message}
        fields = {**head, "logger": record.name, **context(), **extra, **head}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            fields["exception"] = error
        self._log.line(fields)
