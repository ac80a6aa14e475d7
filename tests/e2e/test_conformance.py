"""The official MCP conformance suite, on both wires, against the real daemon."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.run import released, served, suite

LEAST = {"2026-07-28": 115, "2025-11-25": 54}
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


OFFERED = {
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
}
"""The scenarios of the released suite that ask for nothing but tools."""

NOT_OFFERED = (
    "logging-",
    "completion-",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-",
    "resources-",
    "prompts-",
)
"""How the names of the others begin: what a server that offers tools only does not do."""


def test_the_released_suite(tmp_path: Path) -> None:
    """A-MCP-46: of the active suite of 0.1.16 every scenario for tools passes, and nothing else is in it."""
    with served() as running:
        passed = released(running.url, tmp_path)
    assert {name for name, fine in passed.items() if fine} == OFFERED
    assert [name for name, fine in passed.items() if not fine and not name.startswith(NOT_OFFERED)] == []
