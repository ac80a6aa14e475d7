"""Every setting of rpcgw, frozen and typed: what the loader makes of gateway.yaml and routes.yaml. Pure values.

Times are seconds, sizes are bytes, paths are absolute. What differs for a group or a method is merged here
(`Settings.security_of`, `mcp_of`, `calls_of`, `calls_of_method`): nobody else merges settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal, TypeVar

from rpcgw.api.problems import Place
from rpcgw.api.rates import Rate
from rpcgw.api.records import record
from rpcgw.config.route import Route
from rpcgw.config.sites import SiteRoute, Webmcp

Audited = Literal["none", "calls", "arguments"]
"""What the audit log tells of a method's calls."""


@record(frozen=True, slots=True)
class Timeouts:
    """`server.timeouts`: how long idle connections, old generations, running work, and requests to come are given."""

    keep_alive: float = 75.0
    reload: float = 90.0
    grace: float = 20.0
    pre_stop: float = 0.0
    head: float = 10.0
    body: float = 30.0


@record(frozen=True, slots=True)
class Tls:
    """`server.tls`: absolute paths of PEM files."""

    cert: str
    key: str


_ATTEMPTS = Rate(30, 60)


@record(frozen=True, slots=True)
class Server:
    """`server`: `bind` holds `host:port`, `[v6]:port` or `unix:/path`."""

    bind: tuple[str, ...] = ("127.0.0.1:8080",)
    public_url: str | None = None
    workers: int = 1
    allowed_hosts: tuple[str, ...] = ()
    timeouts: Timeouts = Timeouts()
    allow_unprotected: bool = False
    trusted_proxies: tuple[str, ...] = ()
    failed_attempts: Rate | None = _ATTEMPTS
    tls: Tls | None = None
    max_connections: int | None = None
    watch: bool = False


@record(frozen=True, slots=True)
class PluginSettings:
    """`plugins`: where to look beside the venv, and what each plugin is told."""

    directory: str = ""
    strict: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)


@record(frozen=True, slots=True)
class Translations:
    """`translations`: the operator's catalogues and the language that everything falls back on."""

    directory: str = ""
    default_locale: str = "en"


@record(frozen=True, slots=True)
class PoolSettings:
    """`pools.<name>`: `url` is `file:<directory>`, `memory:` or `redis://...`; `timeout` is in seconds, for Redis.

    `connections` is how many of them a process holds at most, to each server.
    """

    url: str
    required: bool = False
    timeout: float = 1.0
    connections: int = 32


@record(frozen=True, slots=True)
class Token:
    """A token that a group accepts: SHA-256 of it in hex, and the name that stands for it in logs."""

    name: str
    sha256: str
    expires: float | None = None
    scopes: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class OAuthClient:
    """How this daemon shows who it is at an authorization server's endpoint."""

    endpoint: str
    client_id: str
    client_secret: str = field(repr=False)


@record(frozen=True, slots=True)
class OAuth:
    """`groups.<group>.oauth`: whose access tokens are taken beside the group's own, and for what.

    `audience` is empty where it is the resource's own URL. Exactly one of `jwks_uri` and `introspection` is given.
    Times are in seconds: `refresh` until keys are fetched anew, `stale` for which the last good ones do while the
    server is away, `remember` for which what introspection said holds.
    """

    issuer: str
    authorization_servers: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    jwks_uri: str | None = None
    introspection: OAuthClient | None = None
    exchange: OAuthClient | None = None
    algorithms: tuple[str, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    scopes: tuple[str, ...] = ()
    leeway: float = 30.0
    refresh: float = 300.0
    stale: float = 3600.0
    remember: float = 10.0


@record(frozen=True, slots=True)
class Forward:
    """`groups.<group>.forward`: what of a request's head a procedure may see; names in lower case."""

    headers: tuple[str, ...] = ()
    token: bool = False


@record(frozen=True, slots=True)
class Security:
    """`ufo_json_rpc.security` as it holds for one group; `validator` names a plugin's function."""

    protected_api: bool = True
    protected_doc: bool = False
    token_name: str = "Ufo-RPC-Token"  # noqa: S105 -- the name of a header
    tokens: tuple[Token, ...] = ()
    validator: str | None = None
    oauth: OAuth | None = None
    forward: Forward = Forward()


@record(frozen=True, slots=True)
class ResultCacheSettings:
    """`ufo_json_rpc.cache`: which pool holds results, sessions and locks."""

    ttl: float = 60.0
    prefix: str = "rpc_cache"
    pool: str = "default"


@record(frozen=True, slots=True)
class Docs:
    """`ufo_json_rpc.docs`: what documents say of the project."""

    project_name: str = "My Project"
    project_description: str = ""
    project_version: str | None = None
    async_dsn_info: bool = False


@record(frozen=True, slots=True)
class Errors:
    """`errors`: how errors look to clients. `names`: Python's class names, or those of the original's package."""

    names: Literal["python", "ufo"] = "python"


@record(frozen=True, slots=True)
class Icon:
    """One entry of `mcp_server_info.icons`."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: Literal["light", "dark"] | None = None


@record(frozen=True, slots=True)
class ServerInfo:
    """`mcp_server_info` as it holds for one group."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: tuple[Icon, ...] = ()


@record(frozen=True, slots=True)
class McpSettings:
    """`ufo_mcp` as it holds for one group."""

    enabled: bool = True
    instructions: str | None = None
    max_body_bytes: int = 4_194_304
    session_ttl: float = 3600.0
    info: ServerInfo = ServerInfo()


@record(frozen=True, slots=True)
class Tools:
    """`tools`: how MCP shows a group's methods."""

    naming: Literal["dotted", "underscore"] = "dotted"
    refs: Literal["defs", "inline"] = "defs"
    output_arrays: Literal["widened", "exact"] = "widened"
    page_size: int = 1000


@record(frozen=True, slots=True)
class Allowed:
    """`limits` as it holds for one group or method: how often requests may come, by who or what they are counted."""

    address: Rate | None = None
    token: Rate | None = None
    group: Rate | None = None
    method: Rate | None = None

    def over(self, common: Allowed) -> Allowed:
        """These rates, and for what they say nothing of the common ones."""
        return Allowed(
            self.address or common.address,
            self.token or common.token,
            self.group or common.group,
            self.method or common.method,
        )


@record(frozen=True, slots=True)
class Concurrency:
    """`methods.<name>.concurrency`: how many calls run at a time in a worker, and how many may wait."""

    max: int
    queue: int = 0


@record(frozen=True, slots=True)
class Breaker:
    """`methods.<name>.breaker`: after how many failures in a row calls are refused, and for how many seconds."""

    failures: int
    pause: float = 30.0
    probes: int = 1


@record(frozen=True, slots=True)
class LimitSettings:
    """`limits`: where counts are kept (None: by the workers of this host), and what it means that nobody can count."""

    pool: str | None = None
    when_away: Literal["open", "closed"] = "open"


@record(frozen=True, slots=True)
class CallSettings:
    """`defaults`, overridden by `groups.<group>` and `methods.<name>`: what tunes calls.

    `scopes` only methods have: what a caller's token must allow, None where the method's author says it.
    """

    deadline: float | None = None
    unknown_params: Literal["drop", "refuse"] = "drop"
    validation_errors: Literal["protocol", "tool"] = "protocol"
    lenient_arguments: bool = False
    tools: Tools = Tools()
    max_batch: int = 100
    batch_concurrency: int = 10
    max_body_bytes: int = 4_194_304
    cache_ttl: float | None = None
    deprecated: bool = False
    audit: Audited = "none"
    limits: Allowed = Allowed()
    concurrency: Concurrency | None = None
    breaker: Breaker | None = None
    scopes: tuple[str, ...] | None = None


@record(frozen=True, slots=True)
class AccessLogSettings:
    """`logging.access`: one line a HTTP request, to a file, or to stderr where there is none."""

    enabled: bool = False
    file: str | None = None


@record(frozen=True, slots=True)
class Logging:
    """`logging`: where lines go and how they look; `audit_file` is None where the audit log goes to stderr."""

    format: Literal["json", "logfmt", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"
    calls: bool = True
    mask: tuple[str, ...] = ("password", "token", "secret", "authorization", "api_key")
    access: AccessLogSettings = AccessLogSettings()
    audit_file: str | None = None


@record(frozen=True, slots=True)
class Metrics:
    """`metrics`: whether and where Prometheus scrapes; `bind` is an address of its own, None that of everything else.

    `token_sha256` is that of the token that a scraper shows, in hex; None lets anybody scrape.
    """

    enabled: bool = True
    path: str = "/metrics"
    bind: str | None = None
    token_sha256: str | None = None


@record(frozen=True, slots=True)
class Http:
    """`http`: how requests are read."""

    fast_front: bool = True


@record(frozen=True, slots=True)
class TracingSettings:
    """`tracing`: spans to a collector at `endpoint` (OTLP/HTTP), of so many traces out of 1.

    What is None is taken from OpenTelemetry's environment variables.
    """

    enabled: bool = False
    endpoint: str | None = None
    service_name: str | None = None
    sample: float = 1.0


@record(frozen=True, slots=True)
class Console:
    """`console`: whether each group has a page to try its methods on."""

    enabled: bool = True


@record(frozen=True, slots=True)
class Cors:
    """`cors`: the one list of web origins that may call; loopback and `server.public_url` always may."""

    allowed_origins: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Transport:
    """One entry of `ufo_json_rpc.async`: a queue. `topics_prefix` and `jwt` are Mercure's."""

    type: Literal["redis", "amqp", "mercure"]
    name: str
    dsn: str = field(repr=False)
    topics_prefix: str = ""
    jwt: str | None = field(default=None, repr=False)


@record(frozen=True, slots=True)
class WebhookSettings:
    """`jobs.webhooks`: where answers may be sent, and what they are signed with."""

    allow: tuple[str, ...] = ()
    allow_private: bool = False
    secret: str | None = field(default=None, repr=False)


@record(frozen=True, slots=True)
class Jobs:
    """`jobs`: calls that are answered at once and run later; they go through the first transport, if there is one."""

    reclaim: float = 30.0
    retries: int = 5
    concurrency: int = 10
    waiting: int = 1000
    webhooks: WebhookSettings = WebhookSettings()


@record(frozen=True, slots=True)
class Settings:
    """The whole configuration of one generation.

    `security`, `mcp` and `calls` hold resolved values by group, the common ones under the empty name; `methods` holds
    only what differs for a method; `places` says by dotted path where each option of the gateway file stands; `sources`
    are the files that were read, the directories that were listed, and those that were looked for in vain.
    """

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
    errors: Errors = Errors()
    logging: Logging = Logging()
    metrics: Metrics = Metrics()
    tracing: TracingSettings = TracingSettings()
    http: Http = Http()
    console: Console = Console()
    cors: Cors = Cors()
    limits: LimitSettings = LimitSettings()
    transports: tuple[Transport, ...] = ()
    jobs: Jobs = Jobs()
    webmcp: Webmcp = field(default_factory=Webmcp)
    site_routes: tuple[SiteRoute, ...] = ()
    security: Mapping[str, Security] = field(default_factory=dict)
    mcp: Mapping[str, McpSettings] = field(default_factory=dict)
    calls: Mapping[str, CallSettings] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    def security_of(self, group: str) -> Security:
        """Who may call a group."""
        return _of(self.security, group, Security())

    def mcp_of(self, group: str) -> McpSettings:
        """A group's MCP server (C-14)."""
        return _of(self.mcp, group, McpSettings())

    def calls_of(self, group: str) -> CallSettings:
        """What tunes the calls of a group."""
        return _of(self.calls, group, CallSettings())

    def calls_of_method(self, group: str, method: str) -> CallSettings:
        """What tunes the calls of one method in a group: `defaults`, then `groups.<group>`, then `methods.<name>`.

        Of deadlines the shortest holds, whoever says it.
        """
        common, own = self.calls_of(group), self.methods.get(method)
        if not own:
            return common
        deadline = shortest(common.deadline, own.get("deadline"))
        limits = own.get("limits", Allowed()).over(common.limits)
        return replace(common, **{**own, "deadline": deadline, "limits": limits})


def shortest(*deadlines: float | None) -> float | None:
    """The shortest of these numbers of seconds; None where none is given."""
    return min((seconds for seconds in deadlines if seconds is not None), default=None)


_Value = TypeVar("_Value")


def _of(by_group: Mapping[str, _Value], group: str, default: _Value) -> _Value:
    """A group's value, else the common one (under the empty name), else the default."""
    return by_group.get(group, by_group.get("", default))
