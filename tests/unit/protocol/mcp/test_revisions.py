"""The table of revisions and what a new session speaks."""

import pytest

from rpcgw.protocol.mcp.revisions import REVISIONS, SESSION, STATELESS, negotiate


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        *((name, name) for name in SESSION),
        pytest.param("2026-07-28", "2025-11-25", id="a stateless revision has no sessions"),
        pytest.param("1999-01-01", "2025-11-25", id="an unknown revision gets the newest"),
        pytest.param("", "2025-11-25", id="no revision gets the newest"),
    ],
)
def test_a_session_speaks_what_was_asked_for_or_the_newest(asked: str, given: str) -> None:
    """MCP 2025-11-25, Lifecycle, Version Negotiation."""
    assert negotiate(asked).name == given


def test_every_revision_has_one_era() -> None:
    """The table is sorted by age, and each row is in exactly one of the two look-ups."""
    names = [row.name for row in REVISIONS]
    assert names == sorted(names)
    assert sorted([*SESSION, *STATELESS]) == names


def test_only_one_revision_has_batches() -> None:
    """Batches came with 2025-03-26 and went with 2025-06-18."""
    assert [row.name for row in REVISIONS if row.batches] == ["2025-03-26"]
