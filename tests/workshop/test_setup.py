"""The set-up script ends with one line for the person who typed the command, never with a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.setup import OLDEST_NODE, node_version, python_version
from tests.support.browser import browser
from tests.support.daemon import ROOT

SAID = [
    pytest.param("v22.19.0", (22, 19, 0), id="a release"),
    pytest.param("v24.1.0-nightly", (0,), id="a nightly counts as none"),
    pytest.param("", (0,), id="nothing"),
]


def setup(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a PATH of the test's own."""
    command = [sys.executable, str(ROOT / "scripts" / "setup.py"), *arguments]
    return subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=False)


def test_a_missing_redis_is_named_with_what_to_install(tmp_path: Path) -> None:
    """Where redis-server is not there and may not be installed, the last word is what to type."""
    done = setup("redis", path=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "setup: redis-server, which the tests start, is missing. "
        "Install it, on Debian with: sudo apt-get install redis-server\n"
    )


def test_an_unknown_command_names_the_known_ones(tmp_path: Path) -> None:
    """A wrong word is answered with the right ones."""
    done = setup("everything", path=str(tmp_path))
    assert (done.returncode, done.stderr) == (
        1,
        "setup: one of venv, other-venv, wheels, node, npm, redis, curl, chromium, nspawn, system, image, postgres is wanted\n",
    )


def test_a_venv_of_a_python_that_is_not_here_is_left_out(tmp_path: Path) -> None:
    """What only a measurement wants is no reason to fail: one line says what is missing, and nothing is made."""
    wanted = tmp_path / "venv"
    done = setup("other-venv", "9.99", str(wanted), "requirements/bolt.lock", path=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"setup: {wanted} is left out: there is no Python 9.99 here\n"
    assert not wanted.exists()


@pytest.mark.parametrize(("said", "version"), SAID)
def test_nodes_version_is_read_from_what_it_says(said: str, version: tuple[int, ...], tmp_path: Path) -> None:
    """What `node --version` prints is compared as numbers; what is no release is older than any."""
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho '{said}'\n")
    node.chmod(0o755)
    assert node_version(str(node)) == version
    assert (node_version(str(node)) >= OLDEST_NODE) == (version[0] >= 22)


def test_what_a_user_installs_is_locked() -> None:
    """Each dependency of the project is in the lock that an installation without a network is made from."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock = (ROOT / "requirements" / "runtime.lock").read_text("utf-8")
    locked = {line.partition("==")[0] for line in lock.splitlines() if "==" in line}
    wanted = {re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0] for requirement in project["dependencies"]}
    assert not wanted - locked


@pytest.mark.asyncio
async def test_without_a_browser_the_tests_of_pages_fail_and_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No Chromium is no reason to leave tests out: they fail, and name what installs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssertionError, match="no chromium on the PATH: make setup"):
        async with browser():
            pass


def test_a_browser_that_cannot_be_installed_stops_the_set_up(tmp_path: Path) -> None:
    """Without Chromium and without apt-get the set-up ends with what is missing and how it is installed."""
    done = setup("chromium", path=str(tmp_path))
    assert done.returncode == 1
    assert "Chromium, in which the tests open pages, is missing" in done.stderr
    assert "apt-get install chromium" in done.stderr


def test_without_nspawn_one_is_told_which_tests_are_left_out(tmp_path: Path) -> None:
    """What root alone can run does not stop the set-up where it cannot be installed."""
    done = setup("nspawn", path=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "setup: tests that boot systemd will be skipped: they want root and systemd-nspawn\n"


def test_the_systems_python_is_asked_for_its_version(tmp_path: Path) -> None:
    """What is fetched for a service hangs on it; where there is none, it counts as older than any."""
    assert python_version(Path(sys.executable)) == sys.version_info[:3]
    assert python_version(tmp_path / "python3") == (0,)
