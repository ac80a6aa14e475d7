"""`webmcp` and the routes of sites, as frozen values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from rpcgw.api.problems import Place
from rpcgw.api.records import record
from rpcgw.api.webmcp import Manifest

DEFAULT_SITE = "main"


@record(frozen=True, slots=True)
class Usage:
    """`webmcp.usage`: the log of which tools are used. Without a DSN it is a file in `state_dir`."""

    enabled: bool = True
    dsn: str | None = field(default=None, repr=False)
    retention_days: int = 90
    rate_limit: int = 60
    ceiling: int = 60_000
    clients: tuple[str, ...] = ()
    respect_signals: bool = False


@record(frozen=True, slots=True)
class DeclaredTool:
    """A tool that stands in YAML; `at` is the dotted path of it, `paths` the patterns of its pages (none: all).

    `manifest` is what the site's own language says of it, `languages` has one for each that its texts are written in.
    """

    manifest: Manifest
    paths: tuple[str, ...]
    at: str
    languages: Mapping[str, Manifest] = field(default_factory=dict)


@record(frozen=True, slots=True)
class Site:
    """`webmcp.sites.<name>`. `plugins` None stands for all of them."""

    url: str | None = None
    endpoint: str | None = None
    origins: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    locale: str | None = None
    plugins: tuple[str, ...] | None = None
    disabled: tuple[str, ...] = ()
    output_limit: int = 1500
    client_hint: bool = True
    frames: bool = False
    legacy_navigator: bool = False
    beacon: Literal["json", "text"] = "json"
    tools: tuple[DeclaredTool, ...] = ()


@record(frozen=True, slots=True)
class Webmcp:
    """`webmcp`: tools of web pages. Without a secret one is made in `state_dir`."""

    enabled: bool = True
    strict: bool = False
    secret: str | None = field(default=None, repr=False)
    call_ttl: int = 3600
    usage: Usage = Usage()
    sites: Mapping[str, Site] = field(default_factory=dict)

    def site(self, name: str) -> Site:
        """A site's settings; one that nothing is set for has the defaults."""
        return self.sites.get(name, Site())


@record(frozen=True, slots=True)
class SitePath:
    """One path of a site's route."""

    pattern: str
    name: str
    methods: tuple[str, ...]


_PATHS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("/config.json", "webmcp_config", ("GET",)),
    ("/config.html", "webmcp_block", ("GET",)),
    ("/webmcp.js", "webmcp_script", ("GET",)),
    ("/event", "webmcp_event", ("POST", "OPTIONS")),
    ("/call", "webmcp_call", ("POST", "OPTIONS")),
    ("/usage", "webmcp_usage", ("GET",)),
    ("/selftest", "webmcp_selftest", ("GET",)),
)


@record(frozen=True, slots=True)
class SiteRoute:
    """One import of routes.yaml with `resource: webmcp`. `prefix` has no slash at its end."""

    key: str
    site: str
    prefix: str
    name_prefix: str
    place: Place
    kind: Literal["webmcp"] = "webmcp"

    @property
    def full_group(self) -> str:
        """What the names of the route's paths begin with."""
        return f"{self.name_prefix}{self.site}"

    def paths(self) -> tuple[SitePath, ...]:
        """All that the route answers, but for the script under its hashed name."""
        return tuple(
            SitePath(f"{self.prefix}{path}", f"{self.full_group}_{name}", methods) for path, name, methods in _PATHS
        )
