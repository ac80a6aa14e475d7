"""The log of a worker: structlog for whoever logs, the same lines for stdlib logging, and a short way for call lines.

`Log.install` is the one place that changes what is global to the process (structlog's and logging's configuration): a
plugin's `structlog.get_logger()` and `logging.getLogger()` come out in the same form, with the call that they ran in.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import structlog

from rpcgw.adapters.telemetry.rendering import Fields, Mask, renderer, traceback_of
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.config.settings import Logging
from rpcgw.kernel.call import Call
from rpcgw.protocol.trace import trace_id

CURRENT: ContextVar[Call | None] = ContextVar("rpcgw_current_call", default=None)
"""The call whose code is running: its ids are added to what the code logs."""

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
        self._configure(cached=True)
        root = logging.getLogger()
        root.handlers[:] = [_Handler(self)]
        root.setLevel(self.level)
        logging.captureWarnings(capture=True)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Hear what structlog and stdlib logging are given until the block ends, beside whoever hears it already."""
        configured, before = structlog.is_configured(), structlog.get_config()
        root, handler = logging.getLogger(), _Handler(self)
        level = root.level
        self._configure(cached=False)
        root.addHandler(handler)
        root.setLevel(min(level, self.level))
        try:
            yield
        finally:
            root.setLevel(level)
            root.removeHandler(handler)
            if configured:
                structlog.configure(**before)
            else:
                structlog.reset_defaults()

    def _configure(self, *, cached: bool) -> None:
        structlog.configure(
            processors=[self._finish],
            wrapper_class=structlog.make_filtering_bound_logger(self.level),
            logger_factory=lambda *_: _Nowhere(),
            cache_logger_on_first_use=cached,
        )

    def _finish(self, _: object, level: str, fields: Any) -> Any:
        """The last of structlog's processors: the line is written here, and nothing is left for its logger to do."""
        found = _exception(fields.pop("exc_info", None))
        if found is not None:
            fields["exception"] = found
        # What is called here is a method's name, and `exception` is one that logs an error.
        name = "error" if level == "exception" else level
        head = {"timestamp": self.now(), "level": name, "event": fields.get("event")}
        self.line({**head, **_context(), **fields, **head})
        raise structlog.DropEvent


class _Nowhere:
    """The logger beneath structlog, never reached."""


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
        fields = {**head, "logger": record.name, **_context(), **extra, **head}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            fields["exception"] = error
        self._log.line(fields)


def _context() -> Mapping[str, Any]:
    call = CURRENT.get()
    if call is None:
        return structlog.contextvars.get_contextvars()
    ids = {"id": call.id, "ray_id": call.ray_id, "group": call.group, "method": call.method}
    if call.trace:
        ids["trace_id"] = trace_id(call.trace)
    return {**structlog.contextvars.get_contextvars(), **ids}


def _exception(given: object) -> BaseException | None:
    """What structlog's `exc_info` means: an exception, a triple, or True for the one being handled."""
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        found = given[1]
        return found if isinstance(found, BaseException) else None
    return sys.exception() if given else None
