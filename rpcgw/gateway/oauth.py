"""Groups that take access tokens -> protected resources (RFC 9728), and what keeps them from being ones. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rpcgw.access.oauth import Expected, Resource
from rpcgw.api.problems import Place, Problem
from rpcgw.config.route import Route
from rpcgw.config.settings import Settings
from rpcgw.gateway.address import public_url
from rpcgw.kernel.scopes import named
from rpcgw.kernel.table import MethodTable

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def protected_resource(route: Route, settings: Settings, table: MethodTable) -> Resource | None:
    """A route's endpoint as a protected resource; None where its group takes no access tokens.

    One resource stands for all versions: their URLs lie below its own.
    """
    given, base = settings.security_of(route.group).oauth, public_url(settings)
    if given is None or base is None:
        return None
    url = f"{base.rstrip('/')}{route.prefix.rstrip('/')}"
    return Resource(
        url=url,
        metadata_url=base.rstrip("/") + WELL_KNOWN + route.prefix.rstrip("/"),
        authorization_servers=given.authorization_servers,
        expected=Expected(given.issuer, frozenset(given.audience or (url, f"{url}/")), given.leeway),
        scopes=frozenset(given.scopes),
        scopes_supported=frozenset(given.scopes) | scopes_of(route.group, table),
    )


def scopes_of(group: str, table: MethodTable) -> frozenset[str]:
    """Every scope that a method of a group needs, in any version."""
    return named(
        method for version in table.versions(group) for method in (table.methods(group, version) or {}).values()
    )


def oauth_problems(settings: Settings, table: MethodTable) -> Iterator[Problem]:
    """What keeps groups from taking access tokens, and methods from being called by anybody."""
    groups = dict.fromkeys(route.group for route in settings.routes)
    for group in groups:
        security = settings.security_of(group)
        if security.oauth is not None and public_url(settings) is None:
            place = settings.places.get(f"groups.{group}.oauth", Place(settings.source))
            text = f"group {group!r} takes access tokens, and nobody knows the URL that they are meant for"
            yield Problem(place, "no-resource", text, "set server.public_url")
        if security.oauth is not None and not security.protected_api:
            place = settings.places.get(f"groups.{group}.oauth", Place(settings.source))
            text = f"group {group!r} takes access tokens, and asks nobody for one"
            hint = "say ufo_json_rpc.security.protected_api: true"
            yield Problem(place, "unprotected-resource", text, hint)
        yield from _out_of_reach(group, settings, table)


def _out_of_reach(group: str, settings: Settings, table: MethodTable) -> Iterator[Problem]:
    """A method whose scopes no token of the group can have; a plugin's validator and a server may give any."""
    security = settings.security_of(group)
    if security.oauth is not None or security.validator is not None:
        return
    had = [frozenset(token.scopes) for token in security.tokens] if security.protected_api else []
    for version in table.versions(group):
        for method in (table.methods(group, version) or {}).values():
            if method.scopes and not any(method.scopes <= scopes for scopes in had):
                text = f"{method.name} needs {', '.join(sorted(method.scopes))}, and no token of group {group!r} has it"
                hint = f"name the scopes in groups.{group}.tokens, or say groups.{group}.oauth"
                yield Problem(method.place, "scope-out-of-reach", text, hint, "warning")
