"""Shows each clause of docs/contract.md with the tests that hold it; exits 1 where one has none and is not due later.

A test holds a clause when it is in tests/contract/ and its docstring begins with the clause's id: `T-08: ...`, or with
several: `T-08, T-10: ...`. Such a test of a clause that is marked `later` is shown, and is no fault.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = Path("docs/contract.md")
TESTS = Path("tests/contract")
MUTANTS = TESTS / "mutants"

CLAUSE = re.compile(r"- (?P<id>[TCWD]-\d\d) (?P<text>.*)")
LATER = re.compile(r"  later: (?P<issue>.+)")
PARTLY = re.compile(r"  partly later \((?P<what>.+)\): (?P<issue>.+)")
HOLDS = re.compile(r"(?P<ids>[TCWD]-\d\d(, [TCWD]-\d\d)*): \S")


@dataclass(frozen=True)
class Clause:
    """One line of the contract; `later` is the title of the issue that brings it, `partly` that of a part of it."""

    id: str
    text: str
    later: str | None = None
    partly: str | None = None


@dataclass(frozen=True)
class ContractTest:
    """One test function, by its pytest node id without parameters."""

    node: str
    ids: tuple[str, ...]
    line: int


def read_clauses(root: Path = ROOT) -> list[Clause]:
    """Return the clauses in the order of the document; one id twice is a ValueError."""
    clauses: dict[str, Clause] = {}
    last = ""
    for line in (root / DOCUMENT).read_text(encoding="utf-8").splitlines():
        if found := CLAUSE.match(line):
            last = found["id"]
            if last in clauses:
                raise ValueError(f"{DOCUMENT} has {last} twice")
            clauses[last] = Clause(last, found["text"])
        elif found := LATER.fullmatch(line):
            clauses[last] = Clause(last, clauses[last].text, later=found["issue"])
        elif found := PARTLY.fullmatch(line):
            clauses[last] = Clause(last, clauses[last].text, partly=found["issue"])
    return list(clauses.values())


def read_tests(root: Path = ROOT) -> list[ContractTest]:
    """Return the tests that name a clause, in the order of files and lines."""
    return [test for path in sorted((root / TESTS).rglob("test_*.py")) for test in tests_of(path, root)]


def tests_of(path: Path, root: Path) -> Iterator[ContractTest]:
    """Yield those of one file, be they functions or methods of test classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    file = path.relative_to(root).as_posix()
    owners: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for owner in owners:
        prefix = f"{file}::{owner.name}" if isinstance(owner, ast.ClassDef) else file
        for node in owner.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found = HOLDS.match(ast.get_docstring(node) or "")
                if found:
                    yield ContractTest(f"{prefix}::{node.name}", tuple(found["ids"].split(", ")), node.lineno)


def read_patches(root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the patches by the id that their names begin with."""
    patches: dict[str, list[Path]] = {}
    for path in sorted((root / MUTANTS).glob("*.patch")):
        patches.setdefault(path.name[:4], []).append(path)
    return patches


def faults(clauses: list[Clause], tests: list[ContractTest], patches: dict[str, list[Path]]) -> list[str]:
    """Return what is missing or left over: clauses without test or patch, ids that no clause has."""
    known = {clause.id for clause in clauses}
    held = {name for test in tests for name in test.ids}
    due = [clause.id for clause in clauses if clause.later is None]
    return [
        *(f"{name} has no test" for name in due if name not in held),
        *(f"{name} has no patch in {MUTANTS}" for name in sorted(held & known) if name not in patches),
        *(f"{test.node} names {name}, which no clause has" for test in tests for name in test.ids if name not in known),
        *(f"{path.name} belongs to no clause" for name in patches if name not in known for path in patches[name]),
    ]


def show(clauses: list[Clause], tests: list[ContractTest]) -> None:
    """Print the table."""
    for clause in clauses:
        mine = [test.node.removeprefix(f"{TESTS.as_posix()}/") for test in tests if clause.id in test.ids]
        waits = f"later: {clause.later}" if clause.later else f"partly later: {clause.partly}" if clause.partly else ""
        rest = [waits] if waits else []
        first, *others = [*mine, *rest] or ["no test"]
        print(f"{clause.id}  {first}")
        for line in others:
            print(f"      {line}")


def main() -> int:
    """Print the table and the faults, and return the exit code."""
    clauses, tests = read_clauses(), read_tests()
    show(clauses, tests)
    found = faults(clauses, tests, read_patches())
    for fault in found:
        print(f"contract: {fault}", file=sys.stderr)
    held = {name for test in tests for name in test.ids}
    later = sum(clause.later is not None for clause in clauses)
    print(f"{len(clauses)} clauses, {sum(clause.id in held for clause in clauses)} with tests, {later} due later")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
