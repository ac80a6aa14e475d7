"""The compiled gateway: everything that a worker reads and nothing that it changes. Frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from rpcgw.access.admit import Policy
from rpcgw.access.senders import Senders
from rpcgw.access.webhooks import WebhookPolicy
from rpcgw.api.plugin import Lifespan
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.config.settings import Settings
from rpcgw.exchange import Forwarding
from rpcgw.gateway.pages import PluginPage
from rpcgw.gateway.wording import MethodWording
from rpcgw.kernel.listeners import Listeners
from rpcgw.kernel.table import MethodTable
from rpcgw.kernel.tuning import Tunings
from rpcgw.protocol import jsonrpc, mcp
from rpcgw.protocol.mcp.documents import Publication
from rpcgw.protocol.webmcp.site import Site

PluginStatus = Literal["loaded", "quarantined"]


@record(frozen=True, slots=True)
class PluginReport:
    """A plugin as commands and `/readyz?verbose` show it; `reason` says why one is quarantined, `place` where."""

    name: str
    version: str
    origin: str
    location: str
    place: Place
    state: PluginStatus
    reason: str = ""
    traceback: str = ""


@record(frozen=True, slots=True)
class PluginRuntime:
    """What of a plugin runs in a worker: its procedures, its lifespan and the settings that this one is given.

    `converters` are what it brings for types, functions that find objects by id included.
    """

    name: str
    procedures: tuple[object, ...]
    lifespan: Lifespan | None
    settings: Any
    converters: tuple[object, ...] = ()
    processors: tuple[object, ...] = ()


@record(frozen=True, slots=True)
class RpcRoute:
    """A JSON-RPC endpoint and who may come in; `readers` may have its documents."""

    endpoint: jsonrpc.Endpoint
    policy: Policy
    readers: Policy


@record(frozen=True, slots=True)
class McpRoute:
    """An MCP endpoint and who may come in; its documents and who may read them."""

    endpoint: mcp.Endpoint
    policy: Policy
    publication: Publication
    readers: Policy


@record(frozen=True, slots=True)
class SiteServed:
    """A site's pages: who may ask for them, and whose beacons and calls are taken.

    `callers` says by group who may call its methods: whoever may do so over `/rpc`. `negotiate` gives the language of
    a group's answers by `Accept-Language`, `forward` what of a request's head its procedures see. `owners` may see how
    the site's tools are used. `viewers` say
    by group, of those whose methods ask for scopes, who sees their tools: whoever may call them.
    """

    site: Site
    readers: Policy
    senders: Senders
    callers: Mapping[str, Policy]
    owners: Policy
    negotiate: Mapping[str, Callable[[str | None], str]] = field(default_factory=dict)
    forward: Mapping[str, Forwarding] = field(default_factory=dict)
    viewers: Mapping[str, Policy] = field(default_factory=dict)


@record(frozen=True, slots=True)
class Gateway:
    """One generation's answer to everything. `warnings` are for a person to mend some day."""

    settings: Settings
    table: MethodTable
    wording: MethodWording
    rpc: tuple[RpcRoute, ...]
    mcp: tuple[McpRoute, ...]
    plugins: tuple[PluginReport, ...]
    running: tuple[PluginRuntime, ...]
    listeners: Listeners
    tunings: Tunings = field(default_factory=dict)
    webhooks: WebhookPolicy = field(default_factory=WebhookPolicy)
    sites: tuple[SiteServed, ...] = ()
    pages: tuple[PluginPage, ...] = ()
    catalogues: tuple[CatalogueFile, ...] = ()
    warnings: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
