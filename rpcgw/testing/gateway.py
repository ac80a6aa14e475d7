"""A plugin's gateway in the hands of a test."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, urlencode

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.exchange import Fields, Head, Inbound
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.lock import PoolLocks, lock_name
from rpcgw.kernel.method import Method
from rpcgw.protocol.mcp import Endpoint, asking
from rpcgw.testing import requests
from rpcgw.testing.agents import client_problems
from rpcgw.testing.answers import Received, RpcAnswer, ToolAnswer, result_of
from rpcgw.testing.clock import MovableClock
from rpcgw.testing.compiling import Brought, compile_plugin
from rpcgw.testing.records import Event
from rpcgw.testing.requests import Params
from rpcgw.testing.running import Running, running
from rpcgw.testing.texts import text_problems

_T = TypeVar("_T")
Era = Literal["stateless", "session"]

TOOL_GROUP = "mcp"
_LOCKED_FOR = 365 * 86_400.0


class _Caller(NamedTuple):
    """Who asks whom, and how."""

    group: str
    version: int
    token: str | None
    locale: str
    era: Era = "stateless"


class PluginGateway:
    """One plugin, compiled and open. Everything goes through the functions that answer HTTP, without HTTP.

    Where `group` is not given, it is the first that has the method: `general` before others over rpc, `mcp` over MCP.
    `token` is sent as a bearer token, `locale` as `Accept-Language`.

    Made by the fixture `rpcgw_gateway`, or by `open_gateway`.
    """

    def __init__(self, gateway: Gateway, running: Running, state_dir: Path) -> None:
        self.state_dir = state_dir
        self._gateway = gateway
        self._running = running
        self._sessions: dict[tuple[str, int, str | None], str] = {}

    @property
    def clock(self) -> MovableClock:
        """The time that results, sessions, locks and deadlines go by: `clock.advance(60)`."""
        return self._running.clock

    # -- calls

    def call(
        self,
        method: str,
        params: Params = None,
        *,
        group: str | None = None,
        version: int = 1,
        token: str | None = None,
        locale: str = "",
    ) -> RpcAnswer:
        """Call a method over `/rpc`; params may hold whatever has a JSON form (dates, decimals, enums, dataclasses)."""
        sent = requests.message(method, params)
        return self._rpc(_Caller(self._group(method, group, version), version, token, locale), sent)[0]

    def batch(
        self,
        *calls: tuple[str, Params],
        group: str | None = None,
        version: int = 1,
        token: str | None = None,
        locale: str = "",
    ) -> list[RpcAnswer]:
        """Call several methods of one group at once, as a JSON-RPC batch; the answers stand in the calls' order."""
        sent = [requests.message(method, params, number) for number, (method, params) in enumerate(calls)]
        own = self._group(calls[0][0], group, version) if calls else group or DEFAULT_GROUP
        answers = self._rpc(_Caller(own, version, token, locale), sent)
        return sorted(answers, key=lambda answer: answer.message["id"]) if len(answers) > 1 else answers

    def tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        group: str | None = None,
        version: int = 1,
        token: str | None = None,
        locale: str = "",
        era: Era = "stateless",
    ) -> ToolAnswer:
        """Call a tool over `/mcp`, in the stateless revision or in a session; progress and messages are asked for."""
        caller = _Caller(self._tool_group(name, group, version), version, token, locale, era)
        given = dict(arguments or {})
        headers = self._mirrored(caller, name, given)
        params = {"name": name, "arguments": given}
        received = self._mcp(caller, "tools/call", params, headers)
        messages = received.messages()
        progress, logged = (
            [message["params"] for message in messages if message.get("method") == kind]
            for kind in (asking.PROGRESS, asking.MESSAGE)
        )
        return ToolAnswer(received.status, messages[-1], progress, logged)

    # -- what is published

    def tools(
        self,
        *,
        group: str = TOOL_GROUP,
        version: int = 1,
        token: str | None = None,
        locale: str = "",
        era: Era = "stateless",
    ) -> dict[str, dict[str, Any]]:
        """The tools of a group by name, as `tools/list` shows them."""
        caller = _Caller(group, version, token, locale, era)
        found: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        while True:
            params = {} if cursor is None else {"cursor": cursor}
            received = self._mcp(caller, "tools/list", params, {})
            page = result_of(received.messages()[-1])
            found |= {tool["name"]: tool for tool in page["tools"]}
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    def openrpc(self, *, group: str = DEFAULT_GROUP, version: int = 1, locale: str = "") -> dict[str, Any]:
        """The OpenRPC document of a group, as `GET /rpc` answers it."""
        path = f"/rpc/{group}/v{version}"
        fields = Fields({"accept-language": locale} if locale else {})
        received = self._running.ask(path, Inbound(Head("GET", quote(path), "", fields, unix=True), b""))
        document: dict[str, Any] = received.messages()[0]
        return document

    def page(self, path: str = "/", *, locale: str = "") -> dict[str, Any]:
        """What a web page gets (docs/reference/webmcp-payload.md), with its tools under `tools`.

        The site is `main`; what failed is among `events("webmcp.omitted")`.
        """
        asked = {"path": path, **({"locale": locale} if locale else {})}
        head = Head("GET", "/webmcp/config.json", urlencode(asked), Fields({}), unix=True)
        configuration: dict[str, Any] = self._running.ask(head.path, Inbound(head, b"")).messages()[0]
        return configuration

    def methods(self, *, group: str = DEFAULT_GROUP, version: int = 1) -> list[str]:
        """The names of a group's methods, built-in ones included; empty where the group has no such version."""
        return sorted(self._gateway.table.methods(group, version) or {})

    # -- what happened

    def events(self, name: str | None = None) -> list[Event]:
        """What happened so far, or one kind of it: `cache.write`, `cache.invalidate`, `session.created`, ..."""
        return [event for event in self._running.recorder.events if name in (None, event.name)]

    def logs(self, event: str | None = None) -> list[dict[str, Any]]:
        """The log so far, or the lines of one event; `call` is the line of each call, with its `outcome`.

        Whatever the plugin logs by structlog or logging is among them.
        """
        return self._running.lines.read(event)

    # -- what a test arranges

    @contextmanager
    def locked(
        self, method: str, params: Mapping[str, Any] | None = None, *, group: str | None = None, version: int = 1
    ) -> Iterator[None]:
        """Hold the lock that a call with these params would take, as another caller does.

        Raises:
            AssertionError: The method has no lock.
        """
        found = self._method(method, self._group(method, group, version), version)
        assert found.lock is not None, f"{method} is not marked with @rpc.lock"
        values = (
            found.convert(found.bind(dict(params or {}), strict=False, refuse_unknown=True)) if found.lock.by else {}
        )
        name = lock_name(found, found.lock, values)
        locks = PoolLocks(self._running.runtime.pool, self._running.runtime.ids)
        owner = self.run(locks.acquire(name, _LOCKED_FOR))
        assert owner is not None, f"{name} is locked already"
        try:
            yield
        finally:
            self.run(locks.release(name, owner))

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """A coroutine's result, on the event loop that the plugin's lifespan and procedures run on."""
        return self._running.run(work)

    # -- what a test asserts of the whole

    def assert_texts(self, *locales: str) -> None:
        """Every method is described in each of these languages, and no text is about something that is not there.

        Raises:
            AssertionError: With every problem.
        """
        problems = text_problems(self._gateway, locales)
        assert not problems, "\n".join(problems)

    def assert_clients(self, *clients: str) -> None:
        """Every tool suits the clients of `rpcgw check`'s lint: none would drop, mangle or refuse one.

        Args:
            clients: Their names: `Claude Code`, `VS Code`, ... Of no names, it is about all of them, but for what the
                operator can mend with a setting.

        Raises:
            AssertionError: With every finding.
        """
        problems = client_problems(self._gateway, clients)
        assert not problems, "\n".join(problems)

    # -- inside

    def _rpc(self, caller: _Caller, sent: Any) -> list[RpcAnswer]:
        received = self._post(caller, "rpc", sent, {})
        found = received.messages()
        answers = found[0] if found and isinstance(found[0], list) else found
        return [RpcAnswer(received.status, answer) for answer in answers]

    def _mcp(self, caller: _Caller, method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> Received:
        if caller.era == "session":
            sent, own = requests.in_session(method, params, self._session(caller))
            return self._post(caller, "mcp", sent, own)
        sent, own = asking.request(method, params, requests.CLIENT)
        return self._post(caller, "mcp", sent, {**own, **headers})

    def _mirrored(self, caller: _Caller, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
        tool = self._endpoint(caller.group, caller.version).toolbox.by_name.get(name)
        return {} if tool is None else asking.mirrored(tool.mirrors, arguments)

    def _session(self, caller: _Caller) -> str:
        """The id of a session, begun where there is none yet."""
        key = (caller.group, caller.version, caller.token)
        if key not in self._sessions:
            begun = self._post(caller, "mcp", requests.initialize(), {})
            result_of(begun.messages()[-1])
            self._sessions[key] = begun.headers["mcp-session-id"]
        return self._sessions[key]

    def _post(self, caller: _Caller, kind: str, sent: Any, headers: Mapping[str, str]) -> Received:
        path = f"/{kind}/{caller.group}/v{caller.version}"
        inbound = requests.request(quote(path), sent, token=caller.token, locale=caller.locale, headers=headers)
        return self._running.ask(path, inbound)

    def _group(self, method: str, group: str | None, version: int) -> str:
        return group or self._first(
            DEFAULT_GROUP, lambda own: method in (self._gateway.table.methods(own, version) or {})
        )

    def _tool_group(self, name: str, group: str | None, version: int) -> str:
        return group or self._first(TOOL_GROUP, lambda own: name in self._endpoint(own, version).toolbox.by_name)

    def _first(self, preferred: str, has: Callable[[str], bool]) -> str:
        """The first group that has something, the preferred one before others."""
        served = [route.endpoint.group for route in self._gateway.mcp]
        ordered = sorted(served, key=lambda own: (own != preferred, own))
        return next((own for own in ordered if has(own)), ordered[0])

    def _endpoint(self, group: str, version: int) -> Endpoint:
        found = next((route.endpoint for route in self._gateway.mcp if route.endpoint.group == group), None)
        assert found is not None, f"the plugin has no group {group!r}"
        return replace(found, version=version)

    def _method(self, name: str, group: str, version: int) -> Method:
        found = (self._gateway.table.methods(group, version) or {}).get(name)
        assert found is not None, f"the group {group!r} has no method {name!r} in version {version}"
        return found


class GatewayFactory(Protocol):
    """What the fixture `rpcgw_gateway` gives: makes gateways that are closed when the test ends."""

    def __call__(
        self,
        plugin: Brought,
        *,
        config: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        environment: str = "prod",
        name: str | None = None,
    ) -> PluginGateway:
        """A gateway of one plugin; the arguments are those of `open_gateway`."""


@contextmanager
def open_gateway(
    plugin: Brought,
    state_dir: Path,
    *,
    config: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    environment: str = "prod",
    name: str | None = None,
) -> Iterator[PluginGateway]:
    """Compile a plugin and open it; every group of it is served over rpc and MCP.

    Args:
        plugin: The module that holds the plugin, its name (`my_plugin` or `my_plugin:plugin`), or the `rpc.Plugin`.
        state_dir: Where the plugin may keep files; an empty directory.
        config: What gateway.yaml would say at `plugins.config.<plugin>`.
        settings: Anything else of gateway.yaml. Unlike there, groups are open, and results are kept in memory.
        environment: `prod` is what clients get: only there are results kept that are marked so, and errors short.
        name: What the plugin is called; its entry point's name where it is installed, else its module's.

    Raises:
        AssertionError: The plugin cannot be imported.
        ConfigError: With every problem of the plugin, its texts, or these settings.
        Exception: Whatever the plugin's lifespan raises.
    """
    gateway = compile_plugin(
        plugin,
        name=name,
        config=config,
        settings=settings or {},
        environment=environment,
        state_dir=str(state_dir.resolve()),
    )
    with running(gateway) as opened:
        yield PluginGateway(gateway, opened, state_dir)
