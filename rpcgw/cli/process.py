"""`rpcgw process`: a request or a batch as `/rpc` answers it, token check included, without HTTP."""

from __future__ import annotations

import asyncio
import sys

import click
import msgspec

from rpcgw.api.errors import ConfigError
from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, token_of, token_option
from rpcgw.cli.problems import PROBLEMS, print_problems
from rpcgw.daemon.commands import command_telemetry
from rpcgw.daemon.runtime import open_runtime
from rpcgw.endpoints import rpc
from rpcgw.exchange import Entrance, Fields, Head, Inbound, Reply, settled
from rpcgw.gateway.listing import version_number
from rpcgw.gateway.model import Gateway, RpcRoute
from rpcgw.kernel.ports import Observer

_EMPTY_BATCH = "[]"


@click.command()
@config_option
@environment_option
@click.option("--group", default=DEFAULT_GROUP, show_default=True, help="The API group whose /rpc endpoint answers.")
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@token_option
@click.argument("request", metavar="[JSON|-]", default=_EMPTY_BATCH)
def command(
    config: str, environment: str | None, group: str, version: str, token_env: str | None, request: str
) -> None:
    """Answer JSON exactly as POST /rpc would. It is a request or a batch; - reads it from standard input.

    The answer goes to standard output, an error too: the status is 0 wherever there is an answer.
    """
    token = token_of(token_env)
    body = sys.stdin.buffer.read() if request == "-" else request.strip('"').encode("utf-8", "surrogateescape")
    gateway = compiled(config, environment)
    route = _route(gateway, group)
    number = version_number(version)
    if number is None:
        raise click.BadParameter(f"{version!r} is no version; write v1", param_hint="--ver")
    name = gateway.settings.security_of(group).token_name
    head = Head("POST", _path(route, number), "", Fields({} if token is None else {name: token}), unix=True)
    try:
        with command_telemetry(gateway) as observer:
            answer = asyncio.run(_answer(gateway, observer, route, Inbound(head, body)))
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(PROBLEMS) from None
    if answer:
        click.echo(msgspec.json.format(answer, indent=2))


def _route(gateway: Gateway, group: str) -> RpcRoute:
    found = next((route for route in gateway.rpc if route.endpoint.group == group), None)
    if found is None:
        known = ", ".join(sorted({route.endpoint.group for route in gateway.rpc})) or "none"
        raise UnknownNameError(f"no route serves the group {group!r} as /rpc; groups that have one: {known}")
    return found


def _path(route: RpcRoute, version: int) -> str:
    return f"{route.endpoint.prefix.rstrip('/')}/v{version}"


async def _answer(gateway: Gateway, observer: Observer, route: RpcRoute, inbound: Inbound) -> bytes:
    """What a door would write; what follows the answer has run as well."""
    async with open_runtime(gateway, observer) as runtime:
        services = rpc.Services(runtime.executor, runtime.ids, runtime.clock, observer, surface="cli")
        reply = await _ask(_entrance(rpc.entrances(route.endpoint, route.policy, services), inbound.head), inbound)
        if reply.after is not None:
            await reply.after()
        assert isinstance(reply.body, bytes), "/rpc does not stream"
        return reply.body


def _entrance(entrances: tuple[Entrance, ...], head: Head) -> Entrance:
    exact = next((entrance for entrance in entrances if entrance.pattern == head.path), None)
    return exact or next(entrance for entrance in entrances if entrance.pattern.endswith("/{ver}"))


async def _ask(entrance: Entrance, inbound: Inbound) -> Reply:
    principal = await settled(entrance.admit(inbound.head))
    if isinstance(principal, Reply):
        return principal
    if len(inbound.body) > entrance.max_body_bytes:
        return entrance.too_large(inbound.head)
    return await entrance.answer(principal, inbound)
