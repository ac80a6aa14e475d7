"""Host names, authorities and web origins as text: what they are made of, and which of them mean this machine. Pure.

Clients send the same few values over and over, so the last ones are remembered.

Sources: RFC 3986 section 3.2 (authority), RFC 6454 section 6.2 (an origin's form), RFC 6761 section 6.3 (localhost).
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::([0-9]{1,5})?)?", re.ASCII)
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#@\s]+)", re.ASCII)
_REMEMBERED: Final = 256
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


@lru_cache(maxsize=_REMEMBERED)
def split_authority(text: str) -> tuple[str, str] | None:
    """Host (lower case, IPv6 in brackets, no dot at its end) and port ("" where none); None where it is neither."""
    match = _AUTHORITY.fullmatch(text.lower())
    if match is None:
        return None
    return match[1].removesuffix("."), match[2] or ""


@lru_cache(maxsize=_REMEMBERED)
def is_loopback(host: str) -> bool:
    """Whether a host, as `split_authority` gives it, can only be this machine: no name server has a say in it."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=_REMEMBERED)
def normal_origin(text: str) -> str | None:
    """An origin as it is compared: lower case, the scheme's own port left out; None where it is no origin (`null`)."""
    match = _ORIGIN.fullmatch(text.lower())
    authority = match and split_authority(match[2])
    if not match or not authority:
        return None
    host, port = authority
    return f"{match[1]}://{host}:{port}" if port and port != _DEFAULT_PORTS.get(match[1]) else f"{match[1]}://{host}"


@lru_cache(maxsize=_REMEMBERED)
def is_loopback_origin(origin: str) -> bool:
    """Whether an origin, as `normal_origin` gives it, is a page of this machine, on any port."""
    scheme, _, rest = origin.partition("://")
    authority = split_authority(rest)
    return scheme in _DEFAULT_PORTS and authority is not None and is_loopback(authority[0])


def origin_of(url: str) -> str | None:
    """The origin of a URL, normalised; None where it has none."""
    parts = urlsplit(url)
    return normal_origin(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
