"""Workers that are to be replaced: a fresh one serves before the worn one goes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.daemon.conftest import PATIENCE
from tests.unit.daemon.test_supervisor import Caller


def test_a_worn_worker_goes_when_another_serves(start: Callable[..., Any], tmp_path: Path) -> None:
    """SIGTERM to the only worker: the fresh one is ready first, and the call in flight is answered by the old one."""
    daemon = start(workers=1)
    worn = daemon.call()["pid"]
    caller = Caller(daemon, f"?until={tmp_path}/go")
    daemon.until((tmp_path / "go.runs").exists, "call in flight")
    os.kill(worn, signal.SIGTERM)
    fresh = daemon.until_logged("worker.ready", 2)
    assert daemon.lines("worker.gone") == []
    daemon.until(lambda: daemon.call()["pid"] == fresh["worker"], "answer of the fresh worker")
    (tmp_path / "go").touch()
    caller.join(PATIENCE)
    assert caller.answer is not None, caller.error
    assert (caller.answer["pid"], caller.answer["status"], caller.answer["connection"]) == (worn, 200, "close")
    gone = daemon.until_logged("worker.gone")
    assert (gone["worker"], gone["code"], gone["level"]) == (worn, 0, "info")
    assert fresh["slot"] != gone["slot"], "two that live at once never share a slot: their numbers would be lost"
    assert len(daemon.lines("worker.ready")) == 2
    assert daemon.stop() == 0


def test_all_workers_may_be_worn_at_once_and_again(start: Callable[..., Any]) -> None:
    """Each is replaced once; slots that come free are used again."""
    daemon = start(workers=2)
    assert daemon.port
    for turn in (1, 2, 3):
        for line in daemon.lines("worker.ready")[-2:]:
            os.kill(line["worker"], signal.SIGTERM)
        daemon.until_logged("worker.ready", 2 * turn + 2)
        daemon.until_logged("worker.gone", 2 * turn)
        assert daemon.call()["status"] == 200
    assert {line["slot"] for line in daemon.lines("worker.ready")} == {0, 1, 2, 3}
    assert {line["code"] for line in daemon.lines("worker.gone")} == {0}
    assert daemon.stop() == 0


def test_a_worn_worker_that_dies_is_replaced_once(start: Callable[..., Any], tmp_path: Path) -> None:
    """The fresh one that was begun for it is its replacement."""
    daemon = start(workers=1)
    worn = daemon.call()["pid"]
    caller = Caller(daemon, f"?until={tmp_path}/go")
    daemon.until((tmp_path / "go.runs").exists, "call in flight")
    os.kill(worn, signal.SIGTERM)
    daemon.until_logged("worker.ready", 2)
    os.kill(worn, signal.SIGKILL)
    daemon.until_logged("worker.gone")
    caller.join(PATIENCE)
    assert daemon.call()["pid"] == daemon.lines("worker.ready")[1]["worker"]
    assert daemon.stop() == 0
    assert len(daemon.lines("worker.ready")) == 2


def test_a_worn_worker_does_not_hold_up_the_end(start: Callable[..., Any]) -> None:
    """SIGTERM to everybody at once, as a service manager may send it, is a stop and nothing else."""
    daemon = start(workers=2)
    assert daemon.port
    daemon.signal(signal.SIGTERM)
    daemon.until_logged("stopping")
    for line in daemon.lines("worker.ready"):
        try:
            os.kill(line["worker"], signal.SIGTERM)
        except ProcessLookupError:
            continue
    assert daemon.ended() == 0
    assert len(daemon.lines("worker.ready")) == 2
