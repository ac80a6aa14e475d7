"""`rpcgw cache`: kept results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option
from rpcgw.cli.settings import kept
from rpcgw.daemon.commands import command_telemetry
from rpcgw.daemon.ports import RandomIds
from rpcgw.gateway.listing import list_methods
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.cache import ResultCache
from rpcgw.kernel.method import Method
from rpcgw.kernel.relations import Drop, Relations, chosen


@click.group()
def command() -> None:
    """Look after kept results."""


@command.command()
@config_option
@environment_option
@click.option("--params", metavar="JSON", help="Only what was kept for these values, where results can be told apart.")
@click.argument("method")
def clear(config: str, environment: str | None, params: str | None, method: str) -> None:
    """Drop the kept results of METHOD in all groups and versions, for every worker and host of the pool."""
    gateway = compiled(config, environment)
    given = _object(params)
    drops = _drops(gateway, method, given)
    asyncio.run(_drop(gateway, drops, given or {}))
    click.echo(f"dropped what was kept of {method}")


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"--params is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.UsageError("--params must be a JSON object")
    return value


def _drops(gateway: Gateway, name: str, params: Mapping[str, Any] | None) -> list[Drop]:
    methods: dict[Method, None] = dict.fromkeys(entry.method for entry in list_methods(gateway))
    relations = Relations(methods)
    tags = {method: relations.tags(method) for method in methods if method.name == name and method.cache}
    if not tags:
        known = sorted({method.name for method in methods if method.cache})
        others = f"of these they are: {', '.join(known)}" if known else "no method here is marked with @rpc.cache"
        raise UnknownNameError(f"no results of {name!r} are kept; {others}")
    try:
        return chosen(tags, params)
    except LookupError as error:
        raise UnknownNameError(str(error.args[0])) from None


async def _drop(gateway: Gateway, drops: list[Drop], given: Mapping[str, Any]) -> None:
    settings = gateway.settings
    with command_telemetry(gateway) as observer:
        async with kept(settings) as pool:
            await ResultCache(pool, RandomIds(), observer, settings.cache.prefix).invalidate(drops, given)
