"""Whose a session is."""

from __future__ import annotations

import pytest

from rpcgw.api.context import ANONYMOUS, Principal
from rpcgw.protocol.mcp.revisions import NEWEST_SESSION, SESSION
from rpcgw.protocol.mcp.sessions import Session, belongs, is_plausible, key, made, owner, packed, slide_due, unpacked
from tests.unit.protocol.mcp.test_answers import ENDPOINT


def test_a_session_is_kept_under_its_group_and_id() -> None:
    """C-21: exactly this key, without a prefix."""
    assert key("mcp", "abc") == "ufo_mcp_mcp_abc"


def test_a_session_survives_being_kept() -> None:
    """What is read back is what was made, for every session revision."""
    for revision in SESSION.values():
        session = made(ENDPOINT, ANONYMOUS, revision, 5.0)
        assert unpacked(packed(session)) == session


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_a_truncated_session_is_none(cut: int) -> None:
    """A damaged entry is no session, never an error."""
    assert unpacked(packed(made(ENDPOINT, ANONYMOUS, NEWEST_SESSION, 5.0))[:cut]) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"group": "other"}, id="another group"),
        pytest.param({"version": 2}, id="another version"),
        pytest.param({"owner": owner(Principal("somebody"))}, id="another credential"),
    ],
)
def test_a_foreign_session_is_nobodys(change: dict[str, object]) -> None:
    """C-21: bound to group, version and credential."""
    fields: dict[str, object] = {
        "revision": "2025-11-25",
        "group": "demo",
        "version": 1,
        "owner": owner(ANONYMOUS),
        "created": 1.0,
    }
    assert belongs(Session(**fields), ENDPOINT, ANONYMOUS)  # type: ignore[arg-type]  # as in the table
    assert not belongs(Session(**fields | change), ENDPOINT, ANONYMOUS)  # type: ignore[arg-type]  # as in the table


def test_one_subject_of_two_issuers_is_two_owners() -> None:
    """A name alone does not tell who somebody is once tokens come from outside."""
    names = {
        owner(Principal("me")),
        owner(Principal("me", claims={"iss": "a"})),
        owner(Principal("me", claims={"iss": "b"})),
    }
    assert len(names) == 3


@pytest.mark.parametrize(
    ("session_id", "plausible"),
    [("a" * 16, True), ("A-_9" * 32, True), ("a" * 15, False), ("a" * 129, False), ("a/../" * 5, False), ("", False)],
)
def test_only_what_could_be_an_id_is_looked_for(session_id: str, plausible: bool) -> None:
    """A key is made of it, so nothing else may be in it."""
    assert is_plausible(session_id) is plausible


def test_a_session_slides_once_a_tenth_of_its_time() -> None:
    """At most ten writes in its time to live."""
    assert not slide_due(100.0, 9.9)
    assert slide_due(100.0, 10.0)
