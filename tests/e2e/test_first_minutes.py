"""The transcript of a newcomer: from nothing to an official client that calls one's own procedure, without a network."""

from __future__ import annotations

import json
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.docs.test_blocks import blocks
from tests.support.clients import FETCHED, OfficialClient, talk
from tests.support.daemon import ROOT, serving
from tests.support.installing import checkout, make, offline, typed

PIPX = FETCHED / "pipx" / "bin" / "pipx"
WHEELS = FETCHED / "wheels"
FIVE_MINUTES = 300.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * FIVE_MINUTES)]

CLIENT = OfficialClient("the Python SDK 2 on its own", "mcp2.py", "2026-07-28", "mcp2", "auto")

STEPS = ("pipx install rpcgw", "rpcgw init hello", "cd hello", "rpcgw check", "rpcgw serve")
"""What the README tells a newcomer to type."""


@dataclass
class Newcomer:
    """A person with an empty home, and all that they have typed so far."""

    home: Path
    dist: Path
    began: float = field(default_factory=time.monotonic)
    typed: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """An environment in which nothing of this project is; pip finds what `make setup` fetched, and the wheel."""
        given = offline(self.home)
        path = f"{self.home}/.local/bin:{self.home}/bin:/usr/bin:/bin"
        return {**given, "PATH": path, "PIP_FIND_LINKS": f"{given['PIP_FIND_LINKS']} {self.dist}"}

    def types(self, line: str, cwd: Path | None = None, code: int = 0) -> str:
        """Type a line, which must end with `code`; what it prints."""
        self.typed.append(line)
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=cwd or self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FIVE_MINUTES,
            check=False,
        )
        assert done.returncode == code, f"{line} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in whose `dist` is the wheel, by the line that the page on containers has."""
    place = checkout(tmp_path_factory.mktemp("tree"))
    done = make(typed("docs/howto/containers.md", "make wheel"), place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((place / "dist").glob("rpcgw-*.whl"))) == len(list((place / "dist").glob("rpcgw-*.tar.gz"))) == 1
    return place


def arrived(home: Path, dist: Path) -> Newcomer:
    """A newcomer who has pipx, and nothing else that a system does not have."""
    assert PIPX.exists(), f"{PIPX} is not there: make setup"
    (home / "bin").mkdir()
    (home / "bin" / "pipx").symlink_to(PIPX)
    return Newcomer(home, dist)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory, tree: Path) -> Newcomer:
    """A newcomer who has installed the wheel by pipx, as if it were published: from a folder instead of an index."""
    person = arrived(tmp_path_factory.mktemp("home"), tree / "dist")
    person.types(typed("README.md", "pipx install"))
    return person


def test_a_procedure_of_ones_own_in_under_five_minutes(newcomer: Newcomer) -> None:
    """The README's steps lead from pipx to an agent that calls one's own procedure, in less than five minutes."""
    newcomer.types("rpcgw init hello")
    folder = newcomer.home / "hello"
    assert "no problems" in newcomer.types("rpcgw check --strict", folder)
    with serving(folder, newcomer.environment, program=[str(newcomer.home / ".local/bin/rpcgw")]) as daemon:
        found = talk(CLIENT, f"{daemon.url}/mcp", [("Hello_greet", {"name": "Ada"})])
        assert found["calls"][0]["structured"] == {"result": "Hello, Ada."}
        assert time.monotonic() - newcomer.began < FIVE_MINUTES

        own = folder / "plugins" / "hello.py"
        own.write_text(own.read_text().replace("Hello, {name}", "Welcome, {name}"))
        newcomer.types("rpcgw reload", folder)
        daemon.wait_log("reload.done")
        by_hand = newcomer.types(f"rpcgw tools call Hello.greet name=Ada --url {daemon.url}/mcp", folder)
        assert json.loads(by_hand) == "Welcome, Ada."
    assert "no daemon runs here" in newcomer.types("rpcgw reload", folder, code=1)
    assert newcomer.typed[:3] == ["pipx install rpcgw", "rpcgw init hello", "rpcgw check --strict"]


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
    newcomer.types("rpcgw init", tmp_path)
    for name in ("gateway.yaml", "routes.yaml"):
        first = (tmp_path / name).read_text("utf-8").splitlines()[0]
        schema = Path(first.partition("$schema=")[2])
        assert json.loads(schema.read_text("utf-8"))["$schema"].startswith("https://json-schema.org/")


def test_a_wheel_of_ones_own_is_installed_as_the_readme_says(tree: Path, tmp_path: Path) -> None:
    """Until it is published: the two lines that the README's comment has, the second one in the tree."""
    readme = (ROOT / "README.md").read_text("utf-8")
    [said] = re.findall(r"# until it is published: make wheel, then (pipx install .+)$", readme, re.MULTILINE)
    person = arrived(tmp_path, tmp_path)
    person.types(said, tree)
    assert person.types("rpcgw --version")


def test_the_tutorials_test_is_run_as_it_says(newcomer: Newcomer, tmp_path: Path) -> None:
    """Pytest is put where rpcgw is, and passes on the plugin and the test that both languages show, by their lines."""
    english, ukrainian = (blocks(ROOT / "docs/tutorial" / name) for name in ("index.md", "uk.md"))
    lines, others = (
        next(each.commands for each in page if "pipx inject" in each.text) for page in (english, ukrainian)
    )
    assert lines == others
    for block in english:
        if block.kind == "python":
            (tmp_path / block.file).parent.mkdir(exist_ok=True)
            (tmp_path / block.file).write_text(block.text, "utf-8")
    said = [newcomer.types(line, tmp_path) for line in lines]
    assert "1 passed" in said[-1]
