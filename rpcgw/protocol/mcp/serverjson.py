"""`server.json`: what the MCP Registry is told of a server, and what the registry would say to it. Pure.

Sources: the registry's schema of 2025-12-11, and the rules beyond it that the registry applies when a document is
published (its `docs/reference/server-json`, `internal/validators`). The schema lets unknown members pass, so a name in
snake case would be lost in silence: members here are in camel case (C-13).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from rpcgw.api.records import record
from rpcgw.protocol.mcp.clients import Connection

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp")

Path = tuple[str | int, ...]


@record(frozen=True, slots=True)
class Icon:
    """An icon of the server; `sizes` are `48x48` or `any`."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: str | None = None


@record(frozen=True, slots=True)
class Card:
    """Who the server is, as far as somebody said so: `name` is a reverse-DNS id (C-12, C-13)."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: tuple[Icon, ...] = ()


@record(frozen=True, slots=True)
class Finding:
    """A rule of the registry that a document breaks, and which member breaks it."""

    path: Path
    rule: str


def server_json(card: Card, version: int, connection: Connection | None) -> dict[str, Any]:
    """The document of one version (C-05, C-12, C-13, C-15); without `connection` nobody knows where it is served."""
    return {
        "$schema": SCHEMA,
        **_said("name", card.name),
        **_said("title", card.title),
        **_said("description", card.description),
        "version": f"v{version}",
        **_said("icons", [_icon(icon) for icon in card.icons]),
        **({} if connection is None else {"remotes": [_remote(connection)]}),
    }


def findings(document: Mapping[str, Any]) -> list[Finding]:
    """What keeps a document from being published."""
    return [
        *_missing(document),
        *_broken(document, (), _TOP),
        *(found for at, icon in enumerate(document.get("icons", ())) for found in _broken(icon, ("icons", at), _ICON)),
        *(
            found
            for at, remote in enumerate(document.get("remotes", ()))
            for found in _broken(remote, ("remotes", at), _REMOTE)
        ),
    ]


def _said(name: str, value: Any) -> dict[str, Any]:
    return {name: value} if value else {}


def _icon(icon: Icon) -> dict[str, Any]:
    return {
        "src": icon.src,
        **_said("mimeType", icon.mime_type),
        **_said("sizes", list(icon.sizes)),
        **_said("theme", icon.theme),
    }


def _remote(connection: Connection) -> dict[str, Any]:
    headers = {"headers": [_header(connection)]} if connection.protected else {}
    return {"type": "streamable-http", "url": connection.url, **headers}


def _header(connection: Connection) -> dict[str, Any]:
    """The header that a client must send: the token is a variable that the client asks its user for."""
    secret = {"isRequired": True, "isSecret": True}
    token = {"description": "The access token that the operator gave you", **secret}
    return {
        "name": connection.header,
        "value": connection.credential("{token}"),
        "variables": {"token": token},
        **secret,
    }


# -- the registry's rules

Check = Callable[[Any], bool]
_Rule = tuple[str, Check, str]

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]")
_SIZE = re.compile(r"\d+x\d+|any", re.ASCII)
_URL = re.compile(r"https?://\S+")


def _is_https(url: str) -> bool:
    scheme, host = _scheme_and_host(url)
    return scheme == "https" and bool(host)


def _is_public(url: str) -> bool:
    _, host = _scheme_and_host(url)
    return host not in {"localhost", "127.0.0.1", "::1"} and not host.endswith(".localhost")


def _scheme_and_host(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""


def _fits(most: int) -> Check:
    return lambda text: len(text) <= most


_TOP: Final[tuple[_Rule, ...]] = (
    ("name", _fits(200), "must have at most 200 characters"),
    (
        "name",
        lambda name: bool(_NAME.fullmatch(name)),
        "must be a reverse-DNS namespace, a slash and a name of two characters or more, as in io.github.acme/shop",
    ),
    ("title", _fits(100), "must have at most 100 characters"),
    ("title", lambda title: bool(title.strip()), "must not be blank"),
    ("description", _fits(100), "must have at most 100 characters"),
)
_ICON: Final[tuple[_Rule, ...]] = (
    ("src", _fits(255), "must have at most 255 characters"),
    ("src", _is_https, "must be an absolute https URL"),
    ("mimeType", lambda kind: kind in MEDIA_TYPES, f"must be one of {', '.join(MEDIA_TYPES)}"),
    (
        "sizes",
        lambda sizes: all(_SIZE.fullmatch(size) for size in sizes),
        "must be written as 48x48, or any",
    ),
    ("theme", lambda theme: theme in {"light", "dark"}, "must be light or dark"),
    ("mime_type", lambda _: False, "must be written mimeType"),
)
_REMOTE: Final[tuple[_Rule, ...]] = (
    ("url", lambda url: bool(_URL.fullmatch(url)), "must be an absolute URL"),
    ("url", _is_https, "must be https"),
    ("url", _is_public, "must not be this machine"),
)


def _missing(document: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ("name", "description", "version"):
        if not document.get(name):
            yield Finding((name,), "must be set")
    if not document.get("remotes"):
        yield Finding(("remotes",), "must say where the server is")


def _broken(part: Mapping[str, Any], at: Path, rules: Iterable[_Rule]) -> Iterator[Finding]:
    """Each member's first broken rule."""
    told: set[str] = set()
    for name, holds, rule in rules:
        if name in part and name not in told and not holds(part[name]):
            told.add(name)
            yield Finding((*at, name), rule)
