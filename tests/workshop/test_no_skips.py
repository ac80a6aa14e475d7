"""On CI a skipped test fails the run; elsewhere it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import ROOT

SKIPS = "import pytest\n\n\ndef test_it():\n    pytest.skip('not here')\n\n\ndef test_that():\n    pass\n"
PASSES = "def test_it():\n    pass\n"
RUNS = [
    pytest.param(SKIPS, {"CI": "true"}, 1, id="a skip on CI"),
    pytest.param(SKIPS, {}, 0, id="a skip elsewhere"),
    pytest.param(PASSES, {"CI": "true"}, 0, id="no skip on CI"),
    pytest.param("", {"CI": "true"}, 5, id="no test at all on CI"),
]


@pytest.mark.parametrize(("source", "environment", "code"), RUNS)
def test_a_skip_fails_ci(source: str, environment: dict[str, str], code: int, tmp_path: Path) -> None:
    """The exit code of a run, by what it holds and where it runs."""
    (tmp_path / "test_sample.py").write_text(source)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    inherited = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**inherited, **environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
