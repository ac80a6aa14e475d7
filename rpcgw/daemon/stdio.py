"""One MCP server on standard input and output: a compiled gateway, one of its endpoints, one client."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace

import uvloop

from rpcgw.adapters.stdio.door import StdioDoor
from rpcgw.adapters.stdio.pipes import Descriptors, Pipes
from rpcgw.adapters.stores.memory import MemoryPool
from rpcgw.api.records import record
from rpcgw.daemon.commands import command_telemetry
from rpcgw.daemon.runtime import Runtime, open_runtime
from rpcgw.daemon.tracers import opened_tracer
from rpcgw.endpoints import mcp
from rpcgw.endpoints.sessions import LocalRevocations, Sessions
from rpcgw.exchange import Entrance
from rpcgw.gateway.model import Gateway, McpRoute
from rpcgw.kernel.ports import Observer, Tracer
from rpcgw.protocol.mcp import lines

_FOR_EVER = 10.0 * 365 * 86_400
"""Seconds that the session lives: as long as the process."""


@record(frozen=True, slots=True)
class Client:
    """Who is served what: a route's group in one version, in a language (as `Accept-Language`), on two descriptors."""

    route: McpRoute
    version: int
    language: str
    descriptors: Descriptors


def run(gateway: Gateway, client: Client) -> int:
    """Answer one client until its input ends or SIGTERM comes; the exit code.

    Raises:
        ConfigError: A procedure cannot be made of what its plugin provides.
    """
    with (
        command_telemetry(gateway, gateway.settings.logging) as observer,
        opened_tracer(gateway.settings.tracing) as tracer,
    ):
        # Never closed: closing would wait for threads that run procedures without end. The process ends right after.
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        return runner.run(_serve(gateway, client, observer, tracer))


async def _serve(gateway: Gateway, client: Client, observer: Observer, tracer: Tracer | None) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    pipes = Pipes(client.descriptors)
    async with open_runtime(gateway, observer, exhausted=stop.set, tracer=tracer) as runtime:
        entrance = _entrance(runtime, client.route, client.version)
        door = StdioDoor(entrance, lines.read, pipes.write, observer.event, client.language)
        observer.event("ready", group=client.route.endpoint.group, version=client.version)
        reading = asyncio.create_task(door.serve(pipes.lines(entrance.max_body_bytes)))
        told = asyncio.create_task(stop.wait())
        await asyncio.wait((reading, told), return_when=asyncio.FIRST_COMPLETED)
        for task in (reading, told):
            task.cancel()
        await asyncio.gather(reading, told, return_exceptions=True)
        await door.drain(0.0 if stop.is_set() else gateway.settings.server.timeouts.grace)
        pipes.close()
    return 0


def _entrance(runtime: Runtime, route: McpRoute, version: int) -> Entrance:
    """The way in that HTTP has for this version, with sessions that nobody else sees."""
    endpoint = lines.without_mirrors(route.endpoint)
    endpoint = replace(endpoint, limits=replace(endpoint.limits, session_ttl=_FOR_EVER), listens=False)
    own = Sessions(MemoryPool(), runtime.clock, runtime.ids, runtime.observer, LocalRevocations())
    services = mcp.Services(
        runtime.executor,
        own,
        runtime.ids,
        runtime.clock,
        runtime.observer,
        tracer=runtime.tracer,
        transport="pipe",
    )
    found = mcp.entrances(endpoint, route.policy, services)
    return next(each for each in found if each.pattern.endswith(f"/v{version}"))
