"""The tokens that pages call with: bound to a site, a tool, what it calls, and a time. Pure.

A token says that this daemon has offered the tool on a page of the site lately. It gives no rights: what the visitor
may not do, no token allows. Its end is rounded, so that a page stays the same for half the time that tokens hold.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import Enum
from hashlib import sha256
from typing import Final

import msgspec

LONGEST: Final = 2048
_KIND: Final = "v1"


class Refused(Enum):
    """Why a token does not hold."""

    INVALID = "token-invalid"
    EXPIRED = "token-expired"


class Offer(msgspec.Struct, frozen=True, array_like=True):
    """What a token lets a page ask for: a tool, the method behind it, and whether the visitor is asked first.

    `expires` is in seconds since the epoch.
    """

    site: str
    tool: str
    method: str
    group: str
    version: int
    asks: bool
    expires: int


def expiry(now: float, ttl: int) -> int:
    """When a token that is made now ends: after half its time to live at the earliest."""
    step = max(ttl // 2, 1)
    return int(now) // step * step + ttl


def sign(offer: Offer, secret: bytes) -> str:
    """The token of an offer."""
    body = urlsafe_b64encode(msgspec.json.encode(offer)).decode().rstrip("=")
    return f"{_KIND}.{body}.{_signature(body, secret)}"


def read(token: str, site: str, tool: str, now: float, secret: bytes) -> Offer | Refused:
    """The offer that a token was made for, if it was made here, for this tool of this site, and has not ended."""
    body, _, signature = token.removeprefix(f"{_KIND}.").partition(".")
    genuine = token.isascii() and hmac.compare_digest(_signature(body, secret), signature)
    if not genuine or len(token) > LONGEST or not token.startswith(f"{_KIND}."):
        return Refused.INVALID
    offer = msgspec.json.decode(urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=Offer)
    if (offer.site, offer.tool) != (site, tool):
        return Refused.INVALID
    return Refused.EXPIRED if offer.expires <= now else offer


def _signature(body: str, secret: bytes) -> str:
    digest = hmac.digest(secret, f"{_KIND}.{body}".encode(), sha256)
    return urlsafe_b64encode(digest).decode().rstrip("=")
