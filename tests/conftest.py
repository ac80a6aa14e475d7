"""What every test may ask for, and the rule of CI: nothing is skipped there."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support import redis as redis_support
from tests.support.daemon import Daemon, example
from tests.support.figures import Figure, Note, figure_by


@pytest.fixture(scope="session")
def redis_port() -> Iterator[int]:
    """The port of a Redis that only this run of the tests uses, where redis-server is installed."""
    with redis_support.redis_server() as port:
        yield port


@pytest.fixture
def redis_url(redis_port: int) -> Iterator[str]:
    """The address of an empty database in a real Redis; emptied again afterwards."""
    database = redis_support.empty_database(redis_port)
    yield f"redis://127.0.0.1:{redis_port}/{database}"
    redis_support.flush(redis_port, database)


@pytest.fixture(scope="session")
def example_daemon() -> Iterator[Daemon]:
    """The example as it is shipped, served once for all tests that only read it."""
    with example() as running:
        yield running


@pytest.fixture
def figure(record_property: Note) -> Figure:
    """Keeps what the test measures, for the table of docs/operations.md."""
    return figure_by(record_property)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """On CI a skipped test is a failure: what is not there to be tested was not set up."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if reporter and skipped and os.environ.get("CI") == "true":
        reporter.write_line(f"{len(skipped)} skipped, and on CI nothing may be", red=True, bold=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
