"""Locks over workers and hosts: one holder at a time, at once or after a wait, and never for ever."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kernel_plugin import SITES, Notes, Site, call, kernel_daemon, result, site_of
from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, wait_until

CALLS = 24
TTL = 2.0
_numbers = count(1)


PROCESS = ((re.compile(r'(?<="result":)\d+'), "<process>"),)
"""What differs from run to run: who answered."""


@pytest.fixture(scope="module", params=SITES)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Everybody who answers these tests."""
    with site_of(request.param, request, tmp_path_factory.mktemp("notes")) as made:
        yield made


@pytest.fixture
def site(running: Site, record_property: Note) -> Iterator[Site]:
    """The same, overheard."""
    with noting(record_property, *running.daemons, words=PROCESS):
        yield running


@pytest.fixture
def key() -> str:
    """A parameter that no other test uses."""
    return f"key-{next(_numbers)}"


def test_patient_calls_run_one_after_the_other(site: Site, key: str) -> None:
    """A-RPC-85: with `wait` calls of one value never overlap, whoever runs them, and all get their turn."""

    def ask(turn: int) -> Any:
        return result(site.daemons[turn % len(site.daemons)], "Demo.queue", {"key": key})

    with ThreadPoolExecutor(8) as threads:
        workers = set(threads.map(ask, range(CALLS)))
    assert site.notes.kinds(("in", "out"), key=key) == ["in", "out"] * CALLS
    assert len(workers) == 2


def test_a_held_lock_refuses_at_once(site: Site, key: str) -> None:
    """A-RPC-85: -32400 while another call holds the value's lock, longer than its ttl; other values are free."""
    first, last = site.daemons[0], site.daemons[-1]
    with ThreadPoolExecutor(1) as threads:
        holding = threads.submit(result, first, "Demo.hold", {"key": key})
        wait_until(lambda: site.notes.all("hold", key=key), 10, lambda: "nobody holds it")
        until = time.monotonic() + 1.5 * TTL
        while time.monotonic() < until:
            before = time.monotonic()
            error = call(last, "Demo.hold", {"key": key})["error"]
            assert (error["code"], error["data"]["exception"]) == (-32400, "LockedError")
            assert "Demo.hold" in error["message"]
            assert time.monotonic() - before < TTL
            time.sleep(0.1)
        site.notes.go(f"{key}-other")
        result(last, "Demo.hold", {"key": f"{key}-other"})
        site.notes.go(key)
        holding.result()
    result(last, "Demo.hold", {"key": key})
    assert len(site.notes.all("held", key=key)) == 2


def test_a_call_that_is_late_lets_go(site: Site, key: str) -> None:
    """A-RPC-85: the lock of a call that ran past its deadline is free at once, long before its ttl is over."""
    answer = call(site.daemons[0], "Demo.brief", {"key": key})
    assert answer["error"]["code"] == -32300
    site.notes.go(key)
    result(site.daemons[-1], "Demo.brief", {"key": key})
    assert len(site.notes.all("held", key=key)) == 1


def test_the_lock_of_a_dead_worker_ends_by_its_ttl(tmp_path: Path, key: str) -> None:
    """A-RPC-85: kill -9 of the holder's worker: nobody lets go, so the lock holds until its ttl is over, and no longer."""
    notes = Notes(tmp_path)
    with kernel_daemon(notes, workers=2) as served:
        lost = threading.Thread(target=_ask_in_vain, args=(served, key))
        lost.start()
        wait_until(lambda: notes.all("hold", key=key), 20, lambda: "nobody holds it")
        [first] = notes.all("hold", key=key)
        killed = time.monotonic()
        os.kill(first["pid"], signal.SIGKILL)
        lost.join()
        notes.go(key)
        answers = [_ask(served, key)]
        while answers[-1] is not None and time.monotonic() < killed + 20:
            answers.append(_ask(served, key))
        freed = time.monotonic() - killed
    assert set(answers[:-1]) == {-32400}
    assert 0.3 * TTL < freed < 3 * TTL


def test_a_lost_store_refuses(tmp_path: Path) -> None:
    """A call that needs a lock never runs without: where the store cannot be asked it is an error, and others run."""
    notes = Notes(tmp_path)
    with kernel_daemon(notes, pool="redis://127.0.0.1:1/0") as served:
        error = call(served, "Demo.queue", {"key": "x"})["error"]
        assert error["code"] == -32603
        assert "store of locks" in error["message"]
        assert notes.all("in") == []
        assert result(served, "Demo.echo", {"value": 1}) == 1


def _ask_in_vain(served: Daemon, key: str) -> None:
    """Ask a worker that will be killed meanwhile."""
    with suppress(OSError, HTTPException):
        call(served, "Demo.hold", {"key": key})


def _ask(served: Daemon, key: str) -> int | None:
    """The code of the error; None where there is none."""
    while True:
        with suppress(OSError, HTTPException):
            code: int | None = call(served, "Demo.hold", {"key": key}).get("error", {}).get("code")
            return code
