"""A site as it is served: its tools, and what holds for all of its pages. Pure; compiled once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, Literal

from rpcgw.api.locales import canonical, lineage
from rpcgw.api.records import record
from rpcgw.api.webmcp import Call, Manifest, PageContext, ToolProvider
from rpcgw.kernel.method import Method


@record(frozen=True, slots=True)
class Declared:
    """The provider of a tool that stands in YAML: the same on each page whose path fits one of its patterns.

    `languages` has the tool in each language that it is written in, by BCP 47 tag.
    """

    tool: Manifest
    paths: tuple[str, ...] = ()
    languages: Mapping[str, Manifest] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    def manifest(self, page: PageContext, _: Mapping[str, Any], /) -> Manifest | None:
        """The tool in the page's language, where the page is one of its own."""
        if self.paths and not any(fits(path, page.path) for path in self.paths):
            return None
        spoken = (self.languages[each] for each in lineage(canonical(page.locale)) if each in self.languages)
        return next(spoken, self.tool)


def fits(pattern: str, path: str) -> bool:
    """Whether a path fits a pattern, in which `*` is anything, a slash too."""
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@record(frozen=True, slots=True)
class Target:
    """The method behind a `Call`: its texts in a language, its schemas without references."""

    method: Method
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None


FindTarget = Callable[[str, str, int, str], Target | None]
"""A method by its name, group and version, worded in a language; None where nobody serves it."""


def nothing_found(*_: object) -> None:
    """No method at all."""


@record(frozen=True, slots=True)
class Addresses:
    """What addresses of a site's tools may lead to: `own` is the site's origin where it is known."""

    own: str | None = None
    targets: frozenset[str] = frozenset()


@record(frozen=True, slots=True)
class Features:
    """What the script in the page does beside the tools; docs/reference/webmcp-payload.md has each."""

    output_limit: int = 1500
    client_hint: bool = True
    frames: bool = False
    legacy_navigator: bool = False
    beacon: Literal["json", "text"] = "json"


@record(frozen=True, slots=True)
class Site:
    """One site at one route.

    `reached` is where pages reach the prefix: a path, or an absolute URL where the daemon is elsewhere. `origins` are
    those of its pages, where they are not the daemon's own. `calls` holds what each tool calls, as far as that is known
    before a page is asked for. `tools` are the names of all tools, also of those that a page leaves out: the whitelist
    of beacons (W-02, W-11).
    """

    name: str
    route: str
    prefix: str
    reached: str
    base: str
    locale: str
    providers: tuple[ToolProvider, ...]
    processors: tuple[object, ...] = ()
    features: Features = Features()
    addresses: Addresses = Addresses()
    origins: tuple[str, ...] = ()
    call_ttl: int = 3600
    counted: bool = True
    find: FindTarget = nothing_found
    calls: Mapping[str, Call] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()


def context(site: Site, path: str, locale: str, query: Mapping[str, str], data: Mapping[str, Any]) -> PageContext:
    """The page as providers see it."""
    return PageContext(site.name, site.base, path, locale, query, data)
