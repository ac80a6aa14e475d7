"""Whose request it is, by address: through proxies that are trusted, and as rates count it. Pure.

Sources: X-Forwarded-For is what proxies agree on without a standard: each adds at the end who it had the request from.
So it is read from its end, and only as far as proxies that are trusted have written it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from rpcgw.api.records import record
from rpcgw.exchange import Head

FORWARDED_FOR: Final = "x-forwarded-for"
UNIX: Final = "unix"
"""Stands for whoever comes over a unix socket, in settings and in counts."""

_MOST_HOPS: Final = 32
_REMEMBERED: Final = 4096
_IPV6_NETWORK: Final = 64
"""What one customer of a network usually has of IPv6: all of its addresses count as one."""


@record(frozen=True, slots=True)
class Proxies:
    """Who is believed about where a request comes from. Made by `compile_proxies`."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    unix: bool = False

    def __bool__(self) -> bool:
        return bool(self.networks) or self.unix

    def client_of(self, head: Head) -> str:
        """The address of the client: the last one that no trusted proxy stands for. "" on a bare unix socket."""
        if not (self.unix if head.unix else self._trusts(head.peer)):
            return head.peer
        found = head.peer
        for hop in _hops(head):
            found = hop
            if not self._trusts(hop):
                break
        return found

    def _trusts(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self.networks)


def compile_proxies(entries: Iterable[str]) -> Proxies:
    """Proxies of the entries of `server.trusted_proxies`.

    Raises:
        ValueError: An entry is no address, no network and not `unix`.
    """
    written = list(entries)
    return Proxies(tuple(ip_network(entry) for entry in written if entry != UNIX), UNIX in written)


def counted_as(peer: str) -> str:
    """What an address is counted as: an IPv6 one as its /64 network; "unix" for who has none."""
    return _counted_as(peer) if peer else UNIX


@lru_cache(maxsize=_REMEMBERED)
def _counted_as(peer: str) -> str:
    address = _parsed(peer)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_NETWORK), strict=False))
    return peer if address is None else str(address)


@lru_cache(maxsize=_REMEMBERED)
def is_here(peer: str) -> bool:
    """Whether a request comes from this machine, by a loopback address or a unix socket."""
    address = _parsed(peer)
    return not peer or (address is not None and address.is_loopback)


def _hops(head: Head) -> Iterator[str]:
    """What proxies wrote, the last first. It ends at what is no address: nobody can vouch for the rest."""
    written = ",".join(head.headers.getall(FORWARDED_FOR, [])).split(",")
    for hop in reversed(written[-_MOST_HOPS:]):
        address = _parsed(_without_port(hop.strip()))
        if address is None:
            return
        yield str(address)


def _without_port(text: str) -> str:
    """`192.0.2.1:4711` and `[2001:db8::1]:4711` without their ports; some proxies write them."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """An address without its scope; one that stands for an IPv4 one is that."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
