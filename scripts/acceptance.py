"""Runs the tests that hold the lines of docs/acceptance/*.md, and writes docs/acceptance.md.

A test holds a line when its docstring begins with the line's id (`A-MCP-07: ...`), or with several
(`A-MCP-07, A-MCP-08: ...`), be they of another list too (`A-RPC-80, T-19: ...`). What it sends and receives it notes
as pytest's user property `exchange` (tests/support/acceptance.py). Exits 1 where a line has no test, a test names a
line that is not there, or one fails.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LISTS = Path("docs/acceptance")
OUTCOME = Path("docs/acceptance.md")
TESTS = Path("tests")

TITLE = re.compile(r"# (?P<text>.+)")
SECTION = re.compile(r"## (?P<text>.+)")
LINE = re.compile(r"- (?P<id>A-[A-Z]+-\d{2,3}) (?P<text>.+)")
HOLDS = re.compile(r"(?P<ids>[A-Z]+(-[A-Z]+)?-\d{2,3}(, [A-Z]+(-[A-Z]+)?-\d{2,3})*): \S")
OURS = "A-"
MOST = 20
"""How many exchanges of one test function are shown."""
HEAD = """\
# Acceptance

Written by `make acceptance`, not by hand. For each line of the lists in [acceptance/](acceptance/): the tests that hold
it, what they sent to a daemon that ran, and what came back. Session ids, ports and the like are replaced by words, long
bodies are cut, and what was asked again with the same answer is shown once. {lines} lines, {tests} tests.
"""


@dataclass(frozen=True)
class Line:
    """One promise, where it stands."""

    id: str
    text: str
    title: str
    section: str


@dataclass(frozen=True)
class AcceptanceTest:
    """One test function by its pytest node id without parameters."""

    node: str
    ids: tuple[str, ...]


@dataclass(eq=False)
class Recorder:
    """A pytest plugin: what tests noted, and how they ended."""

    exchanges: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test noted."""
        if not report.passed:
            self.failed.append(report.nodeid)
        if report.when == "call":
            found = self.exchanges.setdefault(report.nodeid.partition("[")[0], [])
            found += [value for name, value in report.user_properties if name == "exchange"]  # type: ignore[misc]  # any value


def read_lines(root: Path = ROOT) -> list[Line]:
    """Return the lines of all lists, in their order; one id twice is a ValueError."""
    lines: dict[str, Line] = {}
    for path in sorted((root / LISTS).glob("*.md")):
        title = section = ""
        for text in path.read_text(encoding="utf-8").splitlines():
            if found := TITLE.fullmatch(text):
                title = found["text"]
            elif found := SECTION.fullmatch(text):
                section = found["text"]
            elif found := LINE.fullmatch(text):
                if found["id"] in lines:
                    raise ValueError(f"{path} has {found['id']} twice")
                lines[found["id"]] = Line(found["id"], found["text"], title, section)
    return list(lines.values())


def read_tests(root: Path = ROOT) -> list[AcceptanceTest]:
    """Return the tests that name a line, in the order of files and lines."""
    return [test for path in sorted((root / TESTS).rglob("test_*.py")) for test in tests_of(path, root)]


def tests_of(path: Path, root: Path) -> Iterator[AcceptanceTest]:
    """Yield those of one file."""
    file = path.relative_to(root).as_posix()
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            found = HOLDS.match(ast.get_docstring(node) or "")
            ids = [name for name in found["ids"].split(", ") if name.startswith(OURS)] if found else []
            if ids:
                yield AcceptanceTest(f"{file}::{node.name}", tuple(ids))


def faults(lines: Iterable[Line], tests: Iterable[AcceptanceTest]) -> list[str]:
    """Return what is missing or left over."""
    known = {line.id for line in lines}
    held = {name for test in tests for name in test.ids}
    return [
        *(f"{name} has no test" for name in sorted(known - held)),
        *(f"{test.node} names {name}, which no list has" for test in tests for name in test.ids if name not in known),
    ]


def document(
    lines: Sequence[Line], tests: Sequence[AcceptanceTest], exchanges: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """Return the text of docs/acceptance.md."""
    parts = [HEAD.format(lines=len(lines), tests=len(tests))]
    title = section = ""
    for line in lines:
        if line.title != title:
            parts.append(f"## {line.title}\n")
        if (line.title, line.section) != (title, section):
            parts.append(f"### {line.section}\n")
        title, section = line.title, line.section
        parts.append(f"#### {line.id}\n\n{line.text}\n")
        for test in tests:
            if line.id == test.ids[0]:
                parts += shown(test, exchanges.get(test.node, ()))
            elif line.id in test.ids:
                parts.append(f"`{test.node}`: see {test.ids[0]}.\n")
    return "\n".join(parts)


def shown(test: AcceptanceTest, noted: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a test and its exchanges, each of them once."""
    yield f"`{test.node}`\n"
    seen = dict.fromkeys(map(as_text, noted))
    yield from list(seen)[:MOST]
    if len(seen) > MOST:
        yield f"... and {len(seen) - MOST} more.\n"


def as_text(exchange: Mapping[str, Any]) -> str:
    """Return a request and its answer as two blocks."""
    answer = "\n".join(filter(None, (str(exchange["status"]), exchange["answer"])))
    return "\n\n".join(f"```http\n{text}\n```" for text in (exchange["request"], answer) if text) + "\n"


def main() -> int:
    """Run, write, and return the exit code."""
    lines, tests = read_lines(), read_tests()
    found = faults(lines, tests)
    for fault in found:
        print(f"acceptance: {fault}", file=sys.stderr)
    recorder = Recorder()
    code = pytest.main(["-q", *(test.node for test in tests), *sys.argv[1:]], plugins=[recorder])
    if code == pytest.ExitCode.OK and not found:
        (ROOT / OUTCOME).write_text(document(lines, tests, recorder.exchanges), encoding="utf-8")
        print(f"{OUTCOME}: {len(lines)} lines, {len(tests)} tests")
    return 1 if found else int(code)


if __name__ == "__main__":
    sys.exit(main())
