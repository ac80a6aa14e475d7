"""`rpcgw call`: one call by the name of its method."""

from __future__ import annotations

import click

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.cli import calling
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import config_option, environment_option


@click.command()
@config_option
@environment_option
@click.option("--group", default=DEFAULT_GROUP, show_default=True, help="The API group.")
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@click.option("--params", metavar="JSON", help="The parameters as a JSON object or array, instead of words.")
@click.argument("method")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
def command(
    config: str,
    environment: str | None,
    group: str,
    version: str,
    params: str | None,
    method: str,
    words: tuple[str, ...],
) -> None:
    """Call METHOD as /rpc would, and print its result as JSON; an error ends with status 1."""
    gateway = compiled(config, environment)
    found = calling.method_named(gateway, group, version, method)
    calling.show(calling.run(gateway, found, group, version, calling.params_of(found, words, params)))
