"""The code blocks of the documents: a page is one project, whose files are written and whose commands are run in order.

A YAML or Python block that begins with `# path` is that file. `rpcgw` commands that need no daemon are run; of the others
the command and its options must exist. test_live.py runs those that need one, and curl's and claude's; test_lines.py says
who runs the lines of other programs, test_fragments.py takes blocks that are no whole file.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from rpcgw.cli.commands import cli
from rpcgw.config.loading import load
from tests.support.daemon import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [
    page
    for folder in ("tutorial", "howto", "explanation", "reference", "adr")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
]
PAGES += sorted((ROOT / "plugins").glob("*/README.md"))
PAGES = [page for page in PAGES if page != ROOT / "docs" / "acceptance.md"]

KINDS = {"", "text", "console", "json", "python", "yaml"}
PROGRAMS = {"cd", "claude", "curl", "eval", "kubectl", "make", "pipx", "podman", "pytest", "python", "rpcgw"}
RUN = {"init", "check", "call", "tools", "methods", "routes", "client", "switch", "webmcp"}
"""Commands that answer without a daemon, where no option says otherwise."""

GATEWAY = "ufo_json_rpc: {security: {protected_api: false}}\n"
ROUTES = "rpc: {resource: rpc, prefix: /rpc}\nmcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}\n"
GREETINGS = (ROOT / "rpcgw/cli/templates/init/plugins/hello.py.template").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./-]+\.(?:py|yaml))\n")


@dataclass(frozen=True)
class Block:
    """A code block; `file` is what its first line names."""

    kind: str
    text: str

    @property
    def file(self) -> str:
        found = FILE.match(self.text)
        return found[1] if found else ""

    @property
    def commands(self) -> list[str]:
        """The command lines of a console block, continued lines joined."""
        whole = re.sub(r"\\\n\s*", " ", self.text)
        whole = re.sub(r"'[^']*'", lambda found: found[0].replace("\n", " "), whole)
        return [line for line in whole.splitlines() if line.strip()]


def blocks(page: Path) -> list[Block]:
    return [Block(kind, text) for kind, text in BLOCK.findall(page.read_text("utf-8"))]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


WITH_BLOCKS = [page for page in PAGES if blocks(page)]
PROJECTS = [page for page in WITH_BLOCKS if any(block.file for block in blocks(page))]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=named)
def test_every_block_can_be_read(page: Path) -> None:
    """Python compiles, YAML and JSON parse, and a command has its name and options."""
    for block in blocks(page):
        assert block.kind in KINDS
        if block.kind == "python":
            ast.parse(block.text)
        if block.kind == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict)
        if block.kind == "json":
            json.loads(block.text)
        if block.kind == "console":
            for line in block.commands:
                check_line(line)


@pytest.mark.parametrize("page", PROJECTS, ids=named)
def test_a_page_works_as_it_is_written(page: Path, tmp_path: Path) -> None:
    """The files of a page, written in its order, load, and its commands end well."""
    place = begin(tmp_path, page)
    for block in blocks(page):
        if block.file:
            path = place / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
            if block.file == "gateway.yaml":
                load(str(path), env={})
        if block.kind == "console":
            for line in block.commands:
                place = follow(line, place)


def begin(place: Path, page: Path) -> Path:
    """An empty folder where the page itself makes a project, else one with routes and a plugin."""
    if any("rpcgw init" in block.text for block in blocks(page)):
        return place
    own = {block.file for block in blocks(page)}
    (place / "plugins").mkdir()
    (place / "plugins" / "hello.py").write_text(GREETINGS, "utf-8")
    (place / "gateway.yaml").write_text(GATEWAY, "utf-8")
    if not any(name.startswith("config/") for name in own):
        (place / "routes.yaml").write_text(ROUTES, "utf-8")
    return place


def follow(line: str, place: Path) -> Path:
    """Do what a line says, where it needs no daemon; where one stands afterwards."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["cd"]:
        return place / words[1]
    if words[0] != "rpcgw" or words[1] not in RUN or "--url" in words:
        return place
    run(words[1:], place)
    return place


def run(words: list[str], place: Path, env: dict[str, str] | None = None) -> str:
    """What a command of rpcgw prints, which ends well; plugins that it has imported are those of this page alone.

    It runs in this process: a new one takes most of a second to import what it needs.
    """
    before = set(sys.modules)
    with chdir(place):
        done = CliRunner().invoke(cli, words, prog_name="rpcgw", env=env)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(f"{place}/"):
            del sys.modules[name]
    assert done.exit_code == 0, f"rpcgw {' '.join(words)}\n{done.output}{done.exception!r}"
    return done.stdout


def check_line(line: str) -> None:
    """A line begins with a program that the documents speak of; where that is rpcgw, it takes the line."""
    words = shlex.split(line, comments=True)
    assert words[0] in PROGRAMS, line
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets), line
    if words[0] == "rpcgw":
        for alternative in alternatives(words[1:]):
            check_command(alternative, line)


def alternatives(words: list[str]) -> Iterator[list[str]]:
    """`a | b c` are two commands."""
    own: list[str] = []
    for word in words:
        if word == "|":
            yield own
            own = []
        else:
            own.append(word)
    yield own


def check_command(words: list[str], line: str) -> None:
    """The command exists, and so does each option."""
    context = click.Context(cli, info_name="rpcgw")
    command: click.Command = cli
    rest = list(words)
    while isinstance(command, click.Group) and rest:
        found = command.get_command(context, rest.pop(0))
        assert found is not None, line
        command = found
    known = {option for param in command.params for option in param.opts}
    assert {word for word in rest if re.match(r"--?[a-z]", word)} <= known | {"--help"}, line


def test_the_tutorials_are_one() -> None:
    """Both languages of the tutorial show the same plugin and the same test."""
    english, ukrainian = (
        [block.text for block in blocks(ROOT / "docs" / "tutorial" / name) if block.kind == "python"]
        for name in ("index.md", "uk.md")
    )
    assert english == ukrainian


def test_every_page_is_in_the_site() -> None:
    """What lies in docs stands in the navigation, but for the acceptance record."""
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    written = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in written if "acceptance" not in page} == {
        page for page in listed if "acceptance" not in page
    }
