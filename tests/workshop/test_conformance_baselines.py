"""The conformance suite's baselines are given, not chosen: what is expected to fail may not grow unseen."""

from __future__ import annotations

import hashlib

import pytest

from tests.support.daemon import ROOT

GIVEN = [
    pytest.param(
        "expected-failures.tools-only.2025-11-25.yml",
        "a385b9c6602d15e944d51ae4d677b3c3e0e1f273668b832e1a03c49e6731e748",
        id="the sessions' baseline",
    ),
    pytest.param(
        "expected-failures.tools-only.2026-07-28.yml",
        "8b969c758733ade0c2ad3a1a1d8cec88c88a1ac21b19498b30d03672fa2ac8e1",
        id="the stateless baseline",
    ),
    pytest.param(
        "conformance_tools.json",
        "0a10b925292d97fc5e2d3eaaf27151605d871566aae3eb322678583337478129",
        id="the tools that the suite calls",
    ),
]


@pytest.mark.parametrize(("name", "digest"), GIVEN)
def test_what_the_suite_is_run_with_is_unchanged(name: str, digest: str) -> None:
    """Each file is byte for byte the one that was given."""
    assert hashlib.sha256((ROOT / "tests" / "conformance" / name).read_bytes()).hexdigest() == digest
