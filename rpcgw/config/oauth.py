"""`groups.<group>.oauth` and `groups.<group>.forward`: tokens that others issue, who sees them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from rpcgw.api.problems import Problem
from rpcgw.config.document import Document
from rpcgw.config.nodes import Path, dotted
from rpcgw.config.settings import Forward, OAuth, OAuthClient

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_CLIENTS: Final = ("introspection", "exchange")


def build_oauth(document: Document, group: str) -> tuple[OAuth | None, list[Problem]]:
    """Whose access tokens a group takes; None where only its own tokens count."""
    path: Path = ("groups", group, "oauth")
    given: Mapping[str, Any] | None = document.get(*path)
    if given is None:
        return None, []
    problems = [*_insecure(document, path, given), *_sources(document, path, given)]
    own: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    audience = own.get("audience", ())
    own["audience"] = (audience,) if isinstance(audience, str) else audience
    for name in _CLIENTS:
        if name in own:
            own[name] = OAuthClient(**own[name])
    own.setdefault("authorization_servers", (own["issuer"],))
    return OAuth(**own), problems


def build_forward(document: Document, group: str) -> Forward:
    """What of a request's head a group's procedures may see."""
    given: Mapping[str, Any] = document.get("groups", group, "forward", default={})
    return Forward(tuple(name.lower() for name in given.get("headers", ())), given.get("token", False))


def _sources(document: Document, path: Path, given: Mapping[str, Any]) -> Iterator[Problem]:
    if ("jwks_uri" in given) == ("introspection" in given):
        text = f'"{dotted(path)}" needs one of jwks_uri and introspection, and not both.'
        hint = "jwks_uri for tokens that carry a signature (JWT), introspection for opaque ones"
        yield document.problem(path, "bad-value", text, hint)


def _insecure(document: Document, path: Path, given: Mapping[str, Any]) -> Iterator[Problem]:
    """A server that says whose a token is must be asked over TLS, unless it is this machine (OAuth 2.1 section 1.5)."""
    named: list[tuple[Path, str]] = [((*path, name), given[name]) for name in ("issuer", "jwks_uri") if name in given]
    named += [((*path, name, "endpoint"), given[name]["endpoint"]) for name in _CLIENTS if name in given]
    named += [
        ((*path, "authorization_servers", at), url) for at, url in enumerate(given.get("authorization_servers", ()))
    ]
    for place, url in named:
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            text = f'"{dotted(place)}" must be an https URL; plain http is for this machine only.'
            yield document.problem(place, "bad-value", text)
