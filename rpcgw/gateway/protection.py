"""May this configuration be served where it is bound? Pure: settings in, problems out.

A daemon that anyone may call belongs on a loopback address or a unix socket, with no proxy before it, unless the
operator says otherwise; a group that asks for a token needs one that can be given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address

from rpcgw.access.names import is_loopback_origin, origin_of
from rpcgw.api.problems import Level, Place, Problem
from rpcgw.config.route import Route
from rpcgw.config.settings import Settings

_OTHER_BIND = "bind 127.0.0.1"
_RESTART = "restart the daemon (it serves the addresses of its start until then)"


def protection_problems(
    settings: Settings, validators: Collection[str] = (), *, incomplete: bool = False
) -> list[Problem]:
    """What keeps this configuration from being served safely, each served group once.

    `validators` are the names by which plugins know tokens; `incomplete` where a plugin that may know one is out.
    """
    groups = _groups(settings)
    return [
        *(_unprotected(settings, settings.server.bind, _OTHER_BIND) or _published(settings)),
        *_without_token(settings, groups.values()),
        *_without_validator(settings, groups.values(), validators, incomplete=incomplete),
    ]


def laid_open(settings: Settings, bound: Iterable[str]) -> list[Problem]:
    """The groups that a reload would lay open at addresses which the daemon serves until it is restarted."""
    return _unprotected(settings, bound, _RESTART)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address of `server.bind`."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _groups(settings: Settings) -> Mapping[str, Route]:
    """Each served group with its first route."""
    return {route.group: route for route in reversed(settings.routes)}


def _unprotected(settings: Settings, addresses: Iterable[str], way_out: str) -> list[Problem]:
    """The groups that anybody may call at one of these addresses."""
    public = [address for address in addresses if not is_loopback(address)]
    if not public:
        return []
    return list(_open(settings, "server.bind", f"{public[0]} is not a loopback address", f"{way_out}, or", "error"))


def _published(settings: Settings) -> list[Problem]:
    """The same where a proxy is said to stand before a loopback address."""
    url = settings.server.public_url
    origin = None if url is None else origin_of(url)
    if origin is None or is_loopback_origin(origin):
        return []
    return list(_open(settings, "server.public_url", f"clients reach it at {url}", "or", "warning"))


def _open(settings: Settings, key: str, reason: str, way_out: str, level: Level) -> Iterator[Problem]:
    """Each group that needs no token, unless the operator says that it is meant."""
    if settings.server.allow_unprotected:
        return
    for route in _groups(settings).values():
        if not settings.security_of(route.group).protected_api:
            yield Problem(
                _place(settings, key),
                "unprotected",
                f"group {route.group!r} ({route.prefix}) needs no token, and {reason}",
                f"give the group tokens and protected_api: true, {way_out} say server.allow_unprotected: true",
                level,
            )


def _without_token(settings: Settings, routes: Iterable[Route]) -> Iterator[Problem]:
    for route in routes:
        security = settings.security_of(route.group)
        if security.protected_api and not (security.tokens or security.validator or security.oauth):
            yield Problem(
                route.place,
                "no-token",
                f"group {route.group!r} is protected, and no token is configured for it: nobody could call it",
                "set ufo_json_rpc.security.clients_tokens or groups."
                f"{route.group}.tokens, or say ufo_json_rpc.security.protected_api: false",
            )


def _without_validator(
    settings: Settings, routes: Iterable[Route], known: Collection[str], *, incomplete: bool
) -> Iterator[Problem]:
    """A name that nobody has locks everybody out: a mistake, unless it may be the name of a plugin in quarantine."""
    for route in routes:
        name = settings.security_of(route.group).validator
        if name is not None and name not in known:
            own = f"ufo_json_rpc.security.providers.{route.group}.validator"
            place = _place(settings, own if own in settings.places else "ufo_json_rpc.security.validator")
            text = f"group {route.group!r} asks the validator {name!r} whose a token is, and no plugin has it"
            hint = f"plugins bring: {', '.join(sorted(known)) or 'none'}; see validators of rpc.Plugin"
            level: Level = "warning" if incomplete else "error"
            yield Problem(place, "unknown-validator", text, hint, level)


def _place(settings: Settings, key: str) -> Place:
    return settings.places.get(key, Place(settings.source))
