"""Addresses to listen at, and names and origins to answer to. Pure.

The schema sees to the shape; here numbers are checked, and values brought into the form in which they are compared.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable

from rpcgw.api.problems import Problem
from rpcgw.config.document import Document
from rpcgw.config.nodes import Path, dotted
from rpcgw.config.settings import Server

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[^\]]*)\]|(?P<name>[^:]*))(?::(?P<port>[0-9]+))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_MAX_PORT = 65535


def fault(authority: str) -> str:
    """What is wrong with `host`, `host:port` or `[v6]:port`, in words; empty where nothing is."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        return "is no host, or host and port"
    if match["v6"] is not None and not _is_v6(match["v6"]):
        return "holds no IPv6 address in its brackets"
    if match["port"] is not None and int(match["port"]) > _MAX_PORT:
        return f"has a port above {_MAX_PORT}"
    return ""


def bind_fault(address: str) -> str:
    """What is wrong with an address to listen at, in words; empty where nothing is."""
    if address.startswith("unix:"):
        return "" if address != "unix:" else "names no file"
    match = _AUTHORITY.fullmatch(address)
    if match is None or match["port"] is None or not (match["v6"] or match["name"]):
        return "is no host:port, [v6]:port or unix:/path"
    return fault(address)


def bind_addresses(document: Document, locate: Callable[[str], str]) -> tuple[tuple[str, ...], list[Problem]]:
    """`server.bind` as a list; `locate` makes the paths of unix sockets absolute."""
    given: str | list[str] = document.get("server", "bind", default=list(Server().bind))
    found: list[str] = []
    problems: list[Problem] = []
    for at, written in enumerate([given] if isinstance(given, str) else given):
        path: Path = ("server", "bind") if isinstance(given, str) else ("server", "bind", at)
        is_unix = written.startswith("unix:")
        address = f"unix:{locate(written.removeprefix('unix:'))}" if is_unix else written
        if not is_unix:
            problems += _wrong(document, path, written, address)
        if address in found and not address.endswith(":0"):
            problems.append(document.problem(path, "bad-value", f'"server.bind" names {address} twice.'))
        found.append(address)
    return tuple(found), problems


def metrics_bind(document: Document, locate: Callable[[str], str]) -> tuple[str | None, list[Problem]]:
    """`metrics.bind`; `locate` makes the path of a unix socket absolute."""
    path = ("metrics", "bind")
    written: str | None = document.get(*path)
    if written is None:
        return None, []
    if written.startswith("unix:"):
        return f"unix:{locate(written.removeprefix('unix:'))}", []
    return written, _wrong(document, path, written, written)


def public_url(document: Document) -> tuple[str | None, list[Problem]]:
    """`server.public_url` without a slash at its end."""
    path = ("server", "public_url")
    url: str | None = document.get(*path)
    if url is None:
        return None, []
    return url.rstrip("/"), _wrong(document, path, url, re.split(r"[/?#]", url.partition("://")[2])[0])


def allowed_hosts(document: Document) -> tuple[tuple[str, ...], list[Problem]]:
    """`server.allowed_hosts` in lower case."""
    path = ("server", "allowed_hosts")
    hosts: list[str] = document.get(*path, default=[])
    return tuple(host.lower() for host in hosts), list(_each(document, path, hosts, hosts))


def allowed_origins(document: Document) -> tuple[tuple[str, ...], list[Problem]]:
    """`cors.allowed_origins` as browsers send them: lower case, no default port."""
    path = ("cors", "allowed_origins")
    origins: list[str] = document.get(*path, default=[])
    authorities = [origin.partition("://")[2] for origin in origins]
    return tuple(_as_sent(origin.lower()) for origin in origins), list(_each(document, path, origins, authorities))


def _as_sent(origin: str) -> str:
    scheme, _, authority = origin.partition("://")
    return origin.removesuffix(f":{_DEFAULT_PORTS[scheme]}") if scheme in _DEFAULT_PORTS and authority else origin


def _each(document: Document, path: Path, written: Iterable[str], authorities: Iterable[str]) -> Iterable[Problem]:
    for at, (value, authority) in enumerate(zip(written, authorities, strict=True)):
        yield from _wrong(document, (*path, at), value, authority)


def _wrong(document: Document, path: Path, written: str, authority: str) -> list[Problem]:
    reason = fault(authority)
    return [document.problem(path, "bad-value", f'"{dotted(path)}": {written} {reason}.')] if reason else []


def _is_v6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
