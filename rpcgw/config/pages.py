"""`webmcp` of a validated document -> settings; a tool in YAML becomes what a plugin would make. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from rpcgw.api.primitives import (
    PRIMITIVES,
    BodyLine,
    Field,
    Form,
    FormText,
    ListText,
    Mailto,
    Navigate,
    NavigateText,
    Option,
    Primitive,
    Search,
    SearchText,
    StaticList,
)
from rpcgw.api.problems import Problem
from rpcgw.api.webmcp import Confirm, Manifest
from rpcgw.config.document import Document
from rpcgw.config.sites import DeclaredTool, Site, SiteRoute, Usage, Webmcp
from rpcgw.config.wording import choices

_WEBMCP: Final = ("webmcp",)
_BY_WIRE: Final[Mapping[str, type[Primitive]]] = {primitive.wire: primitive for primitive in PRIMITIVES}
_PARTS: Final[Mapping[tuple[type, str], type]] = {
    (Navigate, "options"): Option,
    (Navigate, "messages"): NavigateText,
    (Search, "text"): SearchText,
    (Mailto, "body_lines"): BodyLine,
    (StaticList, "text"): ListText,
    (Form, "fields"): Field,
    (Form, "messages"): FormText,
}
"""Fields of primitives that hold values of their own."""
_OF_MANIFEST: Final = frozenset(field.name for field in fields(Manifest)) - {"name", "primitive", "confirm"}


def build_webmcp(document: Document, routes: Sequence[SiteRoute]) -> tuple[Webmcp, list[Problem]]:
    """The settings, and what the schema could not see."""
    given: Mapping[str, Any] = document.get(*_WEBMCP, default={})
    usage: Mapping[str, Any] = given.get("usage", {})
    problems: list[Problem] = []
    sites = {name: _site(document, name, own, problems) for name, own in given.get("sites", {}).items()}
    own = {name: given[name] for name in ("enabled", "strict", "secret", "call_ttl") if name in given}
    made = Webmcp(**own, usage=Usage(**_tuples(usage)), sites=sites)
    return made, [*problems, *_unknown_sites(sites, routes), *_unused_sites(document, sites, routes)]


def _site(document: Document, name: str, given: Mapping[str, Any], problems: list[Problem]) -> Site:
    made = [
        _tool(document, ("webmcp", "sites", name, "tools", tool), own) for tool, own in given.get("tools", {}).items()
    ]
    problems += [tool for tool in made if isinstance(tool, Problem)]
    tools = tuple(tool for tool in made if isinstance(tool, DeclaredTool))
    return Site(**{**_tuples(given), "tools": tools})


def _tool(document: Document, path: tuple[str, ...], given: Mapping[str, Any]) -> DeclaredTool | Problem:
    chosen = [wire for wire in _BY_WIRE if wire in given]
    if len(chosen) != 1:
        has = ", ".join(chosen) or "none"
        text = f'"{".".join(path)}" needs exactly one of {choices(list(_BY_WIRE))}, and has {has}.'
        return document.problem(path, "webmcp-primitive", text)
    wire = chosen[0]
    own = {name: value for name, value in given.items() if name in _OF_MANIFEST}
    if "confirm" in given:
        own["confirm"] = Confirm(**given["confirm"])
    manifest = Manifest(**{"description": "", **own}, name=path[-1], primitive=_primitive(_BY_WIRE[wire], given[wire]))
    return DeclaredTool(manifest, tuple(given.get("paths", ())), ".".join(path))


def _primitive(kind: type[Primitive], given: Mapping[str, Any]) -> Primitive:
    return kind(**{name: _value(_PARTS.get((kind, name)), value) for name, value in given.items()})


def _value(part: type | None, value: Any) -> Any:
    if part is None:
        return tuple(value) if isinstance(value, list) else value
    return tuple(part(**item) for item in value) if isinstance(value, list) else part(**value)


def _tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def _unknown_sites(sites: Mapping[str, Site], routes: Sequence[SiteRoute]) -> list[Problem]:
    """A route may serve a site that nothing is set for only where nothing is set for any: else it is a mistake."""
    return [
        Problem(
            route.place,
            "unknown-site",
            f'The route "{route.key}" serves the site "{route.site}", which webmcp.sites does not have.',
            f"it has {choices(list(sites))}",
        )
        for route in routes
        if sites and route.site not in sites
    ]


def _unused_sites(document: Document, sites: Mapping[str, Site], routes: Sequence[SiteRoute]) -> list[Problem]:
    served = {route.site for route in routes}
    return [
        document.warning(
            ("webmcp", "sites", name), "unused-site", f'"webmcp.sites.{name}" is a site that no route serves.'
        )
        for name in sites
        if name not in served
    ]
