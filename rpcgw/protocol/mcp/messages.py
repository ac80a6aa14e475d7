"""What a POST body can be, once it has been read. Pure values, made for each request.

Decoded JSON holds no cycles, so the collector need not look at what holds it (`gc=False`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from rpcgw.protocol.mcp.faults import Refused, RequestId
from rpcgw.protocol.mcp.revisions import Era


class Modern(msgspec.Struct, frozen=True, gc=False):
    """A request of the stateless era that has climbed its ladder; `meta` is its `params._meta`."""

    id: RequestId
    method: str
    params: dict[str, Any]
    meta: dict[str, Any]
    revision: str


class Legacy(msgspec.Struct, frozen=True, gc=False):
    """A well-formed request of the session era."""

    id: RequestId
    method: str
    params: dict[str, Any]


class Notice(msgspec.Struct, frozen=True):
    """Something that gets no answer: a notification, or a client's response to a request (which we never send)."""

    method: str
    params: dict[str, Any]
    era: Era


class Batch(msgspec.Struct, frozen=True):
    """Several messages of the session era; only a session of 2025-03-26 may send them."""

    items: tuple[Legacy | Notice | Refused, ...]


Message = Modern | Legacy | Notice | Batch | Refused
