"""The repository as a stranger finds it: what is committed names no package host, and each target is explained."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.daemon import ROOT

HOSTS = re.compile(rb"(pypi|pythonhosted|npmjs)\.org\b|proxy\.golang\.")
TARGETS = [
    *("setup", "serve", "test"),
    *(
        "ci",
        "lint",
        "types",
        "layers",
        "format",
        "contract",
        "contract-mutants",
        "acceptance",
        "ops-report",
        "soak",
        "systemd-test",
        "image-test",
        "fuzz",
        "conformance",
    ),
    *("bench", "bench-short", "reference", "docs", "wheel", "install", "clean", "lock"),
]


def committed() -> list[Path]:
    """Return the files that git keeps."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in filter(None, listing.split("\0")) if (ROOT / name).is_file()]


def test_no_package_host_is_named() -> None:
    """Locks and settings leave it to the machine where packages come from."""
    assert [path for path in committed() if HOSTS.search(path.read_bytes())] == []


@pytest.mark.parametrize("target", TARGETS)
def test_make_help_explains_each_target(target: str) -> None:
    """`make help` has one line for each target that the project promises."""
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^make {re.escape(target)} +\S", said, re.MULTILINE)
