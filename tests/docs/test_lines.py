"""Every line of a console block is typed by some test: here those for make, in a tree of one's own."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.docs.test_blocks import PAGES, PROJECTS, RUN, blocks
from tests.docs.test_live import LIVE, NOT_HERE
from tests.support.daemon import BIND, ROOT, wait_for_address
from tests.support.http import Client
from tests.support.installing import checkout, make, offline, typed

FIRST_MINUTES = "tests/e2e/test_first_minutes.py"
IMAGE = "tests/image/running.py"
THEIRS = {
    "pipx install rpcgw": FIRST_MINUTES,
    "pipx inject --include-apps rpcgw pytest": FIRST_MINUTES,
    "pytest -o pythonpath=plugins tests": FIRST_MINUTES,
    "make wheel": FIRST_MINUTES,
    "make install": "tests/e2e/test_install.py",
    "kubectl apply": "tests/workshop/test_packaging.py",
    "podman build": IMAGE,
    "podman run": IMAGE,
}
"""How lines begin that other files type, and which."""
OURS = {"make help", "make setup", "make serve", "make test", "make ci"}

LINES = {line for page in PAGES for block in blocks(page) if block.kind == "console" for line in block.commands}


def by_a_page(page: Path, words: list[str]) -> bool:
    """Whether a line is done where its page is followed."""
    if page in LIVE and words[0] not in NOT_HERE:
        return True
    return page in PROJECTS and (words[0] == "cd" or (words[0] == "rpcgw" and words[1] in RUN))


def test_every_line_is_typed_by_some_test() -> None:
    """None is only looked at."""
    left = set()
    for page in PAGES:
        for line in (line for block in blocks(page) if block.kind == "console" for line in block.commands):
            words = shlex.split(line, comments=True)
            if not by_a_page(page, words) and shlex.join(words) not in OURS and not line.startswith(tuple(THEIRS)):
                left.add(line)
    assert left == set()


@pytest.mark.parametrize(("beginning", "file"), THEIRS.items(), ids=str)
def test_who_types_a_line_has_it_from_the_page(beginning: str, file: str) -> None:
    """The line is there still, and the file takes it from a page."""
    assert any(line.startswith(beginning) for line in LINES)
    assert beginning.split(maxsplit=1)[0] in (ROOT / file).read_text("utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree that somebody has cloned and set up."""
    return checkout(tmp_path_factory.mktemp("tree"))


def test_make_says_what_there_is_to_do(tree: Path) -> None:
    """Each target that a page names is in what `make help` prints."""
    told = make(typed("CONTRIBUTING.md", "make help"), tree).stdout
    named = {shlex.split(line, comments=True)[1] for line in LINES if line.startswith("make ")}
    assert {name for name in named if f"make {name} " not in told} == set()


def test_a_second_setup_fetches_nothing(tree: Path) -> None:
    """What is as the locks want it is left as it is: nothing is asked of anybody."""
    done = make(typed("CONTRIBUTING.md", "make setup"), tree)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_make_runs_tests(tree: Path) -> None:
    """All of them, but for what ARGS says: here those of one file."""
    done = make(typed("README.md", "make test"), tree, ARGS="tests/unit/config/test_catalogues.py -p no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_make_serves_the_example(tree: Path) -> None:
    """At the address that it says, until Ctrl-C; here on a free port, for others may listen at 8080."""
    example = tree / "gateway.yaml.example"
    example.write_text(example.read_text("utf-8").replace("bind: 127.0.0.1:8080 ", f"bind: {BIND} ", 1), "utf-8")
    with (tree / "daemon.log").open("wb") as log:
        line = ["bash", "-c", typed("README.md", "make serve")]
        process = subprocess.Popen(line, cwd=tree, env=offline(tree), stderr=log, stdout=log, start_new_session=True)
    try:
        served = Client(wait_for_address(process, tree))
        asked = {"query": "watering can", "limit": 2}
        answer = served.post("/rpc/internal", {"jsonrpc": "2.0", "id": 1, "method": "Catalog.search", "params": asked})
        assert "result" in answer.json()
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert "Traceback" not in (tree / "daemon.log").read_text("utf-8")


def test_what_ci_runs_can_be_run(tree: Path) -> None:
    """It is what runs this test, and it asks osv.dev: here make only says what it would do, and that is every step."""
    line = typed("CONTRIBUTING.md", "make ci")
    told = make(line, tree, MAKEFLAGS="n").stdout
    steps = ("ruff check", "mypy", "lint-imports", "scripts.audit", "-m pytest", "-m bench --short")
    assert [step for step in steps if step not in told] == []
