"""What happens, as numbers and log lines: the `Observer` of a worker.

A call costs one look-up of what was bound when its method was first called, three additions, and one written line.
Labels are bounded: a method, group or version that is not in the table counts as `unknown`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final

import msgspec

from rpcgw.adapters.telemetry import families
from rpcgw.adapters.telemetry.audit import Audit
from rpcgw.adapters.telemetry.current import CURRENT
from rpcgw.adapters.telemetry.families import Family
from rpcgw.adapters.telemetry.log import LEVELS, Log
from rpcgw.adapters.telemetry.rendering import ended, json_line
from rpcgw.adapters.telemetry.slots import Histogram, Number, Slots, once
from rpcgw.api.errors import (
    Abandoned,
    AssertionFailed,
    AsyncError,
    DataNotFound,
    InvalidParams,
    LockedError,
    MethodNotFound,
    NotNow,
    RpcError,
)
from rpcgw.api.records import record
from rpcgw.config.settings import Audited
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.protocol.trace import trace_id

UNKNOWN = "unknown"
_LONGEST = 200
_LINES_A_SECOND = 20

_encode = msgspec.json.Encoder().encode

Methods = Callable[[str, int], Collection[str] | None]
"""The names of the methods of a group in a version; None where there is no such version."""


class CallLine(msgspec.Struct, omit_defaults=True):
    """The log line of a call; `code` and `message` only where it failed, `trace_id` where it belongs to a trace."""

    timestamp: str
    level: str
    event: str
    id: str
    ray_id: str
    surface: str
    group: str
    version: int
    method: str
    outcome: str
    duration_ms: float
    principal: str
    trace_id: str = ""
    code: int = 0
    message: str = ""


@record(frozen=True, slots=True)
class Reaction:
    """What an event of a name does: count in `family` with these fields as labels, and be logged at `level`.

    Where it has `seconds`, the field of this name is observed there, with as many of the labels as that family has.
    `lines` is how many of it are written a second: what each request meets while a store is away is said once.
    """

    level: str = "info"
    family: Family | None = None
    labels: tuple[str, ...] = ()
    seconds: Family | None = None
    lines: int = _LINES_A_SECOND


REACTIONS: dict[str, Reaction] = {
    "cache.miss": Reaction("", families.CACHE_MISSES),
    "cache.write": Reaction("", families.CACHE_WRITES),
    "cache.joined": Reaction("", families.CACHE_JOINED),
    "cache.invalidate": Reaction("", families.CACHE_INVALIDATIONS),
    "cache.error": Reaction("warning", families.CACHE_ERRORS, lines=1),
    "cache.damaged": Reaction("warning", families.CACHE_ERRORS),
    "lock.error": Reaction("error", families.LOCK_ERRORS, lines=1),
    "lock.lost": Reaction("warning", families.LOCKS_LOST),
    "session.created": Reaction("debug", families.SESSIONS_CREATED),
    "session.ended": Reaction("debug", families.SESSIONS_ENDED),
    "session.expired": Reaction("debug", families.SESSIONS_EXPIRED),
    "session.refused": Reaction("debug"),
    "session.store_error": Reaction("error", families.SESSION_ERRORS, lines=1),
    "guard.refused": Reaction("warning", families.GUARD_REFUSALS, ("guard",)),
    "connection.late": Reaction("", families.CONNECTIONS_LATE),
    "connection.shed": Reaction("", families.CONNECTIONS_SHED),
    "accept.full": Reaction("warning"),
    "accept.exhausted": Reaction("warning"),
    "limit.reached": Reaction("info", families.LIMITED, ("limit",)),
    "limit.error": Reaction("error", families.LIMIT_ERRORS, ("limit",), lines=1),
    "breaker.opened": Reaction("warning", families.BREAKERS_OPENED, ("method",)),
    "envelope.refused": Reaction("info"),
    "listener.error": Reaction("error"),
    "methods.switched": Reaction("info"),
    "webhook.delivered": Reaction("info", families.WEBHOOKS, ("outcome",)),
    "webhook.failed": Reaction("warning", families.WEBHOOKS, ("outcome",)),
    "webhook.abandoned": Reaction("warning", families.WEBHOOKS, ("outcome",)),
    "job.queued": Reaction("info", families.JOBS, ("queue", "outcome")),
    "job.refused": Reaction("error", families.JOBS, ("queue", "outcome")),
    "job.done": Reaction("info", families.JOBS, ("queue", "outcome"), families.JOB_SECONDS),
    "job.failed": Reaction("info", families.JOBS, ("queue", "outcome"), families.JOB_SECONDS),
    "job.retried": Reaction("warning", families.JOBS, ("queue", "outcome")),
    "job.dead": Reaction("error", families.JOBS, ("queue", "outcome")),
    "job.abandoned": Reaction("warning"),
    "job.lost": Reaction("warning"),
    "job.broken": Reaction("error"),
    "queue.error": Reaction("error"),
    "webmcp.beacon": Reaction("", families.BEACONS, ("site", "outcome")),
    "webmcp.omitted": Reaction("warning"),
    "webmcp.no_data": Reaction("warning"),
    "webmcp.log_failed": Reaction("error"),
}
"""By the event's name; without a level it is only counted. Others are logged: as an error where they carry an
exception, else at `info`. Cache hits and lock conflicts are no events: calls end in them."""

_GUARDS = {401: "token", 403: "origin or token", 405: "method", 413: "size", 415: "media type", 421: "host"}


class _Calls:
    """What is bound to one surface, group, version and method. Outcomes are bound when they first come."""

    __slots__ = ("_labels", "_seconds", "_slots", "audited", "method", "middles", "tells")

    def __init__(self, slots: Slots, surface: str, group: str, version: str, method: str) -> None:
        self._slots = slots
        self.audited: Audited = "none"
        self._labels = (surface, group, version, method)
        self.method = method
        self.tells: dict[str, Callable[[float], None]] = {}
        self.middles: dict[str, str] = {}
        self._seconds: Histogram = slots.histogram(families.CALL_SECONDS, surface, group, method)

    def bind(self, outcome: str) -> Callable[[float], None]:
        """What counts a call that ended so, and its seconds."""
        number = self._slots.number(families.CALLS, *self._labels, outcome)
        tell = self.tells[outcome] = once(number, self._seconds)
        return tell

    def middle(self, call: Call, outcome: str) -> str:
        """The part of a call's JSON line that is the same for each call that ends so."""
        fields = {"surface": call.surface, "group": call.group, "version": call.version, "method": call.method}
        text = _encode({**fields, "outcome": outcome}).decode()
        known = self.middles[outcome] = f',{text[1:-1]},"duration_ms":'
        return known


class Telemetry:
    """`rpcgw.kernel.ports.Observer` over the worker's slot file and its log."""

    def __init__(
        self, slots: Slots, log: Log, methods: Methods, *, calls: bool = True, audit: Audit | None = None
    ) -> None:
        self._audit = audit
        self._slots = slots
        self._log = log
        self._methods = methods
        self._floor = log.level if calls else 1 << 30
        self._raw = log.raw
        self._stamp = log.stamp
        fields = dict.fromkeys(CallLine.__struct_fields__, "")
        self._json = log.form == "json" and log.masked(fields) == fields
        """Whether lines of calls are JSON in which nothing is hidden."""
        self._calls: dict[tuple[str, str, int, str], _Calls] = {}
        self._counted: dict[tuple[object, ...], Number] = {}
        in_flight = slots.number(families.IN_FLIGHT)
        self._flying, self._flight = in_flight.view, in_flight.start
        self._conflicts = slots.number(families.LOCK_CONFLICTS)
        self._hits = slots.number(families.CACHE_HITS)
        self._throttle = _Throttle()

    def call_started(self, call: Call) -> None:
        """Count it in flight, and let what its code logs carry its ids."""
        self._flying[self._flight] += 1.0
        CURRENT.set(call)

    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None:
        """One sample and one line."""
        CURRENT.set(None)
        self._flying[self._flight] -= 1.0
        name = "success" if type(outcome) is Done and not outcome.cached else self._named(outcome)
        series = self._calls.get((call.surface, call.group, call.version, call.method)) or self._bind(call)
        (series.tells.get(name) or series.bind(name))(seconds)
        if series.audited != "none" and self._audit is not None:
            self._audit.write(call, outcome, name, arguments=series.audited == "arguments")
        level = "info" if type(outcome) is Done else _level(outcome)
        if LEVELS[level] < self._floor:
            return
        plain = call.ray_id is call.id or call.ray_id.isprintable()
        if self._json and plain and level == "info" and series.method == call.method:
            middle = series.middles.get(name) or series.middle(call, name)
            self._quick_line(call, middle, seconds, "" if type(outcome) is Done else _fault(outcome))
        else:
            self._line(call, outcome, name, level, seconds)

    def call_failed(self, call: Call, cause: BaseException, code: int) -> None:
        """The traceback of what nobody raised on purpose; everything else is in the call's line."""
        if not isinstance(cause, RpcError) or (cause.category == "server" and cause.__cause__ is not None):
            self._log.write(
                "call.failed",
                "error",
                id=call.id,
                ray_id=call.ray_id,
                group=call.group,
                version=call.version,
                method=call.method[:_LONGEST],
                code=code,
                exception=cause,
            )

    def event(self, name: str, /, **fields: Any) -> None:
        """Count it and log it, as `REACTIONS` says; of one name so many lines a second, then their number.

        `count` says how many there were, `level` sets the level of a name without reaction; an exception in `error`
        brings its traceback along.
        """
        level = fields.pop("level", "info")
        if isinstance(error := fields.get("error"), BaseException):
            fields.setdefault("exception", error)
        reaction = REACTIONS.get(name)
        if reaction is not None:
            level = reaction.level
            if reaction.family is not None:
                labels = [fields.get(label) or _missing(label, fields) for label in reaction.labels]
                self._count(reaction.family, labels, float(fields.get("count", 1)))
                if reaction.seconds is not None:
                    own = map(str, labels[: len(reaction.seconds.labels)])
                    self._slots.histogram(reaction.seconds, *own).observe(float(fields["seconds"]))
        elif "exception" in fields:
            level = "error"
        lines = _LINES_A_SECOND if reaction is None else reaction.lines
        if LEVELS.get(level, 0) >= self._log.level and (suppressed := self._throttle.allows(name, lines)) is not None:
            self._log.write(name, level, **fields, **({"suppressed": suppressed} if suppressed else {}))

    def _count(self, family: Family, labels: list[object], amount: float) -> None:
        key = (family.name, *labels)
        known = self._counted.get(key)
        if known is None:
            known = self._slots.number(family, *map(str, labels))
            if len(self._counted) < family.limit:
                self._counted[key] = known
        known.add(amount)

    def _named(self, outcome: Outcome) -> str:
        if isinstance(outcome, Done):
            self._hits.add()
            return "cached"
        name = _outcome(outcome)
        if name == "locked":
            self._conflicts.add()
        return name

    def _bind(self, call: Call) -> _Calls:
        methods = self._methods(call.group, call.version)
        group, version = (UNKNOWN, 0) if methods is None else (call.group, call.version)
        method = call.method if methods is not None and call.method in methods else UNKNOWN
        key = (call.surface, group, version, method)
        series = self._calls.get(key)
        if series is None:
            shown = str(version) if version else UNKNOWN
            series = self._calls[key] = _Calls(self._slots, call.surface, group, shown, method)
            if self._audit is not None:
                series.audited = self._audit.wanted(group, method)
        return series

    def _line(self, call: Call, outcome: Outcome, name: str, level: str, seconds: float) -> None:
        line = CallLine(
            self._log.now(),
            level,
            "call",
            call.id,
            call.ray_id,
            call.surface,
            call.group,
            call.version,
            call.method[:_LONGEST],
            name,
            round(seconds * 1e3, 3),
            call.principal.name,
            trace_id(call.trace),
        )
        if type(outcome) is Failed:
            line.code = outcome.code
            line.message = outcome.message[:_LONGEST]
        if self._json and level == "info":
            try:
                self._raw(ended(_encode(line)))
            except UnicodeEncodeError:
                pass  # what a client sent need not be Unicode
            else:
                return
        self._log.line(msgspec.to_builtins(line))

    def _quick_line(self, call: Call, middle: str, seconds: float, fault: str) -> None:
        """The same line for nearly all calls, in JSON, of parts that are ready; `id` is letters and digits (`Ids`)."""
        own = call.id
        ray_id = f'"{own}"' if call.ray_id is own else _encode(call.ray_id).decode()
        trace = f',"trace_id":"{trace_id(call.trace)}"' if call.trace else ""
        self._raw(
            f'{{"timestamp":"{self._stamp(time.time())}","level":"info","event":"call","id":"{own}","ray_id":{ray_id}{middle}'
            f'{seconds * 1e3:.3f},"principal":{_quoted(call.principal.name)}{trace}{fault}}}\n'.encode()
        )


class _Throttle:
    """So many lines of a name in a second; the first one of a later second says how many were left out."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int]] = {}

    def allows(self, name: str, limit: int) -> int | None:
        """None where the line is to be left out; else how many were, before it."""
        second = int(time.monotonic())
        since, count = self._seen.get(name, (second, 0))
        if since == second:
            self._seen[name] = (second, count + 1)
            return 0 if count < limit else None
        self._seen[name] = (second, 1)
        return max(0, count - limit)


@lru_cache(1024)
def _quoted(text: str) -> str:
    return json_line({"": text})[4:-2].decode()


def _fault(outcome: Outcome) -> str:
    """What a failure adds to its line."""
    assert isinstance(outcome, Failed), "what succeeded has no fault"
    return f',"code":{outcome.code},"message":{_quoted(outcome.message[:_LONGEST])}'


_REFUSALS: Final = frozenset({AssertionFailed, InvalidParams, MethodNotFound})
"""How nearly all calls fail that do: by the caller's own mistake."""


def _outcome(failed: Failed) -> str:
    """What a failure counts as: the caller's fault, another call's lock, time, a caller who left, or an error."""
    error = failed.error
    if type(error) in _REFUSALS:
        return "refused"
    if isinstance(error, LockedError):
        return "locked"
    if isinstance(error, Abandoned):
        return "cancelled"
    if isinstance(error, NotNow):
        return "limited"
    if isinstance(error, AsyncError):
        return "timeout"
    return "refused" if error.category in ("user", "security") or isinstance(error, DataNotFound) else "error"


def _level(outcome: Outcome) -> str:
    assert isinstance(outcome, Failed), "only failures have levels of their own"
    if type(outcome.error) in _REFUSALS:
        return "info"
    if isinstance(outcome.error, DataNotFound | Abandoned | NotNow):
        return "info"  # ordinary answers, whatever their category
    if isinstance(outcome.error, LockedError | AsyncError):
        return "warning"
    return {"user": "info", "procedure": "info", "security": "warning", "server": "error"}[outcome.error.category]


def _missing(label: str, fields: dict[str, Any]) -> object:
    return _GUARDS.get(fields.get("status", 0), UNKNOWN) if label == "guard" else UNKNOWN
