"""The revisions of MCP that are served, one row each. Pure.

Two eras (MCP 2026-07-28, Versioning): up to 2025-11-25 a session begins with `initialize`; from 2026-07-28 on every
request stands alone and says its revision itself. A new revision is a new row.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, Literal

from rpcgw.api.records import record

Era = Literal["session", "stateless"]


BLOCKS: Final = frozenset({"text", "image", "audio", "resource", "resource_link"})
"""Every kind of content block."""


@record(frozen=True, slots=True)
class Revision:
    """One revision: its name on the wire, its era, whether it knows JSON-RPC batches, and which content blocks."""

    name: str
    era: Era
    batches: bool = False
    blocks: AbstractSet[str] = BLOCKS


REVISIONS: Final = (
    Revision("2024-11-05", "session", blocks=BLOCKS - {"audio", "resource_link"}),
    Revision("2025-03-26", "session", batches=True, blocks=BLOCKS - {"resource_link"}),
    Revision("2025-06-18", "session"),
    Revision("2025-11-25", "session"),
    Revision("2026-07-28", "stateless"),
)
"""Oldest first."""

SESSION: Final = {row.name: row for row in REVISIONS if row.era == "session"}
STATELESS: Final = {row.name: row for row in REVISIONS if row.era == "stateless"}
NEWEST_SESSION: Final = next(reversed(SESSION.values()))


def negotiate(asked: str) -> Revision:
    """The revision of a new session: the one asked for, else the newest (MCP 2025-11-25, Lifecycle).

    A stateless revision has no sessions, so asking for one in `initialize` gets the newest session revision too.
    """
    return SESSION.get(asked, NEWEST_SESSION)
