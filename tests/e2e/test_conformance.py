"""The official MCP conformance suite, on both wires, against the real daemon."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.run import served, suite

LEAST = {"2026-07-28": 111, "2025-11-25": 54}
"""How many checks pass on each wire; the baselines say which others may fail."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """What the suite printed, and its exit code."""
    results: Path = tmp_path_factory.mktemp("conformance")
    with served() as running:
        done = suite(running.url, results)
    return done.returncode, done.stdout


def test_nothing_fails_but_what_the_baselines_expect(said: tuple[int, str]) -> None:
    """A-MCP-46: exit 0: what a server that offers tools only cannot do fails, nothing else, and nothing of that passes."""
    code, text = said
    assert code == 0, text


@pytest.mark.parametrize("revision", LEAST)
def test_no_check_is_lost(revision: str, said: tuple[int, str]) -> None:
    """As many checks pass as ever did: a tool that is gone would only be skipped."""
    found = re.search(rf"^{revision}: (\d+) checks passed$", said[1], re.MULTILINE)
    assert found is not None, said[1]
    assert int(found[1]) >= LEAST[revision]
