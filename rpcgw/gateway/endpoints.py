"""Routes -> compiled endpoints: what is served where, and who may come in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rpcgw import __version__
from rpcgw.access.admit import JSON, Policy
from rpcgw.access.guards import Guards, compile_guards
from rpcgw.access.oauth import Resource
from rpcgw.access.policies import document_policy, rpc_policy
from rpcgw.access.tokens import Tokens, compile_tokens
from rpcgw.api.plugin import TokenValidator
from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.route import Route
from rpcgw.config.settings import CallSettings, Security, Settings
from rpcgw.exchange import Forwarding, no_token
from rpcgw.gateway.address import public_url
from rpcgw.gateway.documents import publication, server_keys
from rpcgw.gateway.model import McpRoute, RpcRoute
from rpcgw.gateway.oauth import protected_resource, scopes_of
from rpcgw.gateway.transports import described
from rpcgw.gateway.wording import MethodWording
from rpcgw.kernel.failure import PYTHON, UFO
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import MethodTable
from rpcgw.protocol import jsonrpc, mcp
from rpcgw.protocol.openrpc import Edition, Project, documents
from rpcgw.protocol.postman import collections


@record(frozen=True, slots=True)
class Served:
    """The endpoints of all routes."""

    rpc: tuple[RpcRoute, ...]
    mcp: tuple[McpRoute, ...]


Validators = Mapping[str, TokenValidator]


def serve(
    settings: Settings, table: MethodTable, wording: MethodWording, validators: Validators
) -> tuple[Served, list[Problem]]:
    """Compile every route, in the order of routes.yaml. `validators` are what plugins know of tokens, by name."""
    try:
        guards = compile_guards(
            settings.server.public_url, settings.server.allowed_hosts, settings.cors.allowed_origins
        )
    except ValueError as error:
        return Served((), ()), [Problem(Place(settings.source), "bad-value", str(error))]
    problems: list[Problem] = []
    tokens = {route.group: tokens_of(settings, validators, route.group) for route in settings.routes}
    rpc = [
        _rpc(route, settings, table, wording, guards, tokens=tokens[route.group])
        for route in settings.routes
        if route.kind == "rpc"
    ]
    found = []
    keys = server_keys(settings)
    for route in settings.routes:
        if route.kind == "mcp":
            endpoint, wrong = _mcp(route, settings, table, wording, guards, tokens=tokens[route.group])
            security = settings.security_of(route.group)
            published = publication(route, settings, endpoint, keys[route.key])
            mine = tokens[route.group]
            resource = protected_resource(route, settings, table)
            readers = document_policy(guards, mine, resource, protected_doc=security.protected_doc)
            found.append(McpRoute(endpoint, _mcp_policy(guards, security, mine, resource), published, readers))
            problems += wrong
    return Served(tuple(rpc), tuple(found)), list(dict.fromkeys(problems))


def _rpc(
    route: Route, settings: Settings, table: MethodTable, wording: MethodWording, guards: Guards, *, tokens: Tokens
) -> RpcRoute:
    calls, security = settings.calls_of(route.group), settings.security_of(route.group)
    resource, scoped = protected_resource(route, settings, table), bool(scopes_of(route.group, table))
    protected = {"protected_doc": security.protected_doc, "scoped": scoped}
    policy = rpc_policy(guards, tokens, resource, protected_api=security.protected_api, **protected)
    project, editions = _project(settings), _editions(route, settings, table)
    prefix = route.prefix or "/"
    endpoint = jsonrpc.Endpoint(
        name=f"{route.full_group}_ufo_rpc_api_server",
        prefix=prefix,
        group=route.group,
        versions=table.versions(route.group),
        document=documents(project, prefix, route.group, editions, wording),
        negotiate=wording.negotiator(route.group),
        limits=jsonrpc.Limits(
            max_body_bytes=calls.max_body_bytes,
            max_batch=calls.max_batch,
            batch_concurrency=calls.batch_concurrency,
        ),
        deadlines=_with_deadline(route.group, settings, table),
        origins=guards.pages(),
        presented=tokens.presented if security.protected_api else no_token,
        collection=collections(
            project,
            prefix,
            route.group,
            editions,
            wording,
            header=security.token_name,
            protected=security.protected_api,
        ),
        private=security.protected_doc or scoped,
        metadata_url=_metadata_url(resource),
        forward=forwarding(security, tokens),
        names=UFO if settings.errors.names == "ufo" else PYTHON,
        messages=wording.languages,
    )
    readers = document_policy(guards, tokens, resource, **protected)
    return RpcRoute(endpoint, policy, readers)


def _editions(route: Route, settings: Settings, table: MethodTable) -> dict[int, Edition]:
    return {
        version: Edition(_described(route.group, version, settings, table), table.components(route.group, version))
        for version in table.versions(route.group)
    }


def _project(settings: Settings) -> Project:
    docs = settings.docs
    return Project(
        docs.project_name,
        docs.project_description,
        public_url(settings),
        product=__version__,
        version=docs.project_version,
        environment=settings.environment,
        transports=described(settings.transports) if docs.async_dsn_info else {},
    )


def _described(group: str, version: int, settings: Settings, table: MethodTable) -> Mapping[str, Method]:
    """A group's methods, marked as deprecated where the operator says so."""
    return {
        name: replace(method, deprecated=True) if settings.calls_of_method(group, name).deprecated else method
        for name, method in table.documented(group, version).items()
    }


def _with_deadline(group: str, settings: Settings, table: MethodTable) -> frozenset[str]:
    names = {name for version in table.versions(group) for name in table.methods(group, version) or {}}
    return frozenset(name for name in names if settings.calls_of_method(group, name).deadline is not None)


def _mcp(
    route: Route, settings: Settings, table: MethodTable, wording: MethodWording, guards: Guards, *, tokens: Tokens
) -> tuple[mcp.Endpoint, list[Problem]]:
    own, calls = settings.mcp_of(route.group), settings.calls_of(route.group)
    shown = _tool_settings(calls)
    toolboxes: dict[int, mcp.Toolbox] = {}
    problems: list[Problem] = []
    for version in table.versions(route.group):
        methods = table.methods(route.group, version) or {}
        differing = {name: _tool_settings(settings.calls_of_method(route.group, name)) for name in methods}
        toolboxes[version], wrong = mcp.build(methods, shown, differing)
        problems += wrong
    endpoint = mcp.Endpoint(
        name=f"{route.full_group}_ufo_mcp_endpoint",
        prefix=route.prefix or "/",
        group=route.group,
        toolboxes=toolboxes,
        texts=wording,
        negotiate=wording.negotiator(route.group),
        info=mcp.ServerInfo(own.info.name, own.info.title),
        instructions=own.instructions,
        limits=mcp.Limits(own.max_body_bytes, calls.max_batch, calls.batch_concurrency, own.session_ttl),
        settings=shown,
        private=_is_private(route, settings, wording) or bool(scopes_of(route.group, table)),
        metadata_url=_metadata_url(protected_resource(route, settings, table)),
        forward=forwarding(settings.security_of(route.group), tokens),
        enabled=own.enabled,
        listens=True,
        origins=guards.pages(),
        messages=wording.languages,
    )
    return endpoint, problems


def _tool_settings(calls: CallSettings) -> mcp.ToolSettings:
    tools = calls.tools
    return mcp.ToolSettings(
        naming=tools.naming,
        refs=tools.refs,
        output_arrays=tools.output_arrays,
        validation_errors=calls.validation_errors,
        lenient_arguments=calls.lenient_arguments,
        page_size=tools.page_size,
    )


def _is_private(route: Route, settings: Settings, wording: MethodWording) -> bool:
    """Whether a list differs by who asks or by language, so that no shared cache may keep it."""
    return settings.security_of(route.group).protected_api or len(wording.texts.available(route.group)) > 1


def forwarding(security: Security, tokens: Tokens) -> Forwarding:
    """What of requests' heads a group's procedures see, on any way to them."""
    lends = security.forward.token or (security.oauth is not None and security.oauth.exchange is not None)
    return Forwarding(security.forward.headers, tokens.presented if lends else no_token)


def _metadata_url(resource: Resource | None) -> str:
    return "" if resource is None else resource.metadata_url


def _mcp_policy(guards: Guards, security: Security, tokens: Tokens, resource: Resource | None) -> Policy:
    return Policy(
        guards=guards,
        methods=("POST", "DELETE"),
        tokens={"POST": tokens, "DELETE": tokens} if security.protected_api else {},
        media_types={"POST": JSON},
        resource=resource,
    )


def tokens_of(settings: Settings, validators: Validators, group: str) -> Tokens:
    """What a group accepts."""
    security = settings.security_of(group)
    entries = ((token.name, token.sha256, token.expires) for token in security.tokens)
    scopes = {token.name: frozenset(token.scopes) for token in security.tokens if token.scopes}
    return compile_tokens(security.token_name, entries, validators.get(security.validator or ""), scopes)
