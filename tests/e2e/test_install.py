"""`make install`: what a service is run from, below a root of one's own, without a network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import install as script
from tests.support.daemon import serving
from tests.support.installing import checkout, make, python, typed

HOMES = [
    pytest.param("/usr", False, id="the system's"),
    pytest.param("/usr/local", False, id="one that was built here"),
    pytest.param("/opt/python3.13", False, id="one of an operator's"),
    pytest.param("/root/.pyenv/versions/3.11.7", True, id="root's own"),
    pytest.param("/home/ada/.local/share/uv/python/cpython-3.13", True, id="a person's own"),
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root in which it is installed, by the line that the page on systemd has."""
    place, root = checkout(tmp_path_factory.mktemp("source")), tmp_path_factory.mktemp("root")
    for _ in range(2):  # once more changes nothing
        done = make(typed("docs/howto/systemd.md", "make install"), place, ROOT=str(root), PYTHON=str(python()))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "installed. Next:" in done.stdout
    return root


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_units_find_what_they_start(installed: Path) -> None:
    """Each program and configuration that a unit names is there, below the root."""
    units = installed / "etc/systemd/system"
    assert {unit.name for unit in units.iterdir()} == {"rpcgw.service", "rpcgw.socket", "rpcgw-worker@.service"}
    for unit in units.glob("*.service"):
        [start] = [line for line in unit.read_text("utf-8").splitlines() if line.startswith("ExecStart=")]
        for path in [word for word in start.partition("=")[2].split() if word.startswith("/")]:
            assert (installed / path.lstrip("/")).exists(), start


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_installed_serves(installed: Path) -> None:
    """The project to begin with, by the program that the unit starts, from its own virtual environment."""
    program = tuple(str(installed / "opt/rpcgw/bin" / name) for name in ("python", "rpcgw"))
    with serving(installed / "etc/rpcgw", {"PYTHONPATH": ""}, program=program) as running:
        assert running.get("/readyz").status == 200
        assert running.stop() == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_installed_below_a_root_is_for_there(installed: Path) -> None:
    """No program, setting or unit says where the root was: an image's `/` was a directory once."""
    for folder in ("opt/rpcgw/bin", "etc/rpcgw", "etc/systemd/system"):
        files = [file for file in (installed / folder).glob("*") if file.is_file() and not file.is_symlink()]
        assert files
        assert [file for file in files if str(installed).encode() in file.read_bytes()] == []
    program = (installed / "opt/rpcgw/bin/rpcgw").read_text("utf-8")
    assert program.startswith("#!/opt/rpcgw/bin/python\n")


@pytest.mark.parametrize(("prefix", "refused"), HOMES)
def test_a_python_that_the_service_cannot_see(prefix: str, refused: bool) -> None:
    """The units hide homes (`ProtectHome`), so a Python that lives in one starts nothing."""
    assert script.hidden(Path(prefix)) is refused


def test_such_a_python_is_refused_with_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before anything is made, with the Python's place."""
    monkeypatch.setattr(sys, "base_prefix", "/root/.pyenv/versions/3.11.7")
    with pytest.raises(SystemExit, match=r"/root/\.pyenv/.* make install PYTHON=/usr/bin/python3"):
        script.main(tmp_path)
    assert list(tmp_path.iterdir()) == []
