"""The pages' own scripts are linted, type-checked, and small enough for a page that is read on the way."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

from tests.support.clients import NODE, NODE_FOLDER
from tests.support.daemon import ROOT

STATIC = ROOT / "rpcgw" / "pages" / "static"
LARGEST = 15_000


def run(package: str, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the npm folder on the project."""
    assert NODE.exists(), f"{NODE} is not there: make setup"
    command = [NODE, NODE_FOLDER / "node_modules" / package / "bin" / program, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_scripts_are_linted() -> None:
    """ESLint has nothing to say of the console's script and of the page runtime."""
    done = run("eslint", "eslint.js", "--config", "tests/clients/node/eslint.config.mjs", STATIC)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_runtime_has_types() -> None:
    """TypeScript, strict, finds each type in the comments right."""
    done = run("typescript", "tsc", "--project", "tests/clients/node")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_runtime_is_small() -> None:
    """Minified it stays under 15 KB, gzipped under half of that; nobody has to build it."""
    done = run("terser", "terser", STATIC / "webmcp.js", "--compress", "passes=2,ecma=2022", "--mangle")
    assert done.returncode == 0, done.stderr
    assert 0 < len(done.stdout.encode()) < LARGEST
    assert len(gzip.compress(done.stdout.encode())) < LARGEST / 2
