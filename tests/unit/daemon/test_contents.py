"""What counts as a change of source files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rpcgw.daemon.contents import Contents, differing


def config_map(place: Path, text: str) -> None:
    """Files as a kubelet puts them: links to links, of which one is turned."""
    fresh = place / f"..{text.strip()}"
    fresh.mkdir()
    (fresh / "gateway.yaml").write_text(text)
    (fresh / "rpc").mkdir()
    (fresh / "rpc" / "mcp.uk.yaml").write_text(text)
    (place / "..next").symlink_to(fresh.name)
    (place / "..next").replace(place / "..data")
    for name in ("gateway.yaml", "rpc"):
        if not (place / name).is_symlink():
            (place / name).symlink_to(f"..data/{name}")


def replace(file: Path, text: str) -> None:
    """As an editor does."""
    (file.parent / ".swap").write_text(text)
    (file.parent / ".swap").rename(file)


CHANGES = [
    pytest.param(lambda place: (place / "a.yaml").write_text("a: 2"), ["a.yaml"], id="an edit of the same size"),
    pytest.param(lambda place: replace(place / "a.yaml", "a: 2"), ["a.yaml"], id="a file put in its place"),
    pytest.param(lambda place: (place / "new.py").write_text(""), ["new.py"], id="a new file"),
    pytest.param(lambda place: (place / "a.yaml").unlink(), ["a.yaml"], id="a file that goes"),
    pytest.param(
        lambda place: config_map(place / "map", "2"), ["map/gateway.yaml", "map/rpc/mcp.uk.yaml"], id="a ConfigMap"
    ),
    pytest.param(
        lambda place: (place / "p-1.dist-info/RECORD").write_text("new"), ["p-1.dist-info/RECORD"], id="a package"
    ),
    pytest.param(lambda place: (place / "secret").write_text("2"), ["secret"], id="a file that is named, of any kind"),
    pytest.param(lambda place: os.utime(place / "a.yaml"), [], id="only its time"),
    pytest.param(lambda place: replace(place / "a.yaml", "a: 1"), [], id="the same content in its place"),
    pytest.param(lambda place: (place / "notes.txt").write_text("2"), [], id="a file of another kind"),
    pytest.param(lambda place: (place / "var" / "state.json").write_text("2"), [], id="the state directory"),
    pytest.param(lambda place: (place / ".git.yaml").write_text("2"), [], id="a hidden file"),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_a_change(tmp_path: Path, change: Callable[[Path], object], expected: list[str]) -> None:
    """Content counts, wherever it comes from, and nothing else."""
    for directory in ("var", "map", "p-1.dist-info"):
        (tmp_path / directory).mkdir()
    (tmp_path / "a.yaml").write_text("a: 1")
    (tmp_path / "secret").write_text("1")
    config_map(tmp_path / "map", "1")
    paths = [tmp_path, tmp_path / "secret", tmp_path / "*.dist-info" / "RECORD", tmp_path / "nothing"]
    contents = Contents([str(path) for path in paths], [str(tmp_path / "var")])
    before = contents.now()
    change(tmp_path)
    assert differing(before, contents.now()) == [str(tmp_path / name) for name in expected]


def test_a_file_that_rests_is_not_read_again(tmp_path: Path) -> None:
    """A look at unchanged files costs one `stat` each: what is older than two seconds is known by time and size."""
    file = tmp_path / "a.yaml"
    file.write_text("a: 1")
    os.utime(file, (1, 1))
    contents = Contents([str(tmp_path)])
    before = contents.now()
    with file.open("r+") as same:
        same.write("a: 2")
    os.utime(file, (1, 1))
    assert contents.now() == before


def test_links_in_circles_end(tmp_path: Path) -> None:
    """A directory is looked at once, by whatever way."""
    (tmp_path / "a.yaml").write_text("")
    (tmp_path / "around").symlink_to(tmp_path)
    assert list(Contents([str(tmp_path)]).now()) == [str(tmp_path / "a.yaml")]
