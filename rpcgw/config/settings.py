"""Every setting of rpcgw, frozen and typed: what the loader makes of gateway.yaml and routes.yaml. Pure values.

Times are seconds, sizes are bytes, paths are absolute. A group's or a method's own value is already resolved here
(`Settings.for_group`, `Settings.for_method`): nobody else merges settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rpcgw.api.problems import Place

RouteKind = Literal["rpc", "mcp"]


@dataclass(frozen=True, slots=True)
class Route:
    """One import of routes.yaml: an endpoint of one kind, at a prefix, for one API group."""

    key: str
    kind: RouteKind
    prefix: str
    group: str
    name_prefix: str
    place: Place


@dataclass(frozen=True, slots=True)
class Timeouts:
    """`server.timeouts`: how long idle connections, old generations and running work are given."""

    keep_alive: float = 75.0
    reload: float = 90.0
    grace: float = 20.0
    pre_stop: float = 0.0


@dataclass(frozen=True, slots=True)
class Server:
    """`server`: `bind` holds `host:port`, `[v6]:port` or `unix:/path`."""

    bind: tuple[str, ...] = ("127.0.0.1:8080",)
    public_url: str | None = None
    workers: int = 1
    allowed_hosts: tuple[str, ...] = ()
    timeouts: Timeouts = Timeouts()
    allow_unprotected: bool = False


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """`plugins`: where to look beside the venv, and what each plugin is told."""

    directory: str = ""
    strict: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translations:
    """`translations`: the operator's catalogues and the language that everything falls back on."""

    directory: str = ""
    default_locale: str = "en"


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """`pools.<name>`: `url` is `file:<directory>`, `memory:` or `redis://...`."""

    url: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token that a group accepts: SHA-256 of it in hex, and the name that stands for it in logs."""

    name: str
    sha256: str
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Security:
    """`ufo_json_rpc.security` as it holds for one group; `validator` is left to plugins."""

    protected_api: bool = True
    protected_doc: bool = False
    token_name: str = "Ufo-RPC-Token"  # noqa: S105 -- the name of a header
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultCacheSettings:
    """`ufo_json_rpc.cache`: which pool holds results, sessions and locks."""

    ttl: float = 60.0
    prefix: str = "rpc_cache"
    pool: str = "default"


@dataclass(frozen=True, slots=True)
class Docs:
    """`ufo_json_rpc.docs`: what documents say of the project."""

    project_name: str = "My Project"
    project_description: str = ""
    project_version: str | None = None


@dataclass(frozen=True, slots=True)
class Icon:
    """One entry of `mcp_server_info.icons`."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: Literal["light", "dark"] | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """`mcp_server_info` as it holds for one group."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: tuple[Icon, ...] = ()


@dataclass(frozen=True, slots=True)
class McpSettings:
    """`ufo_mcp` as it holds for one group."""

    enabled: bool = True
    instructions: str | None = None
    max_body_bytes: int = 4_194_304
    session_ttl: float = 3600.0
    info: ServerInfo = ServerInfo()


@dataclass(frozen=True, slots=True)
class CallSettings:
    """`defaults`, overridden by `groups.<group>` and `methods.<name>`: what tunes calls."""

    deadline: float | None = None
    unknown_params: Literal["drop", "refuse"] = "drop"
    validation_errors: Literal["protocol", "tool"] = "protocol"
    max_batch: int = 100
    batch_concurrency: int = 10
    max_body_bytes: int = 4_194_304
    cache_ttl: float | None = None
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Logging:
    """`logging`: where lines go and how they look."""

    format: Literal["json", "logfmt", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"
    calls: bool = True
    mask: tuple[str, ...] = ("password", "token", "secret", "authorization", "api_key")


@dataclass(frozen=True, slots=True)
class Metrics:
    """`metrics`: whether and where Prometheus scrapes."""

    enabled: bool = True
    path: str = "/metrics"


@dataclass(frozen=True, slots=True)
class Cors:
    """`cors`: the one list of web origins that may call; loopback and `server.public_url` always may."""

    allowed_origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration of one generation."""

    source: str
    environment: str = "prod"
    state_dir: str = ""
    server: Server = Server()
    routes: tuple[Route, ...] = ()
    plugins: PluginSettings = PluginSettings()
    translations: Translations = Translations()
    pools: Mapping[str, PoolSettings] = field(default_factory=dict)
    cache: ResultCacheSettings = ResultCacheSettings()
    docs: Docs = Docs()
    logging: Logging = Logging()
    metrics: Metrics = Metrics()
    cors: Cors = Cors()
    security: Mapping[str, Security] = field(default_factory=dict)
    mcp: Mapping[str, McpSettings] = field(default_factory=dict)
    calls: Mapping[str, CallSettings] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
