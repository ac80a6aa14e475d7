"""The file by which `rpcgw reload` finds its daemon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rpcgw.daemon.pidfile import NAME, NotRunning, PidFile, running


def test_a_daemon_is_found_while_it_lives(tmp_path: Path) -> None:
    """The process id is read while the file is held, and nothing is left afterwards."""
    held = PidFile(str(tmp_path))
    assert running(str(tmp_path)) == os.getpid()
    held.remove()
    assert not list((tmp_path / "run").iterdir())


def test_nobody_is_found_where_nobody_was(tmp_path: Path) -> None:
    """No file, no daemon."""
    with pytest.raises(NotRunning, match="there is no"):
        running(str(tmp_path))


@pytest.mark.parametrize("text", [f"{os.getpid()}\n", "1\n", ""], ids=["a living process", "the first one", "nothing"])
def test_a_file_that_nobody_holds_is_stale(tmp_path: Path, text: str) -> None:
    """What a dead daemon left behind is never taken for one that lives, whichever process has its number now."""
    path = tmp_path / NAME
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(NotRunning, match="stale"):
        running(str(tmp_path))


def test_the_later_of_two_is_found(tmp_path: Path) -> None:
    """The first of two daemons takes nothing away from the second when it ends."""
    first = PidFile(str(tmp_path))
    second = PidFile(str(tmp_path))
    first.remove()
    assert running(str(tmp_path)) == os.getpid()
    second.remove()
    assert not (tmp_path / NAME).exists()


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A state directory that is none is the caller's to tell of."""
    (tmp_path / "run").write_text("")
    with pytest.raises(OSError, match="run"):
        PidFile(str(tmp_path))
