"""structlog as plugins use it: what they log comes out as a line of ours. Imported once a plugin has structlog."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from rpcgw.adapters.telemetry.current import context

if TYPE_CHECKING:
    from rpcgw.adapters.telemetry.log import Log


def configure(log: Log, *, cached: bool) -> None:
    """Send what structlog is given through a log, from now on and for the whole process."""
    structlog.configure(
        processors=[partial(_finish, log)],
        wrapper_class=structlog.make_filtering_bound_logger(log.level),
        logger_factory=lambda *_: _Nowhere(),
        cache_logger_on_first_use=cached,
    )


@contextmanager
def beside(log: Log) -> Iterator[None]:
    """The same until the block ends."""
    configured, before = structlog.is_configured(), structlog.get_config()
    configure(log, cached=False)
    try:
        yield
    finally:
        if configured:
            structlog.configure(**before)
        else:
            structlog.reset_defaults()


def _finish(log: Log, _: object, level: str, fields: Any) -> Any:
    """The last of structlog's processors: the line is written here, and nothing is left for its logger to do."""
    found = _exception(fields.pop("exc_info", None))
    if found is not None:
        fields["exception"] = found
    # What is called here is a method's name, and `exception` is one that logs an error.
    name = "error" if level == "exception" else level
    head = {"timestamp": log.now(), "level": name, "event": fields.get("event")}
    log.line({**head, **context(), **fields, **head})
    raise structlog.DropEvent


class _Nowhere:
    """The logger beneath structlog, never reached."""


def _exception(given: object) -> BaseException | None:
    """What structlog's `exc_info` means: an exception, a triple, or True for the one being handled."""
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        found = given[1]
        return found if isinstance(found, BaseException) else None
    return sys.exception() if given else None
