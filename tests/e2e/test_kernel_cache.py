"""The result cache over workers and over hosts: single flight, invalidation, and what is never kept."""

from __future__ import annotations

import os
import re
import signal
import threading
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

BURST = 200
THREADS = 16
_numbers = count(1)


PROCESSES = ((re.compile(r'(?<="result":)\d+'), "<process>"), (re.compile(r"key-\d+-\d+"), "key"))
"""What differs from run to run: who answered, and the keys."""


@pytest.fixture(scope="module", params=SITES)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Everybody who answers these tests."""
    with site_of(request.param, request, tmp_path_factory.mktemp("notes")) as made:
        yield made


@pytest.fixture
def site(running: Site, record_property: Note) -> Iterator[Site]:
    """The same, overheard."""
    with noting(record_property, *running.daemons, words=PROCESSES):
        yield running


@pytest.fixture
def key() -> str:
    """A parameter that no other test uses."""
    return f"key-{os.getpid()}-{next(_numbers)}"


def each(site: Site, number: int, method: str, params: dict[str, Any]) -> list[Any]:
    """Call a method so many times at once, from two clients, each of which asks half of the time."""

    def ask(turn: int) -> Any:
        return result(site.daemons[turn % len(site.daemons)], method, params)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(ask, range(number)))


def test_a_burst_on_a_cold_key_runs_once(site: Site, key: str) -> None:
    """T-19: 200 calls for a result that nobody has yet, over two workers or two hosts, run the method once."""
    answers = each(site, BURST, "Demo.slow", {"key": key})
    assert site.runs("slow", key) == 1
    assert len(set(answers)) == 1


def test_whoever_answers_knows_what_was_kept(site: Site, key: str) -> None:
    """A-RPC-82, T-19, C-22: what one worker has made all others answer."""
    results = {result(site.daemons[turn % len(site.daemons)], "Demo.slow", {"key": key}) for turn in range(20)}
    assert len(results) == 1
    assert site.runs("slow", key) == 1


@pytest.mark.parametrize(
    ("write", "gone"),
    [
        pytest.param(lambda key: ("Demo.touch", {"key": key}), ["en", "uk"], id="a subset of the parameters"),
        pytest.param(lambda key: ("Demo.touch_exact", {"key": key, "lang": "uk"}), ["uk"], id="exact parameters"),
        pytest.param(lambda key: ("Demo.touch_all", {}), ["en", "uk", "other"], id="the whole method"),
        pytest.param(lambda key: ("Demo.drop", {"key": key}), ["en", "uk"], id="a plugin's own deletion"),
        pytest.param(lambda key: ("Demo.echo", {}), [], id="nothing"),
    ],
)
def test_what_a_success_drops(site: Site, key: str, write: Any, gone: list[str]) -> None:
    """A-RPC-83, A-RPC-84: a success drops exactly what it makes stale, for every worker and host, before it is answered."""
    reads = {
        "en": {"key": key, "lang": "en"},
        "uk": {"key": key, "lang": "uk"},
        "other": {"key": f"{key}-other", "lang": "en"},
    }
    first, last = site.daemons[0], site.daemons[-1]

    def runs() -> dict[str, int]:
        return {name: len(site.notes.all("slow", **read)) for name, read in reads.items()}

    for read in reads.values():
        result(first, "Demo.slow", read)
    assert runs() == {"en": 1, "uk": 1, "other": 1}
    result(first, *write(key))
    for read in reads.values():
        result(last, "Demo.slow", read)
    assert [name for name, number in runs().items() if number == 2] == gone


def test_warm_up(site: Site, key: str) -> None:
    """A-RPC-83: what is dropped and warmed up is made anew after the answer, and by nobody's call."""
    result(site.daemons[0], "Demo.slow", {"key": key})
    result(site.daemons[0], "Demo.refresh", {"key": key})
    wait_until(lambda: site.runs("slow", key) == 2, 10, lambda: "it was not made anew")
    result(site.daemons[-1], "Demo.slow", {"key": key})
    assert site.runs("slow", key) == 2


def test_a_plugin_warms(site: Site, key: str) -> None:
    """A-RPC-84: a result that a plugin made is answered without a run."""
    result(site.daemons[0], "Demo.warm", {"key": key})
    assert site.runs("slow", key) == 1
    result(site.daemons[-1], "Demo.slow", {"key": key})
    assert site.runs("slow", key) == 1


def test_ignore_cache(site: Site, key: str) -> None:
    """A-RPC-31: `$rpc.ignoreCache` runs the method, and what it gives is kept for the others."""
    for special in ({}, {"$rpc": {"ignoreCache": True}}, {}):
        result(site.daemons[0], "Demo.slow", {"key": key, **special})
    assert site.runs("slow", key) == 2


def test_null_is_kept_and_errors_are_not(site: Site, key: str) -> None:
    """A-RPC-81: a result null is a result; an error is none."""
    for served in (site.daemons[0], site.daemons[-1]):
        assert result(served, "Demo.nothing", {"key": key}) is None
        assert call(served, "Demo.broken", {"key": key})["error"]["code"] == -32400
    assert (site.runs("nothing", key), site.runs("broken", key)) == (1, 2)


def test_a_worker_that_dies_while_it_computes_is_taken_over_from(tmp_path: Path, key: str) -> None:
    """Kill -9 of the computing worker: those who wait on another one compute, and are answered."""
    notes = Notes(tmp_path)
    with kernel_daemon(notes, workers=2) as served:
        lost = threading.Thread(target=_ask_in_vain, args=(served, key))
        lost.start()
        wait_until(lambda: notes.all("hang", key=key), 20, lambda: "nobody computes")
        [first] = notes.all("hang", key=key)
        with ThreadPoolExecutor(8) as threads:
            waiting = [threads.submit(_ask_the_other, served, key) for _ in range(8)]
            os.kill(first["pid"], signal.SIGKILL)
            lost.join()
            wait_until(lambda: len(notes.all("hang", key=key)) == 2, 20, lambda: "nobody took over")
            notes.go(key)
            answers = {future.result() for future in waiting}
        assert len(notes.all("hang", key=key)) == 2
        assert answers == {notes.all("hang", key=key)[1]["pid"]}


def _ask_in_vain(served: Daemon, key: str) -> None:
    """Ask a worker that will be killed meanwhile."""
    with suppress(OSError, HTTPException):
        call(served, "Demo.hang", {"key": key})


def _ask_the_other(served: Daemon, key: str) -> Any:
    """Ask the worker that lives: a connection to the other one is cut, and tried again."""
    while True:
        try:
            return result(served, "Demo.hang", {"key": key})
        except (OSError, HTTPException):
            continue


def test_counters(tmp_path: Path, key: str) -> None:
    """Hits, misses, writes, waits and drops are counted."""
    with kernel_daemon(Notes(tmp_path)) as served:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: result(served, "Demo.slow", {"key": key}), range(4)))
        result(served, "Demo.slow", {"key": key})
        result(served, "Demo.touch", {"key": key})
        text = served.get("/metrics").text
    counted = {
        name: float(line.split()[-1])
        for name in ("hits", "misses", "writes", "joined", "invalidations")
        for line in text.splitlines()
        if line.startswith(f"rpcgw_cache_{name}_total ")
    }
    assert counted == {"hits": 4, "misses": 1, "writes": 1, "joined": 3, "invalidations": 1}
