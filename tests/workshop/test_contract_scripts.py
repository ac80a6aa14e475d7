"""How the contract's scripts read tests, reports and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.contract import Clause, ContractTest, faults, read_clauses, read_tests
from scripts.contract_mutants import Run, read_report, reported_name

CLAUSES = [Clause("T-01", "one"), Clause("W-01", "two", later="a later issue")]
TEST = ContractTest("tests/contract/test_a.py::test_b", ("T-01",), 1)
PATCHES = {"T-01": [Path("T-01.patch")]}

MISSING = [
    pytest.param([TEST], PATCHES, [], id="nothing is missing"),
    pytest.param([], PATCHES, ["T-01 has no test"], id="a clause that is due has no test"),
    pytest.param([TEST], {}, ["T-01 has no patch in tests/contract/mutants"], id="a tested clause has no patch"),
    pytest.param(
        [TEST, ContractTest("x", ("T-99",), 1)],
        PATCHES,
        ["x names T-99, which no clause has"],
        id="a test of no clause",
    ),
    pytest.param(
        [TEST],
        {**PATCHES, "T-98": [Path("T-98.patch")]},
        ["T-98.patch belongs to no clause"],
        id="a patch of no clause",
    ),
]

REPORT = """<testsuites><testsuite>
<testcase classname="tests.contract.test_a" name="test_red[one]"><failure message="x">E   assert 1 == 2</failure></testcase>
<testcase classname="tests.contract.test_a" name="test_red[two]"/>
<testcase classname="tests.contract.test_a" name="test_green"/>
<testcase classname="tests.contract.test_a.TestIt" name="test_error"><error message="x">E   OSError: no</error></testcase>
<testcase classname="tests.contract.test_a" name="test_dead"><error message="x">
E   tests.support.daemon.DaemonDidNotStart: the daemon did not start, exit code 1</error></testcase>
<testcase classname="tests.contract.test_a" name="test_wants_it"><failure message="x">
E   Failed: DID NOT RAISE &lt;class 'tests.support.daemon.DaemonDidNotStart'&gt;</failure></testcase>
</testsuite></testsuites>"""

SOURCE = '''
def test_plain():
    """T-01: a promise."""

async def test_waits():
    """T-02, C-03: two promises."""

def test_other():
    """Says nothing of T-04: really."""

def helper_test():
    """T-05: no test."""

class TestIt:
    def test_method(self):
        """W-06: in a class."""
'''


@pytest.mark.parametrize(("tests", "patches", "expected"), MISSING)
def test_what_is_missing_is_named(
    tests: list[ContractTest], patches: dict[str, list[Path]], expected: list[str]
) -> None:
    """A clause without test or patch, and an id that no clause has, are faults; what is due later is none."""
    assert faults(CLAUSES, tests, patches) == expected


def test_tests_are_found_by_their_docstrings(tmp_path: Path) -> None:
    """A test names its clauses at the beginning of its docstring, as a function or as a method."""
    (tmp_path / "tests" / "contract").mkdir(parents=True)
    (tmp_path / "tests" / "contract" / "test_a.py").write_text(SOURCE)
    file = "tests/contract/test_a.py"
    assert [(test.node, test.ids) for test in read_tests(tmp_path)] == [
        (f"{file}::test_plain", ("T-01",)),
        (f"{file}::test_waits", ("T-02", "C-03")),
        (f"{file}::TestIt::test_method", ("W-06",)),
    ]


def test_a_clause_knows_what_waits_for_a_later_issue(tmp_path: Path) -> None:
    """The line below a clause marks it as later, whole or in part."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "contract.md").write_text(
        "# x\n\n- T-01 One.\n- C-05 Two.\n  later: An issue\n- C-09 Three.\n  partly later (a file): An issue\n"
    )
    assert read_clauses(tmp_path) == [
        Clause("T-01", "One."),
        Clause("C-05", "Two.", later="An issue"),
        Clause("C-09", "Three.", partly="An issue"),
    ]


def test_a_report_tells_red_from_never_started(tmp_path: Path) -> None:
    """A test is red if any of its parameters is; a daemon that did not start is not a broken clause."""
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    module = "tests.contract.test_a"
    assert read_report(report) == Run(
        red=frozenset({f"{module}.test_red", f"{module}.TestIt.test_error", f"{module}.test_wants_it"}),
        unstarted=frozenset({f"{module}.test_dead"}),
    )


def test_a_node_is_found_again_in_a_report() -> None:
    """The two spellings of one test meet, in a class too."""
    assert reported_name("tests/contract/test_a.py::TestIt::test_b") == "tests.contract.test_a.TestIt.test_b"
