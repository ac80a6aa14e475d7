"""The transcript of a newcomer: from nothing to an official client that calls one's own procedure, without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.clients import FETCHED, OfficialClient, talk
from tests.support.daemon import ROOT, serving

PIPX = FETCHED / "pipx" / "bin" / "pipx"
WHEELS = FETCHED / "wheels"
FIVE_MINUTES = 300.0

CLIENT = OfficialClient("the Python SDK 2 on its own", "mcp2.py", "2026-07-28", "mcp2", "auto")

STEPS = ("pipx install rpcgw", "rpcgw init hello", "cd hello", "rpcgw check", "rpcgw serve")
"""What the README tells a newcomer to type."""


@dataclass
class Newcomer:
    """A person with an empty home, and all that they have typed so far."""

    home: Path
    began: float = field(default_factory=time.monotonic)
    typed: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """An environment in which nothing of this project is."""
        return {"HOME": str(self.home), "PATH": f"{self.home}/.local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def types(self, *command: str, cwd: Path | None = None, program: Sequence[str] = (), code: int = 0) -> str:
        """Run a command, which must end with `code`; what it prints. `program` is what stands for its first word."""
        self.typed.append(" ".join(command))
        done = subprocess.run(
            [*(program or command[:1]), *command[1:]],
            cwd=cwd or self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FIVE_MINUTES,
            check=False,
        )
        assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def rpcgw(self, *arguments: str, cwd: Path) -> str:
        """Run the rpcgw that was installed."""
        return self.types("rpcgw", *arguments, cwd=cwd, program=[str(self.home / ".local/bin/rpcgw")])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make wheel` builds it."""
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(place.glob("rpcgw-*.whl"))


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Newcomer:
    """A newcomer who has installed the wheel by pipx, from what `make setup` fetched and nothing else."""
    assert PIPX.exists(), f"{PIPX} is not there: make setup"
    person = Newcomer(tmp_path_factory.mktemp("home"))
    offline = f"--pip-args=--no-index --find-links {WHEELS}"
    person.types("pipx", "install", offline, str(wheel), program=[str(PIPX)])
    person.typed[-1] = "pipx install rpcgw"
    return person


@pytest.mark.slow
@pytest.mark.timeout(2 * FIVE_MINUTES)
def test_a_procedure_of_ones_own_in_under_five_minutes(newcomer: Newcomer) -> None:
    """The README's steps lead from pipx to an agent that calls one's own procedure, in less than five minutes."""
    newcomer.rpcgw("init", "hello", cwd=newcomer.home)
    folder = newcomer.home / "hello"
    assert "no problems" in newcomer.rpcgw("check", "--strict", cwd=folder)
    with serving(folder, newcomer.environment, program=[str(newcomer.home / ".local/bin/rpcgw")]) as daemon:
        found = talk(CLIENT, f"{daemon.url}/mcp", [("Hello_greet", {"name": "Ada"})])
        assert found["calls"][0]["structured"] == {"result": "Hello, Ada."}
        assert time.monotonic() - newcomer.began < FIVE_MINUTES

        own = folder / "plugins" / "hello.py"
        own.write_text(own.read_text().replace("Hello, {name}", "Welcome, {name}"))
        newcomer.rpcgw("reload", cwd=folder)
        daemon.wait_log("reload.done")
        by_hand = newcomer.rpcgw("tools", "call", "Hello.greet", "name=Ada", "--url", f"{daemon.url}/mcp", cwd=folder)
        assert json.loads(by_hand) == "Welcome, Ada."
    assert "no daemon runs here" in _refused(newcomer, "reload", cwd=folder)


def test_the_readme_begins_there() -> None:
    """The README's first commands are those that a newcomer types above, in this order."""
    readme = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"```console\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    typed = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    assert tuple(line for line in typed if line) == STEPS


def test_the_readme_shows_what_init_writes() -> None:
    """The plugin in the README is the one that `rpcgw init` writes."""
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert shown is not None
    written = (ROOT / "rpcgw/cli/templates/init/plugins/hello.py.template").read_text("utf-8")
    assert written.endswith(shown[1])


def test_the_wheel_is_complete(newcomer: Newcomer) -> None:
    """What is installed holds every file of the package that the repository holds: schemas, templates, py.typed."""
    wanted = subprocess.run(
        ["git", "ls-files", "rpcgw"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    site = next((newcomer.home / ".local/share/pipx/venvs/rpcgw/lib").glob("python*/site-packages"))
    assert not [name for name in wanted if (ROOT / name).exists() and not (site / name).exists()]
    assert (site / "rpcgw" / "py.typed").exists()


def test_an_installation_has_what_init_points_to(newcomer: Newcomer, tmp_path: Path) -> None:
    """The schemas that the first lines of the files name for editors are there."""
    newcomer.rpcgw("init", cwd=tmp_path)
    for name in ("gateway.yaml", "routes.yaml"):
        first = (tmp_path / name).read_text("utf-8").splitlines()[0]
        schema = Path(first.partition("$schema=")[2])
        assert json.loads(schema.read_text("utf-8"))["$schema"].startswith("https://json-schema.org/")


def _refused(newcomer: Newcomer, *arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [newcomer.home / ".local/bin/rpcgw", *arguments],
        cwd=cwd,
        env={**os.environ, **newcomer.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    return done.stderr
