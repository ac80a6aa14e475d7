"""The file that says which methods are off."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rpcgw.daemon.switched import SWITCHED_OFF, SwitchFile


def test_it_is_kept(tmp_path: Path) -> None:
    """Whoever reads it later finds it, until all is on again."""
    off = {"mcp": frozenset({"Catalog.add"})}
    SwitchFile(str(tmp_path)).change(off, on=False)
    assert SwitchFile(str(tmp_path)).read() == off
    SwitchFile(str(tmp_path)).change(off, on=True)
    assert SwitchFile(str(tmp_path)).read() == {}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no file"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"mcp": 1}', id="another form"),
        pytest.param(b"\xff", id="no text"),
    ],
)
def test_where_nothing_can_be_read(tmp_path: Path, content: bytes | None) -> None:
    """All is on, and what is switched from then on is kept."""
    if content is not None:
        (tmp_path / SWITCHED_OFF).write_bytes(content)
    kept = SwitchFile(str(tmp_path))
    assert kept.read() == {}
    kept.change({"mcp": frozenset("a")}, on=False)
    assert kept.read() == {"mcp": frozenset("a")}


def test_many_at_once(tmp_path: Path) -> None:
    """No switch of one writer is lost to another's."""

    def turn_off(number: int) -> None:
        SwitchFile(str(tmp_path)).change({"mcp": frozenset({f"m{number}"})}, on=False)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(turn_off, range(64)))
    assert SwitchFile(str(tmp_path)).read() == {"mcp": frozenset(f"m{number}" for number in range(64))}


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """It is an error, and no half of a file is left."""
    with pytest.raises(OSError, match="No such file"):
        SwitchFile(str(tmp_path / "nowhere")).change({"mcp": frozenset("a")}, on=False)
