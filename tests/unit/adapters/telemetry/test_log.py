"""The log: one form for everybody who logs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from rpcgw.adapters.telemetry.log import Log, Stamp
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.config.settings import Logging


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def sink(path: Path) -> Iterator[Sink]:
    sink = Sink(str(path))
    yield sink
    sink.close()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("now", "text"),
    [
        pytest.param(0.0, "1970-01-01T00:00:00.000Z", id="the epoch"),
        pytest.param(1_796_058_000.5, "2026-11-30T17:00:00.500Z", id="half a second"),
        pytest.param(1_796_057_999.9999, "2026-11-30T16:59:59.999Z", id="never rounded up"),
        pytest.param(1_796_058_000.25, "2026-11-30T17:00:00.250Z", id="back in the same second"),
    ],
)
def test_the_time_is_iso_in_utc(now: float, text: str) -> None:
    """Milliseconds, and a Z, whatever was asked before."""
    stamp = Stamp()
    stamp(1_796_058_000.5)
    assert stamp(now) == text


def test_a_line_has_time_level_and_event_first(sink: Sink, path: Path) -> None:
    """Fields of these names do not take their place."""
    Log(Logging(), sink).write("reload", "warning", level="mine", event="mine", timestamp="mine", plugin="catalog")
    [line] = lines(path)
    assert list(line) == ["timestamp", "level", "event", "plugin"]
    assert (line["level"], line["event"]) == ("warning", "reload")
    assert line["timestamp"].startswith("20")


@pytest.mark.parametrize(
    ("level", "written"),
    [
        pytest.param("debug", ["debug", "info", "warning", "error"], id="debug"),
        pytest.param("info", ["info", "warning", "error"], id="info"),
        pytest.param("error", ["error"], id="error"),
    ],
)
def test_what_is_below_the_level_is_not_written(
    sink: Sink, path: Path, level: Literal["debug", "info", "error"], written: list[str]
) -> None:
    """The level is the least that is written."""
    log = Log(Logging(level=level), sink)
    for each in ("debug", "info", "warning", "error"):
        log.write("event", each)
    assert [line["level"] for line in lines(path)] == written


def test_secrets_are_masked(sink: Sink, path: Path) -> None:
    """The names of the settings decide."""
    Log(Logging(mask=("pin",)), sink).write("event", params={"pin": "1234", "token": "visible"})
    assert lines(path)[0]["params"] == {"pin": "***", "token": "visible"}


INSTALLED = """
import asyncio, json, logging, sys, warnings
import structlog
early = logging.getLogger("early"); early.addHandler(logging.NullHandler())
plugin = structlog.get_logger("plugin")
from rpcgw.adapters.telemetry.current import CURRENT
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.config.settings import Logging
from rpcgw.kernel.call import Call
log = Log(Logging(format=sys.argv[1], level="info"), Sink())
log.install()
call = Call("Catalog.search", "mcp", 1, None, "id1", "mcp", ray_id="ray1")
{body}
"""


LATE = """
from rpcgw.adapters.telemetry.log import Log
from rpcgw.adapters.telemetry.sink import Sink
from rpcgw.config.settings import Logging
Log(Logging(level="error"), Sink()).install()
Log(Logging(), Sink()).install()
import sys
assert "structlog" not in sys.modules
{body}
"""


def run(body: str, form: str = "json", script: str = INSTALLED) -> list[str]:
    """The lines of a process of its own: installing changes what is global."""
    script = script.replace("{body}", textwrap.dedent(body))
    done = subprocess.run([sys.executable, "-c", script, form], capture_output=True, check=True, text=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def told(body: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(body)]


def test_stdlib_logging_comes_out_in_the_same_form() -> None:
    """Message, level, logger and extra fields; masked; below the level nothing; early loggers too."""
    first, second = told(
        """
        early.debug("not this")
        early.warning("%d of %s", 3, "seven", extra={"password": "s3cret", "shelf": 4})
        logging.getLogger("aiohttp.server").info("plain")
        """
    )
    assert first | {"timestamp": ""} == {
        "timestamp": "",
        "level": "warning",
        "event": "3 of seven",
        "logger": "early",
        "password": "***",
        "shelf": 4,
    }
    assert (second["logger"], second["event"]) == ("aiohttp.server", "plain")


def test_exceptions_come_with_their_traceback() -> None:
    """Through logging and through structlog, one line each."""
    found = told(
        """
        try:
            1 / 0
        except ZeroDivisionError as error:
            early.exception("one")
            plugin.exception("two")
            plugin.error("three", exc_info=error)
            plugin.error("four", exc_info=True)
            plugin.error("five", exc_info=sys.exc_info())
        plugin.error("six", exc_info=True)
        """
    )
    assert [line["event"] for line in found] == ["one", "two", "three", "four", "five", "six"]
    assert all(line["exception"].endswith("ZeroDivisionError: division by zero") for line in found[:5])
    assert {line["level"] for line in found} == {"error"}
    assert "exception" not in found[5]


def test_structlog_comes_out_in_the_same_form() -> None:
    """A plugin's structlog logger, made before the log was installed; bound values and context variables included."""
    [line] = told(
        """
        plugin.debug("not this")
        structlog.contextvars.bind_contextvars(tenant="acme")
        plugin.bind(shelf=4).info("stocked", password="s3cret", level="mine")
        """
    )
    assert line | {"timestamp": ""} == {
        "timestamp": "",
        "level": "info",
        "event": "stocked",
        "tenant": "acme",
        "shelf": 4,
        "password": "***",
    }


@pytest.mark.parametrize(
    "importing",
    [
        pytest.param("import structlog", id="as a whole"),
        pytest.param("import structlog.stdlib", id="by a part of it"),
        pytest.param("from structlog import get_logger; import structlog", id="for one name"),
    ],
)
def test_structlog_may_be_imported_later(importing: str) -> None:
    """Nothing loads it before a plugin does, and it comes out in the form that was installed last."""
    [line] = map(json.loads, run(f"{importing}\nstructlog.get_logger().info('late', n=1)", script=LATE))
    assert (line["level"], line["event"], line["n"]) == ("info", "late", 1)


def test_what_a_procedure_logs_names_its_call() -> None:
    """Inside a call, in its tasks and threads, lines carry its ids; outside they do not."""
    found = told(
        """
        async def work():
            CURRENT.set(call)
            early.warning("in the call")
            await asyncio.to_thread(plugin.warning, "in a thread")
        async def main():
            await asyncio.ensure_future(work())
            plugin.warning("outside")
        asyncio.run(main())
        """
    )
    ids = {"id": "id1", "ray_id": "ray1", "group": "mcp", "method": "Catalog.search"}
    assert [{key: line[key] for key in ids if key in line} for line in found] == [ids, ids, {}]


def test_a_message_that_does_not_fit_its_arguments_is_written_as_it_is() -> None:
    """A mistake in a log call costs the arguments, not the line."""
    [line] = told("early.warning('%d items', 'three')")
    assert line["event"] == "%d items"


def test_warnings_are_log_lines() -> None:
    """Python's own warnings do not stand between the lines."""
    [line] = told("warnings.warn('old', DeprecationWarning, stacklevel=1); warnings.warn('look', stacklevel=1)")[-1:]
    assert "look" in line["event"]
    assert line["logger"] == "py.warnings"


@pytest.mark.parametrize("form", ["logfmt", "console"])
def test_the_other_forms_are_for_everybody_too(form: str) -> None:
    """One line each from logging and structlog."""
    found = run("early.warning('a\\nb'); plugin.warning('c', shelf=4)", form)
    assert len(found) == 2
    assert "shelf=4" in found[1]


async def test_lines_of_many_tasks_are_whole(sink: Sink, path: Path) -> None:
    """Lines of many tasks are whole and all there."""
    log = Log(Logging(), sink)

    async def work(number: int) -> None:
        log.write("event", number=number)
        await asyncio.sleep(0)

    await asyncio.gather(*(work(number) for number in range(100)))
    assert sorted(line["number"] for line in lines(path)) == list(range(100))
