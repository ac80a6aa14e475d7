"""The commands of the documents that speak to a daemon, done to one: whoever follows a page gets what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.docs.test_blocks import PAGES, alternatives, begin, blocks, check_line, named, run
from tests.support.clients import NODE, NODE_FOLDER
from tests.support.daemon import ROOT, RPCGW, Daemon, clean_environment, example, serving

WRITTEN = "http://127.0.0.1:8080"
"""Where the documents say that a daemon is."""
ADDRESSES = re.compile(rf"{re.escape(WRITTEN)}|https://tools\.example\.com")
STANDING_FOR = {"METHOD": "Hello.greet", "NAME": "Hello.greet", "key=value": "name=Ada"}
"""Words that a reader puts something else for."""
KEPT = """
import rpcgw as rpc


@rpc.procedure("Kept")
class Kept:
    @rpc.cache(ttl=60)
    def price(self) -> int:
        return 1
"""
"""A method whose results are kept, for who is to drop them."""
ELSEWHERE = re.compile(r"\bcurl\b|\bclaude mcp\b|\brpcgw (serve|reload|sessions|cache)\b|--url\b|make serve|eval ")
NOT_HERE = {"pipx", "make", "pytest", "python"}
"""Programs whose lines are somebody else's to run: test_lines.py says whose."""
CLAUDE = [str(NODE), str(NODE_FOLDER / "node_modules/@anthropic-ai/claude-code/cli.js")]
OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    **dict.fromkeys(("DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1"),
}
"""No program asks anybody who is not on this machine."""

LIVE = [page for page in PAGES if any(ELSEWHERE.search(each.text) for each in blocks(page) if each.kind == "console")]


class Reader:
    """Somebody who follows a page: where they stand, what they have started, and what they were told to keep."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self.place = place
        self.environment: dict[str, str] = {"TOKEN": "s3cret"}
        self.tokens: dict[str, str] = {}
        self.done: list[str] = []
        self._home = place / ".home"
        self._home.mkdir()
        self._stack = stack
        self._served: Daemon | None = None

    @property
    def served(self) -> Daemon:
        """The daemon that the page speaks of; one that it takes for granted is started."""
        return self._served or self._serve([])

    def do(self, line: str) -> None:
        """Do what a line says."""
        words = shlex.split(line, comments=True)
        if words[:2] == ["make", "serve"]:
            self._served = self._stack.enter_context(example())
        elif words[0] == "cd":
            self.place /= words[1]
        elif words[0] == "curl":
            self._curl(words[1:])
        elif words[0] == "claude":
            self._claude(words[1:])
        elif words[0] == "eval":
            self._shell(line.partition("#")[0])
        elif words[0] == "rpcgw":
            for own in alternatives(words[1:]):
                self._rpcgw(own)
        else:
            assert words[0] in NOT_HERE, line
            check_line(line)
            return
        self.done.append(line)

    def write(self, name: str, text: str) -> None:
        """Write a file of the page, with the tokens that were made here."""
        for written, made in self.tokens.items():
            text = text.replace(written, made)
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def _rpcgw(self, words: list[str]) -> None:
        if words[0] == "serve":
            self._serve(words[1:])
        elif words == ["cache", "clear", "METHOD"]:
            self.write("plugins/kept.py", KEPT)
            self._run(["cache", "clear", "Kept.price"])
        else:
            here = [ADDRESSES.sub(lambda _: self.served.url, STANDING_FOR.get(word, word)) for word in words]
            if words[0] == "reload":
                self._reload()
            else:
                self._keep(words, self._run(here))

    def _run(self, words: list[str]) -> str:
        return run(words, self.place, self.environment)

    def _keep(self, words: list[str], said: str) -> None:
        """A token that was made is put where the page shows one, and kept where it takes one from."""
        if words[:2] != ["token", "new"] or "--name" not in words:
            return
        name = words[words.index("--name") + 1]
        token, line = said.split(maxsplit=1)[0], said
        digest = re.search(r"[0-9a-f]{64}", line)
        assert digest is not None, said
        self.environment[f"{name.upper()}_TOKEN"] = token
        self.tokens["e4c696a9652cd3acd23303f292de382f59c632bf6dc8b74be558edeb45386d53"] = digest[0]

    def _reload(self) -> None:
        served = self.served
        before = len(served.logs("reload.done"))
        self._run(["reload"])
        served.wait_log("reload.done", count=before + 1)

    def _serve(self, arguments: list[str]) -> Daemon:
        config = arguments[arguments.index("-c") + 1] if "-c" in arguments else "gateway.yaml"
        others = [word for word in arguments if word not in ("-c", config)]
        if self._served is not None:
            assert self._served.stop() == 0
        self._served = self._stack.enter_context(serving(self.place, self.environment, others, config=config))
        return self._served

    def _curl(self, words: list[str]) -> None:
        """A request by curl itself, which is answered without an error of any kind."""
        said = self._other(["curl", "--fail-with-body", *(word.replace(WRITTEN, self.served.url) for word in words)])
        assert "error" not in json.loads(said), said
        assert '"isError":true' not in said, said

    def _claude(self, words: list[str]) -> None:
        """Claude Code with a home of its own: what was added it reaches, and says so."""
        assert Path(CLAUDE[1]).exists(), f"{CLAUDE[1]} is not there: make setup"
        self._other([*CLAUDE, *(word.replace(WRITTEN, self.served.url) for word in words)])
        said = self._other([*CLAUDE, "mcp", "list"])
        assert re.search(rf"^hello: {self.served.url}/mcp \(HTTP\) - ✓ Connected$", said, re.MULTILINE), said

    def _other(self, command: list[str]) -> str:
        """Run somebody else's program, which ends well and reaches nothing but this machine; what it prints."""
        environment = {**clean_environment(self._home, self.environment), **OFFLINE}
        done = subprocess.run(
            command, cwd=self.place, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _shell(self, line: str) -> None:
        path = f"{RPCGW.parent}:{os.environ['PATH']}"
        environment = {**clean_environment(self.place, self.environment), "PATH": path}
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def reading(place: Path) -> Iterator[Reader]:
    """A reader in a folder, who ends at last what they started."""
    with ExitStack() as stack:
        yield Reader(place, stack)


def copied(place: Path) -> Path:
    """The tree as one has it who has cloned it: what runs leaves its state there."""
    shutil.copytree(ROOT / "plugins", place / "plugins", ignore=shutil.ignore_patterns("__pycache__", "var"))
    return place


def outside(text: str, redis_url: str) -> str:
    """A page's file with the address of a store that is really there."""
    return re.sub(r"redis://:\$\{REDIS_PASSWORD:-\}@redis\.internal:6379/0", redis_url, text)


@pytest.mark.timeout(600)  # each page starts daemons, and some of them more than one
@pytest.mark.parametrize("page", LIVE, ids=named)
def test_a_page_can_be_followed(page: Path, tmp_path: Path, redis_url: str) -> None:
    """Its files are written and its commands done in its order, against a daemon where they want one: all end well."""
    with reading(copied(tmp_path) if page.is_relative_to(ROOT / "plugins") else begin(tmp_path, page)) as reader:
        for block in blocks(page):
            if block.file:
                reader.write(block.file, outside(block.text, redis_url))
            elif block.kind == "console":
                for line in block.commands:
                    reader.do(line)
        assert [line for line in reader.done if ELSEWHERE.search(line)]


def test_every_request_of_the_pages_is_sent() -> None:
    """No page has a line with curl or claude, or one for a daemon, that the pages followed here do not have."""
    speaking = {
        page for page in PAGES for block in blocks(page) if re.search(r"curl|claude mcp|--url|rpcgw serve", block.text)
    }
    assert speaking <= set(LIVE)


FILES = re.compile(r"(?<![\w/.-])(?:systemd|scripts|docs|plugins)/[\w./@-]+\.\w+")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(each.kind in ("", "text") for each in blocks(page))], ids=named
)
def test_what_a_text_names_is_there(page: Path) -> None:
    """Files of the product that a block for another place names (systemd's) are in it, and its shell lines can be read."""
    for block in blocks(page):
        if block.kind not in ("", "text"):
            continue
        assert [name for name in FILES.findall(block.text) if not (ROOT / name).exists()] == []
        if block.text.startswith(("install ", "cp ", "python3 ", "systemctl ")):
            done = subprocess.run(["bash", "-n", "-c", block.text], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
