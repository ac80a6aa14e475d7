"""`webmcp` of a validated document -> settings; a tool in YAML becomes what a plugin would make. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Final, TypeVar

from rpcgw.api.locales import canonical, lineage
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
from rpcgw.api.records import record
from rpcgw.api.webmcp import Confirm, Manifest
from rpcgw.config.document import Document
from rpcgw.config.sites import DeclaredTool, Site, SiteRoute, Usage, Webmcp
from rpcgw.config.wording import choices

_Kind = TypeVar("_Kind")

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
_ENTRIES: Final = (StaticList, "items")
"""A list, in whose place one for each language may stand."""
_TEXT: Final = frozenset({"str", "str | None"})
"""Types of fields in whose place texts by language may stand; the schema says where they do."""
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
    locale = given.get("locale") or document.get("translations", "default_locale", default="en")
    made = [
        _tool(document, ("webmcp", "sites", name, "tools", tool), own, locale)
        for tool, own in given.get("tools", {}).items()
    ]
    problems += [tool for tool in made if isinstance(tool, Problem)]
    tools = tuple(tool for tool in made if isinstance(tool, DeclaredTool))
    return Site(**{**_tuples(given), "tools": tools})


def _tool(document: Document, path: tuple[str, ...], given: Mapping[str, Any], locale: str) -> DeclaredTool | Problem:
    chosen = [wire for wire in _BY_WIRE if wire in given]
    if len(chosen) != 1:
        has = ", ".join(chosen) or "none"
        text = f'"{".".join(path)}" needs exactly one of {choices(list(_BY_WIRE))}, and has {has}.'
        return document.problem(path, "webmcp-primitive", text)
    written = _Written(default=canonical(locale))
    manifest = _manifest(path[-1], chosen[0], given, written)
    languages = {
        language: _manifest(path[-1], chosen[0], given, _Written(written.default, language))
        for language in sorted(written.languages)
    }
    return DeclaredTool(manifest, tuple(given.get("paths", ())), ".".join(path), languages)


@record(frozen=True, slots=True)
class _Written:
    """Reads a tool in one language; `languages` gathers those that its texts are written in."""

    default: str
    language: str = ""
    languages: set[str] = field(default_factory=set)

    def read(self, by_language: Mapping[str, Any]) -> Any:
        """The text in that language, else in the one that is wider, else in the site's own, else the first."""
        texts = {canonical(language): text for language, text in by_language.items()}
        self.languages.update(texts)
        wanted = (*lineage(self.language), *lineage(self.default))
        return next((texts[language] for language in wanted if language in texts), next(iter(texts.values())))


def _manifest(name: str, wire: str, given: Mapping[str, Any], written: _Written) -> Manifest:
    own = {key: value for key, value in given.items() if key in _OF_MANIFEST}
    said: dict[str, Any] = _read(Manifest, {"description": "", **own}, written)
    if "confirm" in given:
        said["confirm"] = _made(Confirm, given["confirm"], written)
    return Manifest(**said, name=name, primitive=_made(_BY_WIRE[wire], given[wire], written))


def _made(kind: type[_Kind], given: Mapping[str, Any], written: _Written) -> _Kind:
    return kind(**_read(kind, given, written))


def _read(kind: type, given: Mapping[str, Any], written: _Written) -> dict[str, Any]:
    """The values for a kind's fields: texts in one language, lists as tuples, and the kinds that are inside of it."""
    types = {each.name: each.type for each in fields(kind)}
    return {name: _value(kind, name, types[name], value, written) for name, value in given.items()}


def _value(kind: type, name: str, declared: object, value: Any, written: _Written) -> Any:
    part = _PARTS.get((kind, name))
    if isinstance(value, dict) and (declared in _TEXT or (kind, name) == _ENTRIES):
        value = written.read(value)
    if isinstance(value, list):
        return tuple(value if part is None else (_made(part, item, written) for item in value))
    return value if part is None else _made(part, value, written)


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
