"""What the audit of dependencies makes of an advisory service's report."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.audit import findings, packages

SOUND: dict[str, Any] = {"name": "aiohttp", "version": "3.14.5", "vulns": []}
SKIPPED: dict[str, Any] = {"name": "own", "skip_reason": "it is in no index"}
MENDED: dict[str, Any] = {
    "name": "redis",
    "version": "1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2.0"], "aliases": []}],
}
OPEN: dict[str, Any] = {"name": "babel", "version": "2.0", "vulns": [{"id": "GHSA-2", "fix_versions": []}]}


@pytest.mark.parametrize(
    ("dependencies", "said"),
    [
        pytest.param([SOUND], [], id="nothing is known"),
        pytest.param([SKIPPED], [], id="a package that nobody can say anything of"),
        pytest.param([SOUND, MENDED], ["redis 1.0: PYSEC-1, mended in 1.1, 2.0"], id="a fault that a version mends"),
        pytest.param([OPEN], ["babel 2.0: GHSA-2, mended in no version yet"], id="a fault that none mends"),
    ],
)
def test_each_known_fault_is_a_line(dependencies: list[dict[str, Any]], said: list[str]) -> None:
    """Package, version, the fault's name, and what to install instead."""
    assert list(findings({"dependencies": dependencies})) == said
    assert packages({"dependencies": dependencies}) == len(dependencies)
