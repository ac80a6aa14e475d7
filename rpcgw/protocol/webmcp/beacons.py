"""Beacons: what a page tells of a call, and what of it is counted (W-11). Pure.

Of a call is kept when it began, of which site and tool it was, which agent made it, how it ended and how long it took.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Annotated, Final, Literal, get_args

import msgspec

from rpcgw.protocol.webmcp.agents import counted

LARGEST: Final = 2048
"""The most bytes that a beacon has."""
LONGEST_CALL: Final = 3_600_000
"""Milliseconds that a call is said to have taken at most."""

Outcome = Literal["ok", "error", "invalid", "declined", "aborted"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_CallId = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{16,64}\Z")]


class Refused(Enum):
    """Why a beacon is not counted."""

    MALFORMED = "malformed"
    UNKNOWN = "unknown_tool"


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A call has begun; `at` is in seconds since the epoch. `client` is a name that may be kept."""

    site: str
    tool: str
    client: str
    call: str
    at: int


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A call has ended, after `ms` milliseconds."""

    site: str
    call: str
    outcome: Outcome
    ms: int


Told = Begun | Ended


class _Beacon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Both forms at once: `tool` is there exactly in the first, `outcome` and `ms` in the second."""

    call: _CallId
    tool: str | msgspec.UnsetType = msgspec.UNSET
    client: str | msgspec.UnsetType = msgspec.UNSET
    outcome: Outcome | msgspec.UnsetType = msgspec.UNSET
    ms: Annotated[int, msgspec.Meta(ge=0)] | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Beacon).decode


def read(body: bytes, site: str, tools: Collection[str], now: float, agents: tuple[str, ...] = ()) -> Told | Refused:
    """What a beacon of a site says; `tools` are the site's, `agents` are kept by name beside the well-known ones."""
    try:
        beacon = _decode(body)
    except (msgspec.DecodeError, ValueError):
        return Refused.MALFORMED
    tool, client, outcome, ms = beacon.tool, beacon.client, beacon.outcome, beacon.ms
    if isinstance(tool, str) and outcome is msgspec.UNSET and ms is msgspec.UNSET:
        if tool not in tools:
            return Refused.UNKNOWN
        hint = client if isinstance(client, str) else ""
        return Begun(site=site, tool=tool, client=counted(hint, agents), call=beacon.call, at=int(now))
    if tool is msgspec.UNSET and client is msgspec.UNSET and isinstance(outcome, str) and isinstance(ms, int):
        return Ended(site=site, call=beacon.call, outcome=outcome, ms=min(ms, LONGEST_CALL))
    return Refused.MALFORMED
