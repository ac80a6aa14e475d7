"""A secret that a state directory keeps."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from rpcgw.daemon.secrets import kept_secret


def test_it_stays_the_same(tmp_path: Path) -> None:
    """It is made once, with its folder, for this user alone, and nothing else is left behind."""
    path = tmp_path / "var" / "key"
    secret = kept_secret(path)
    assert (len(secret), kept_secret(path)) == (32, secret)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["key"]


def test_two_directories_have_two(tmp_path: Path) -> None:
    """It is random."""
    assert kept_secret(tmp_path / "a") != kept_secret(tmp_path / "b")


def test_many_at_once_agree(tmp_path: Path) -> None:
    """Whoever comes first makes it, the others read it."""
    found: list[bytes] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(kept_secret(tmp_path / "key"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """A file in the place of the folder is an error of the system's."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        kept_secret(tmp_path / "file" / "key")
