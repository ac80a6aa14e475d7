"""docs/contract.md, its tests and their patches belong together."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from scripts.contract import MUTANTS, ROOT, TESTS, faults, read_clauses, read_patches, read_tests

CONTRACT_FILES = [
    pytest.param(path, id=path.relative_to(ROOT).as_posix())
    for path in sorted([*(ROOT / TESTS).rglob("*.py"), *(ROOT / "tests" / "support").rglob("*.py")])
]
PATCHES = [pytest.param(path, id=path.name) for paths in read_patches().values() for path in paths]


def imported(tree: ast.AST) -> set[str]:
    """Return the modules that a file imports, wherever in it, `importlib.import_module("...")` included."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names.add(module)
            case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__")):
                names |= {
                    part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
                }
    return names


def test_the_contract_has_all_its_clauses() -> None:
    """The four sections stand whole: T-01 to T-20, C-01 to C-23, W-01 to W-13, D-01 to D-05, in this order."""
    counts = {"T": 20, "C": 23, "W": 13, "D": 5}
    expected = [f"{letter}-{number:02}" for letter, count in counts.items() for number in range(1, count + 1)]
    assert [clause.id for clause in read_clauses()] == expected


def test_every_clause_that_is_due_has_a_test_and_a_patch() -> None:
    """What `make contract` says: no clause is without a test, no tested clause without its patch, no id is unknown."""
    assert faults(read_clauses(), read_tests(), read_patches()) == []


@pytest.mark.parametrize("path", CONTRACT_FILES)
def test_contract_tests_do_not_import_the_product(path: Path) -> None:
    """A contract test, and what it is built from, knows the daemon from outside only."""
    names = imported(ast.parse(path.read_text(encoding="utf-8")))
    assert not [name for name in names if name.partition(".")[0] == "rpcgw"]


@pytest.mark.parametrize("patch", PATCHES)
def test_a_patch_still_applies(patch: Path) -> None:
    """Each patch fits the code as it is; that it turns its tests red is for `make contract-mutants`."""
    command = ["git", "apply", "--check", "--whitespace=nowarn", str(patch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{MUTANTS / patch.name}: {done.stderr}"
