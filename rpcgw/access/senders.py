"""Which pages may send beacons and calls: those of the site, as the browser itself says. Pure.

A browser says where a request comes from in `Sec-Fetch-Site` (Fetch Metadata) and `Origin`; no page can change either.
`same-site` alone is not enough: any port and any sibling name would be trusted. Where `Sec-Fetch-Site` is missing, the
`Origin` has to be a known one, or that of the `Host`, which the guards have looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from rpcgw.access.names import is_loopback_origin, normal_origin, origin_of, split_authority
from rpcgw.api.records import record
from rpcgw.exchange import Head

_SITE = "sec-fetch-site"
_QUOTED = 100


@record(frozen=True, slots=True)
class Senders:
    """The pages of one site: `origins` are theirs, in normal form; `known` says that there are no others.

    Without configured origins (`known` is False) any page is the site's that is of the daemon's own origin.
    """

    origins: frozenset[str]
    known: bool

    def refuses(self, head: Head) -> str:
        """Why a request is none of the site's own pages', for the operator; empty where it is one's."""
        origins = head.headers.getall("origin", [])
        origin = normal_origin(origins[0]) if len(origins) == 1 else None
        if origins and origin is None:
            return f"its Origin is {', '.join(origins)[:_QUOTED]!r}"
        if origin in self.origins:
            return ""
        said = head.headers.getall(_SITE, [])
        if said == ["same-origin"]:
            ours = origin is None or not self.known or is_loopback_origin(origin)
            return "" if ours else f"its Origin {origin} is not the site's"
        if said:
            return f"Sec-Fetch-Site is {', '.join(said)[:_QUOTED]!r}, and its Origin is {origin}"
        return "" if _is_own(origin, head, known=self.known) else f"without Sec-Fetch-Site, its Origin is {origin}"


def _is_own(origin: str | None, head: Head, *, known: bool) -> bool:
    """Whether an origin is that of the host which was asked; where origins are known, on this machine only."""
    if origin is None or (known and not is_loopback_origin(origin)):
        return False
    host = split_authority(head.headers.get("host") or "")
    return host is not None and host == split_authority(origin.partition("://")[2])


def compile_senders(origins: Iterable[str], public_url: str | None) -> Senders:
    """The senders of a site: its own origins, and that of `server.public_url` where there is one."""
    own = frozenset(filter(None, map(normal_origin, origins)))
    public = None if public_url is None else origin_of(public_url)
    return Senders(own | ({public} if public else set()), bool(own))
