"""routes.yaml -> routes, and what is wrong between them: names that clash, paths that meet. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.config.document import Document
from rpcgw.config.nodes import dotted
from rpcgw.config.route import Route, RouteKind
from rpcgw.config.sites import DEFAULT_SITE, SiteRoute
from rpcgw.config.wording import described, meant

KINDS: tuple[RouteKind, ...] = ("rpc", "mcp")
_BUNDLES: tuple[tuple[str, RouteKind], ...] = (
    ("json-rpc-bundle/config/router.yaml", "rpc"),
    ("mcp-bundle/config/router.yaml", "mcp"),
)
_SITE = "webmcp"
_PLANNED = ("rest",)

AnyRoute = Route | SiteRoute

OWN_PATHS = ("/livez", "/readyz", "/healthz")
"""What the daemon itself answers, beside the path of the metrics. `/` is a route's where one stands there."""
CONSOLE_PATHS = ("/console/{group}", "/console/{group}/{ver}")
"""Where the console's pages stand; `{group}` is anything."""


@record(frozen=True, slots=True)
class Routes:
    """The routes of a file in their order: those of groups, and those of sites."""

    groups: tuple[Route, ...]
    sites: tuple[SiteRoute, ...]


def build_routes(document: Document, own_paths: Sequence[str]) -> tuple[Routes, list[Problem]]:
    """The routes of a file; `own_paths` are taken already."""
    routes: list[AnyRoute] = []
    problems: list[Problem] = []
    for key in document.root.entries:
        if document.get(key, "resource") == _SITE:
            routes.append(_site_route(document, key))
            continue
        kind, wrong = _kind(document, key)
        problems += wrong
        if kind is not None:
            routes.append(_route(document, key, kind))
    problems += _misplaced(document)
    problems += _same_names(routes)
    problems += _same_paths(routes, own_paths)
    groups = tuple(route for route in routes if isinstance(route, Route))
    return Routes(groups, tuple(route for route in routes if isinstance(route, SiteRoute))), problems


def no_routes(document: Document) -> list[Problem]:
    """The problem that a file names no route at all."""
    if document.root.entries:
        return []
    text = "There is no route, so nothing would be served."
    return [document.problem((), "missing-option", text, "`rpcgw init` writes a routes.yaml to begin with")]


def _route(document: Document, key: str, kind: RouteKind) -> Route:
    return Route(
        key=key,
        kind=kind,
        prefix=document.get(key, "prefix").rstrip("/"),
        group=document.get(key, "defaults", "api_group", default=DEFAULT_GROUP),
        name_prefix=document.get(key, "name_prefix", default=""),
        place=document.place(key),
    )


def _site_route(document: Document, key: str) -> SiteRoute:
    return SiteRoute(
        key=key,
        site=document.get(key, "defaults", "site", default=DEFAULT_SITE),
        prefix=document.get(key, "prefix").rstrip("/"),
        name_prefix=document.get(key, "name_prefix", default=""),
        place=document.place(key),
    )


def _misplaced(document: Document) -> Iterator[Problem]:
    """A group says nothing of a site's route, and a site nothing of the others."""
    for key in document.root.entries:
        is_site = document.get(key, "resource") == _SITE
        path = (key, "defaults", "api_group" if is_site else "site")
        if document.has(*path):
            text = f'"{dotted(path)}" says nothing of a route with the resource "{document.get(key, "resource")}".'
            yield document.problem(path, "unknown-option", text, "leave it out")


def _kind(document: Document, key: str) -> tuple[RouteKind | None, list[Problem]]:
    resource: str = document.get(key, "resource")
    for name in KINDS:
        if resource == name:
            return name, []
    for ending, kind in _BUNDLES:
        if resource == ending or resource.endswith(f"/{ending}"):
            return kind, []
    path = (key, "resource")
    if resource in _PLANNED:
        text = f'Routes with the resource "{resource}": this version does not do it yet.'
        return None, [document.problem(path, "not-available", text, "leave the route out")]
    bundles = " or ".join(ending for ending, _ in _BUNDLES)
    text = f'"{key}.resource" must be "rpc", "mcp", "webmcp", or a path that ends in {bundles}, '
    hint = meant(resource, (*KINDS, _SITE))
    return None, [document.problem(path, "bad-value", f"{text}not {described(resource)}.", hint)]


def _same_names(routes: Sequence[AnyRoute]) -> Iterator[Problem]:
    for first, second in combinations(routes, 2):
        if first.kind == second.kind and first.full_group == second.full_group:
            text = (
                f'The routes "{first.key}" and "{second.key}" would both be named "{second.paths()[0].name}"; '
                f"the first stands at {first.place}."
            )
            hint = "give one of them a name_prefix"
            yield Problem(second.place, "route-name", text, hint)


def _same_paths(routes: Sequence[AnyRoute], own_paths: Sequence[str]) -> Iterator[Problem]:
    for route in routes:
        for path in own_paths:
            theirs = next((p.pattern for p in route.paths() if patterns_meet(p.pattern, path)), None)
            if theirs is not None:
                text = f'"{theirs}" of the route "{route.key}" meets "{path}", which the daemon itself answers.'
                yield Problem(route.place, "route-collision", text, "give the route another prefix")
    for first, second in combinations(routes, 2):
        meeting = _meeting(first, second)
        if meeting is not None:
            text = (
                f'"{meeting[1]}" of the route "{second.key}" meets "{meeting[0]}" of the route "{first.key}"; '
                f"the first stands at {first.place}."
            )
            yield Problem(second.place, "route-collision", text, "give one of them another prefix")


def _meeting(first: AnyRoute, second: AnyRoute) -> tuple[str, str] | None:
    for one in first.paths():
        for other in second.paths():
            if patterns_meet(one.pattern, other.pattern):
                return one.pattern, other.pattern
    return None


def patterns_meet(one: str, other: str) -> bool:
    """Whether some path fits both patterns (`{ver}` is `v` and digits, the others anything but a slash)."""
    ours, theirs = one.strip("/").split("/"), other.strip("/").split("/")
    return len(ours) == len(theirs) and all(_segments_meet(a, b) for a, b in zip(ours, theirs, strict=True))


_VERSION = re.compile(r"v[0-9]+")


def _segments_meet(one: str, other: str) -> bool:
    if one == other or "{group}" in {one, other}:
        return True
    if "{" in other and "{" not in one:
        one, other = other, one
    if one == "{ver}":
        return bool(_VERSION.fullmatch(other))
    if one == "{aiName}.json":
        return other.endswith(".json") and "{" not in other
    return False
