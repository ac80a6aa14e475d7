"""What a session is, and whose: values and decisions. Pure; `rpcgw.endpoints.sessions` keeps them.

A session belongs to one group, one version and one credential; to everybody else it does not exist. Its key in the
pool is `ufo_mcp_<group>_<session id>` (C-21).
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final

import msgspec

from rpcgw.api.context import Principal
from rpcgw.kernel.keys import credential
from rpcgw.protocol.mcp.endpoint import Endpoint
from rpcgw.protocol.mcp.revisions import SESSION, Revision

SLIDES: Final = 10
"""A session in use is written again at most this often in its time to live."""

_PLAUSIBLE: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")


class Session(msgspec.Struct, frozen=True):
    """A session as it is kept: `owner` is a digest of the credential, `created` seconds since the epoch.

    `capabilities` are the names of what its client can do.
    """

    revision: str
    group: str
    version: int
    owner: str
    created: float
    capabilities: tuple[str, ...] = ()


def key(group: str, session_id: str) -> str:
    """Where a session is kept (C-21)."""
    return f"ufo_mcp_{group}_{session_id}"


def index(group: str) -> str:
    """Where the pool notes which sessions of a group live."""
    return f"rpcgw_sessions_{group}"


def is_plausible(session_id: str) -> bool:
    """Whether an id can be one of ours at all; nothing else reaches a store."""
    return _PLAUSIBLE.fullmatch(session_id) is not None


def made(
    endpoint: Endpoint, principal: Principal, revision: Revision, now: float, capabilities: tuple[str, ...] = ()
) -> Session:
    """A new session."""
    return Session(revision.name, endpoint.group, endpoint.version, owner(principal), now, capabilities)


def owner(principal: Principal) -> str:
    """Stands for a credential."""
    return _digest(credential(principal))


@lru_cache(maxsize=4096)
def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def belongs(session: Session, endpoint: Endpoint, principal: Principal) -> bool:
    """Whether a session is this endpoint's and this caller's."""
    return session.version == endpoint.version and session.group == endpoint.group and session.owner == owner(principal)


def packed(session: Session) -> bytes:
    """A session as bytes."""
    return msgspec.json.encode(session)


def unpacked(value: bytes) -> Session | None:
    """A session from its bytes; None where they are damaged, or of a revision that is served no more."""
    try:
        session = msgspec.json.decode(value, type=Session)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return session if session.revision in SESSION else None


def slide_due(ttl: float, since_written: float) -> bool:
    """Whether a session in use is to be written again, so that it lives on."""
    return since_written >= ttl / SLIDES
