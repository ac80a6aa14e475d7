"""The number that all workers of a host share."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from rpcgw.daemon.revocations import SharedRevocations


def test_everybody_who_maps_the_file_sees_an_advance(tmp_path: Path) -> None:
    """What one process writes, the others read: the file is the same memory."""
    with closing(SharedRevocations(tmp_path / "run/r")) as one, closing(SharedRevocations(tmp_path / "run/r")) as other:
        before = other.current()
        one.advance()
        assert other.current() == one.current() != before


@pytest.mark.parametrize("size", [pytest.param(0, id="new"), pytest.param(8, id="there already, but a hole")])
def test_the_number_has_its_place_on_the_disk_from_the_start(tmp_path: Path, size: int) -> None:
    """A disk that fills up later takes nothing away: a hole in a mapped file would end the worker with a SIGBUS."""
    path = tmp_path / "r"
    path.touch()
    os.truncate(path, size)
    assert not path.stat().st_blocks, "the test needs a file without a place on the disk"
    with closing(SharedRevocations(path)):
        assert path.stat().st_blocks
