"""Host and Origin: the guards against web pages that reach for a daemon on the visitor's own machine. Pure.

`Host` keeps out DNS rebinding (a page's own name that suddenly means 127.0.0.1), `Origin` every page that nobody
allowed. Loopback names pass both, on any port. Sources: RFC 9112 section 3.2 (Host, 400), RFC 9110 section 15.5.20
(421), MCP 2025-11-25 transports (a present Origin is always checked, else 403).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rpcgw.access.names import is_loopback, is_loopback_origin, normal_origin, origin_of, split_authority
from rpcgw.api.errors import InvalidRequest
from rpcgw.api.records import record
from rpcgw.exchange import Head, Rejected

_QUOTED = 200
_PLAIN_LOOPBACK = frozenset({"localhost", "127.0.0.1"})
_LOOPBACK_PAGES = tuple(
    f"{scheme}://{host}:*" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1", "[::1]")
)


@record(frozen=True, slots=True)
class Guards:
    """Which hosts and origins pass beside the loopback ones. Made by `compile_guards`.

    `hosts` are lower-case names, IPv6 in brackets; one with a port holds for that port, one without holds for any.
    `origins` are lower-case `scheme://host[:port]`, the scheme's own port left out; `any_origin` lets all of them pass.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    any_origin: bool = False

    def of_any_origin(self) -> Guards:
        """These guards for requests whose Origin somebody else looks at."""
        return replace(self, any_origin=True)

    def check(self, head: Head) -> Rejected | None:
        """None where the request may go on; else 400 or 421 for its Host, or 403 for its Origin."""
        return self._check_host(head) or self._check_origin(head)

    def pages(self) -> tuple[str, ...]:
        """The origins of pages that may read answers, as CORS wants them: what is named, and loopback on any port."""
        return (*sorted(self.origins), *_LOOPBACK_PAGES)

    def _check_host(self, head: Head) -> Rejected | None:
        if head.unix:
            return None
        values = head.headers.getall("host", [])
        if len(values) != 1:
            return _bad_host("more than one" if values else "none")
        name, colon, port = values[0].partition(":")
        if (name in _PLAIN_LOOPBACK or name in self.hosts) and (port.isdigit() or not colon):
            return None
        return self._check_host_name(values[0])

    def _check_host_name(self, value: str) -> Rejected | None:
        authority = split_authority(value)
        if authority is None:
            return _bad_host(f"{value[:_QUOTED]!r}")
        host, port = authority
        if host in self.hosts or f"{host}:{port}" in self.hosts or is_loopback(host):
            return None
        return _foreign_host(value)

    def _check_origin(self, head: Head) -> Rejected | None:
        values = head.headers.getall("origin", [])
        if (
            self.any_origin
            or not values
            or (len(values) == 1 and (values[0] in self.origins or self._allows(values[0])))
        ):
            return None
        return _foreign_origin(", ".join(values))

    def _allows(self, value: str) -> bool:
        origin = normal_origin(value)
        return origin is not None and (origin in self.origins or is_loopback_origin(origin))


def compile_guards(
    public_url: str | None = None, allowed_hosts: Iterable[str] = (), allowed_origins: Iterable[str] = ()
) -> Guards:
    """Make guards of the settings `server.public_url`, `server.allowed_hosts` and `cors.allowed_origins`.

    Raises:
        ValueError: A value is no host or no origin; the text names the setting and the value.
    """
    hosts = {_host("server.allowed_hosts", value) for value in allowed_hosts}
    origins = {_origin("cors.allowed_origins", value) for value in allowed_origins}
    if public_url is not None:
        origin = _origin("server.public_url", origin_of(public_url) or public_url)
        origins.add(origin)
        hosts.add(_host("server.public_url", origin.partition("://")[2], any_port=True))
    return Guards(frozenset(hosts), frozenset(origins))


def _host(setting: str, value: str, *, any_port: bool = False) -> str:
    authority = split_authority(value)
    if authority is None:
        raise ValueError(f"{setting}: {value!r} is no host name; write it as api.example.com or api.example.com:8443")
    host, port = authority
    return f"{host}:{port}" if port and not any_port else host


def _origin(setting: str, value: str) -> str:
    origin = normal_origin(value)
    if origin is None:
        raise ValueError(f"{setting}: {value!r} is no web origin; write it as https://app.example.com")
    return origin


def _bad_host(what: str) -> Rejected:
    message = "A request needs exactly one valid Host header"
    return Rejected(400, InvalidRequest.code, message, log=f"refused: bad Host header ({what})")


def _foreign_host(value: str) -> Rejected:
    log = f"refused: the Host {value[:_QUOTED]!r} is not ours; if it should be, add it to server.allowed_hosts"
    return Rejected(421, InvalidRequest.code, "This server does not answer to that Host", log=log)


def _foreign_origin(value: str) -> Rejected:
    log = f"refused: the Origin {value[:_QUOTED]!r} is not allowed; if it should be, add it to cors.allowed_origins"
    return Rejected(403, InvalidRequest.code, "Requests from that Origin are not allowed", log=log)
