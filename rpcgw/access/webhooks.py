"""Where webhooks may go: which URLs, and which addresses their names may stand for. Pure.

A URL is compared with the allow-list by its text. The addresses behind its name are judged twice: before the call is
accepted, and again when a connection is made, since a name may stand for another address by then (DNS rebinding).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import unquote

from rpcgw.api.records import record
from rpcgw.kernel.language import Phrase

LONGEST_URL: Final = 2000
_URL = re.compile(
    r"(?P<scheme>https?)://(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9_*](?:[A-Za-z0-9_.-]*)))"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?(?P<query>\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?",
    re.IGNORECASE,
)
_PORTS: Final = {"http": 80, "https": 443}
_MAX_PORT: Final = 65535
_PUBLIC_V6: Final = IPv6Network("2000::/3")
_TUNNELS: Final = (IPv6Network("2001::/32"), IPv6Network("2002::/16"))
"""Teredo and 6to4: addresses that stand for IPv4 ones, private ones too."""

Address = IPv4Address | IPv6Address


@record(frozen=True, slots=True)
class Target:
    """A URL that a webhook could go to, taken apart; `host` is in lower case and has no brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def address(self) -> Address | None:
        """The host as an address, where it is written as one."""
        return _address(self.host)


def parse(url: str) -> Target | None:
    """An absolute http or https URL without credentials, fragment and dot segments, or None.

    It is narrow on purpose: what two parsers could read in two ways is no URL here.
    """
    match = _URL.fullmatch(url) if len(url) <= LONGEST_URL else None
    if match is None:
        return None
    scheme, path = match["scheme"].lower(), match["path"] or "/"
    port = int(match["port"]) if match["port"] else _PORTS[scheme]
    if match["v6"] is not None and _address(match["v6"]) is None:
        return None
    steps = unquote(path).replace("\\", "/").split("/")
    if not 0 < port <= _MAX_PORT or "." in steps or ".." in steps:
        return None
    return Target(scheme, (match["v6"] or match["name"]).lower().rstrip("."), port, path)


def parse_callback(url: object) -> Target | None:
    """What a client may name as its callback: as `parse`, and the host is one host."""
    target = parse(url) if isinstance(url, str) else None
    return None if target is None or "*" in target.host else target


@record(frozen=True, slots=True)
class WebhookPolicy:
    """Where the operator lets webhooks go.

    A URL is allowed by an entry of the same scheme and port, whose host it names (`*.example.com` stands for every name
    below example.com, `*` for every name), and whose path it has or lies below. Addresses that only this machine or its
    networks know are refused, unless `allow_private` says otherwise or an entry names the address itself.
    """

    entries: tuple[Target, ...] = ()
    allow_private: bool = False

    def refuses(self, url: str) -> str:
        """Why a callback must not go to this URL, for the client; empty where it may."""
        if not self.entries:
            return Phrase("webhook.closed")
        target = parse_callback(url)
        if target is None:
            return Phrase("webhook.no_url")
        if not any(_covers(entry, target) for entry in self.entries):
            return Phrase("webhook.unlisted")
        if (address := target.address) is not None and not self.admits(str(address), target.port):
            return Phrase("webhook.private")
        return ""

    def admits(self, address: str, port: int) -> bool:
        """Whether a connection may be made to an address (an IPv6 one may carry its scope)."""
        found = _address(address.partition("%")[0])
        if found is None:
            return False
        named = any(entry.port == port and entry.address == found for entry in self.entries)
        return named or self.allow_private or is_public(found)


def compile_policy(allow: Iterable[str], *, allow_private: bool) -> WebhookPolicy:
    """A policy of the entries that the operator wrote.

    Raises:
        ValueError: An entry is no URL.
    """
    entries = []
    for written in allow:
        target = parse(written)
        if target is None or not re.fullmatch(r"[^*]+|\*|\*\.[^*]+", target.host):
            raise ValueError(f"{written!r} is no absolute http or https URL")
        entries.append(target)
    return WebhookPolicy(tuple(entries), allow_private)


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet's, reached as what it is."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        return address in _PUBLIC_V6 and address.is_global and not any(address in tunnel for tunnel in _TUNNELS)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _covers(entry: Target, target: Target) -> bool:
    if (entry.scheme, entry.port) != (target.scheme, target.port):
        return False
    below = entry.path.rstrip("/")
    if target.path not in {entry.path, below} and not target.path.startswith(f"{below}/"):
        return False
    if entry.host.startswith("*"):
        # A wildcard stands for names; an address is only allowed by itself.
        return target.address is None and target.host.endswith(entry.host[1:])
    return target.host == entry.host or (target.address is not None and target.address == entry.address)


def _address(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
