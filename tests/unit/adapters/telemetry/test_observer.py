"""The observer of a worker: what a call and an event become."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from prometheus_client import CollectorRegistry

from rpcgw.adapters.telemetry.collector import registry
from rpcgw.adapters.telemetry.current import CURRENT
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.observer import Telemetry
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.adapters.telemetry.slotfile import SlotFile
from rpcgw.adapters.telemetry.slots import Slots
from rpcgw.api import errors
from rpcgw.api.context import Principal
from rpcgw.api.errors import RpcError
from rpcgw.config.settings import Logging
from rpcgw.kernel.call import Call, Done, Failed, Outcome
from rpcgw.kernel.ports import Observer

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
METHODS = {("mcp", 1): {"Catalog.search", "Catalog.rename"}, ("general", 1): {"ping"}}


class Desk:
    """An observer, and what it wrote."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = SlotFile(str(directory / "g1-0.slot"))
        self.sink = Sink(str(directory / "log"))

    def observer(self, *, calls: bool = True, **logging: Any) -> Telemetry:
        log = Log(Logging(**logging), self.sink)
        return Telemetry(Slots(self.file), log, lambda group, version: METHODS.get((group, version)), calls=calls)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "log").read_bytes().splitlines()]

    @property
    def metrics(self) -> CollectorRegistry:
        return registry(str(self.directory))

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.get_sample_value(name, labels)

    def calls(self) -> dict[str, float]:
        """`surface group version method outcome` -> how many."""
        keys = ("surface", "group", "version", "method", "outcome")
        return {
            " ".join(sample.labels[key] for key in keys): sample.value
            for metric in self.metrics.collect()
            for sample in metric.samples
            if sample.name == "rpcgw_calls_total"
        }


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.file.close()
    desk.sink.close()


def call(method: str = "Catalog.search", group: str = "mcp", version: int = 1, **more: Any) -> Call:
    return Call(method, group, version, None, "kernel1", "mcp", **({"ray_id": "ray1"} | more))


def failed(error: RpcError) -> Failed:
    return Failed(error.wire_code, error.message, {}, error)


def run(observer: Observer, one: Call, outcome: Outcome, seconds: float = 0.0125) -> None:
    observer.call_started(one)
    observer.call_finished(one, outcome, seconds)


def test_a_call_is_one_line(desk: Desk) -> None:
    """Who called what, through which surface, how it ended and how long it took."""
    run(desk.observer(), call(principal=Principal("shop")), Done(b"1"))
    [line] = desk.lines
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info",
        "event": "call",
        "id": "kernel1",
        "ray_id": "ray1",
        "surface": "mcp",
        "group": "mcp",
        "version": 1,
        "method": "Catalog.search",
        "outcome": "success",
        "duration_ms": 12.5,
        "principal": "shop",
    }


@pytest.mark.parametrize("outcome", [Done(b"1"), failed(errors.InternalError())], ids=["success", "error"])
def test_a_call_of_a_trace_names_it(desk: Desk, outcome: Outcome) -> None:
    """The 32 digits that a whole chain of calls has in common."""
    run(desk.observer(), call(trace={"traceparent": PARENT}), outcome)
    assert [line["trace_id"] for line in desk.lines] == ["0af7651916cd43dd8448eb211c80319c"]


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(call(), id="plain"),
        pytest.param(call(ray_id=""), id="without a trace"),
        pytest.param(call(ray_id='a"b\\c'), id="a trace with quotes"),
        pytest.param(call(ray_id="слід"), id="a trace in Ukrainian"),
        pytest.param(call(ray_id="a\nb\x9b"), id="a trace with control characters"),
        pytest.param(call(principal=Principal('x"\n\u2028')), id="a name with everything"),
    ],
)
@pytest.mark.parametrize("form", ["json", "logfmt", "console"])
def test_a_call_is_one_line_whatever_the_client_sent(
    desk: Desk, one: Call, form: Literal["json", "logfmt", "console"]
) -> None:
    """The quick line says what the thorough one would, and nothing ends it early."""
    run(desk.observer(format=form), one, Done(b"1"))
    text = (desk.directory / "log").read_text("utf-8")
    assert text.count("\n") == 1
    assert not [character for character in text[:-1] if not character.isprintable()]
    if form == "json":
        assert (desk.lines[0]["ray_id"], desk.lines[0]["principal"]) == (one.ray_id, one.principal.name)


@pytest.mark.parametrize("message", ["no", 'say "no"', "line\none", "DEL\x7f and \u2028", "ні", "half of \ud83d"])
def test_a_refused_call_is_one_line_whatever_its_message_holds(desk: Desk, message: str) -> None:
    """The quick line of a refusal has its code and its words, and nothing ends it early."""
    run(desk.observer(), call(), failed(errors.InvalidParams(message)))
    text = (desk.directory / "log").read_text("utf-8")
    assert text.count("\n") == 1
    assert not [character for character in text[:-1] if not character.isprintable()]
    said = message.encode("utf-8", "backslashreplace").decode()
    assert (desk.lines[0]["code"], desk.lines[0]["message"]) == (-32602, said)


@pytest.mark.parametrize("outcome", [Done(b"1"), failed(errors.InvalidParams())], ids=["success", "refused"])
def test_a_masked_field_is_hidden_in_the_lines_of_calls(desk: Desk, outcome: Outcome) -> None:
    """What `logging.mask` names has no quick way around it."""
    run(desk.observer(mask=("principal",)), call(principal=Principal("shop")), outcome)
    assert [line["principal"] for line in desk.lines] == ["***"]


OUTCOMES = [
    pytest.param(Done(b"1"), "success", "info", None, id="success"),
    pytest.param(Done(b"1", cached=True), "cached", "info", None, id="from the cache"),
    pytest.param(failed(errors.InvalidParams("no id")), "refused", "info", -32602, id="wrong parameters"),
    pytest.param(failed(errors.AssertionFailed()), "refused", "info", -32602, id="a failed assertion"),
    pytest.param(failed(errors.TokenInvalid()), "refused", "warning", -32403, id="a wrong token"),
    pytest.param(failed(errors.LockedError()), "locked", "warning", -32400, id="another holds the lock"),
    pytest.param(failed(errors.AsyncError("late")), "timeout", "warning", -32300, id="past the deadline"),
    pytest.param(failed(errors.ApplicationError("sold", code=7)), "error", "info", 7, id="the application says no"),
    pytest.param(failed(errors.InternalError()), "error", "error", -32603, id="nobody foresaw it"),
]


@pytest.mark.parametrize(("outcome", "name", "level", "code"), OUTCOMES)
def test_outcomes_have_a_name_a_level_and_a_code(
    desk: Desk, outcome: Outcome, name: str, level: str, code: int | None
) -> None:
    """Counted by name, logged by category, the client's code and message in the line where it failed."""
    run(desk.observer(), call(), outcome)
    [line] = desk.lines
    assert (line["outcome"], line["level"], line.get("code")) == (name, level, code)
    assert desk.calls() == {f"mcp mcp 1 Catalog.search {name}": 1.0}
    seconds = {"surface": "mcp", "group": "mcp", "method": "Catalog.search"}
    assert desk.value("rpcgw_call_duration_seconds_count", **seconds) == 1
    assert desk.value("rpcgw_cache_hits_total") == (name == "cached")
    assert desk.value("rpcgw_lock_conflicts_total") == (name == "locked")


def test_calls_are_in_flight_until_they_end(desk: Desk) -> None:
    """The gauge goes up and down."""
    observer = desk.observer()
    observer.call_started(call())
    observer.call_started(call())
    assert desk.value("rpcgw_calls_in_flight") == 2
    observer.call_finished(call(), Done(b""), 1)
    observer.call_finished(call(), failed(errors.InternalError()), 1)
    assert desk.value("rpcgw_calls_in_flight") == 0


def test_a_running_call_is_what_its_code_logs_under(desk: Desk) -> None:
    """From its start to its end, and no longer."""
    observer, one = desk.observer(), call()
    observer.call_started(one)
    assert CURRENT.get() is one
    observer.call_finished(one, Done(b""), 1)
    assert CURRENT.get() is None


def test_nobody_makes_labels_by_asking_for_what_is_not_there(desk: Desk) -> None:
    """Unknown methods, versions and groups are one series each; the line still says what was asked for."""
    observer = desk.observer()
    missing = failed(errors.MethodNotFound())
    for number in range(50):
        run(observer, call(f"Catalog.guess{number}"), missing)
        run(observer, call(version=number + 7), missing)
        run(observer, call(group=f"guess{number}"), missing)
    assert desk.calls() == {"mcp mcp 1 unknown refused": 50.0, "mcp unknown unknown unknown refused": 100.0}
    assert desk.lines[0]["method"] == "Catalog.guess0"
    assert len(observer._calls) == 2


def test_a_long_name_does_not_make_a_long_line(desk: Desk) -> None:
    """What a client made up is cut."""
    run(desk.observer(), call("x" * 10_000), failed(errors.MethodNotFound("y" * 10_000)))
    assert len(json.dumps(desk.lines[0])) < 1000


def test_call_lines_can_be_turned_off(desk: Desk) -> None:
    """`logging.calls: false` and a higher level leave the numbers alone."""
    run(desk.observer(calls=False), call(), failed(errors.InternalError()))
    run(desk.observer(level="warning"), call(), Done(b""))
    assert desk.lines == []
    assert sum(desk.calls().values()) == 2


def test_what_nobody_raised_on_purpose_is_logged_with_its_traceback(desk: Desk) -> None:
    """Once, at error, with the ids that the client's answer has."""
    try:
        METHODS["secret key", 1]
    except KeyError as error:
        desk.observer().call_failed(call(), error, -32603)
    [line] = desk.lines
    assert (line["event"], line["level"], line["id"], line["code"]) == ("call.failed", "error", "kernel1", -32603)
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("KeyError: ('secret key', 1)")


@pytest.mark.parametrize(
    ("cause", "written"),
    [
        pytest.param(errors.InvalidParams("no"), 0, id="a wrong call"),
        pytest.param(errors.DataNotFound("no"), 0, id="a procedure's own answer"),
        pytest.param(errors.RuntimeFault("no"), 0, id="a failure that says so"),
        pytest.param(ValueError("no"), 1, id="an accident"),
        pytest.param(SystemExit(1), 1, id="an exit"),
    ],
)
def test_errors_raised_on_purpose_need_no_traceback(desk: Desk, cause: BaseException, written: int) -> None:
    """They are in the call's line."""
    desk.observer().call_failed(call(), cause, -32603)
    assert len(desk.lines) == written


def test_an_accident_behind_a_servers_error_is_told(desk: Desk) -> None:
    """`raise RuntimeFault from error` keeps what really happened for the log."""
    error = errors.RuntimeFault("no")
    error.__cause__ = OSError("disk on fire")
    desk.observer().call_failed(call(), error, -32500)
    assert "disk on fire" in desk.lines[0]["exception"]


@pytest.mark.parametrize(
    ("name", "fields", "sample", "level"),
    [
        pytest.param("cache.miss", {"method": "m"}, ("rpcgw_cache_misses_total", {}), None, id="a miss is counted only"),
        pytest.param("cache.write", {}, ("rpcgw_cache_writes_total", {}), None, id="a write is counted only"),
        pytest.param("cache.error", {"error": "full"}, ("rpcgw_cache_errors_total", {}), "warning", id="a broken cache"),
        pytest.param("cache.damaged", {"key": "k"}, ("rpcgw_cache_errors_total", {}), "warning", id="a damaged entry"),
        pytest.param("session.created", {"group": "mcp"}, ("rpcgw_sessions_created_total", {}), "debug", id="a session"),
        pytest.param("limit.reached", {"limit": "token", "key": "mcp/ada", "wait": 0.5}, ("rpcgw_limited_total", {"limit": "token"}), "info", id="a rate that was reached"),
        pytest.param("limit.error", {"limit": "group", "reason": "away"}, ("rpcgw_limit_errors_total", {"limit": "group"}), "error", id="a rate that nobody could count"),
        pytest.param("breaker.opened", {"method": "Shop.buy"}, ("rpcgw_breaker_openings_total", {"method": "Shop.buy"}), "warning", id="a method that is left alone"),
        pytest.param("webhook.failed", {"outcome": "failed"}, ("rpcgw_webhooks_total", {"outcome": "failed"}), "warning", id="an answer that did not arrive"),
        pytest.param("job.dead", {"queue": "q", "outcome": "dead"}, ("rpcgw_jobs_total", {"queue": "q", "outcome": "dead"}), "error", id="a dead job"),
        pytest.param("webmcp.beacon", {"site": "shop", "outcome": "success"}, ("rpcgw_webmcp_beacons_total", {"site": "shop", "outcome": "success"}), None, id="what a page reports"),
        pytest.param("connection.shed", {}, ("rpcgw_connections_shed_total", {}), None, id="a connection that made room"),
        pytest.param("session.store_error", {"operation": "touch"}, ("rpcgw_session_errors_total", {}), "error", id="a broken store of sessions"),
        pytest.param("lock.lost", {"lock": "m"}, ("rpcgw_locks_lost_total", {}), "warning", id="a lock that was lost"),
        pytest.param("job.done", {"queue": "q", "outcome": "done", "seconds": 0.3}, ("rpcgw_job_duration_seconds_count", {"queue": "q"}), "info", id="how long a job took"),
        pytest.param("guard.refused", {"guard": "host"}, ("rpcgw_guard_refusals_total", {"guard": "host"}), "warning", id="a guard by its name"),
        pytest.param("guard.refused", {"status": 421}, ("rpcgw_guard_refusals_total", {"guard": "host"}), "warning", id="a guard by its status"),
    ],
)  # fmt: skip
def test_events_are_counted_and_logged(
    desk: Desk, name: str, fields: dict[str, Any], sample: tuple[str, dict[str, str]], level: str | None
) -> None:
    """As the table says."""
    observer = desk.observer(level="debug")
    observer.event(name, **fields)
    observer.event(name, **fields)
    assert desk.value(sample[0], **sample[1]) == 2
    assert {line["level"] for line in desk.lines} == ({level} if level else set())


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        pytest.param({}, "info", id="nothing said"),
        pytest.param({"level": "warning"}, "warning", id="a level given"),
        pytest.param({"exception": ValueError("no")}, "error", id="an exception"),
        pytest.param({"error": ValueError("no")}, "error", id="an exception as the error"),
        pytest.param({"name": "x", "event": "y", "self": 1}, "info", id="fields of awkward names"),
    ],
)
def test_any_other_event_is_a_line(desk: Desk, fields: dict[str, Any], level: str) -> None:
    """A name that nobody listed is logged, and nothing that it carries can make it fail."""
    desk.observer().event("something.else", **fields)
    [line] = desk.lines
    assert (line["event"], line["level"]) == ("something.else", level)
    assert ("exception" in line) == (level == "error")


def test_a_flood_of_one_event_is_cut(desk: Desk) -> None:
    """Thousands of refusals do not fill the disk; each is counted, and how many lines were left out is said."""
    observer = desk.observer()
    for _ in range(2000):
        observer.event("guard.refused", guard="host", path="/mcp")
    observer.event("cache.error", error="another name is not held up")
    assert desk.value("rpcgw_guard_refusals_total", guard="host") == 2000
    assert 20 <= len(desk.lines) < 200
    assert desk.lines[-1]["event"] == "cache.error"


@pytest.mark.parametrize("name", ["cache.error", "lock.error", "limit.error", "session.store_error"])
def test_an_outage_is_a_line_a_second_and_not_a_line_a_request(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What every request meets while a store is away is written once a second, with how many were left out."""
    observer = desk.observer()
    for now in (100.0, 100.9, 100.95, 101.0):
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        observer.event(name, error="away")
    assert [(line["event"], line.get("suppressed")) for line in desk.lines] == [(name, None), (name, 2)]


def test_it_is_an_observer(desk: Desk) -> None:
    """The port's form is kept; mypy says so too."""
    observer: Observer = desk.observer()
    observer.event("daemon.started")
    assert desk.lines[0]["event"] == "daemon.started"
