"""`rpcgw mcp`: an MCP server on standard input and output, for clients that start their servers themselves."""

from __future__ import annotations

import sys

import click

from rpcgw.adapters.stdio.pipes import take_over
from rpcgw.api.errors import ConfigError
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, options_of
from rpcgw.cli.problems import CONFIG, print_problems
from rpcgw.gateway.listing import version_number
from rpcgw.gateway.model import Gateway, McpRoute


@click.command()
@config_option
@environment_option
@click.option("--group", default="mcp", show_default=True, help="The API group.")
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@click.option("--locale", default="", help="The language of the texts, as Accept-Language.")
def command(config: str, environment: str | None, group: str, version: str, locale: str) -> None:
    """Speak MCP on standard input and output until the input ends.

    Nothing else is written to standard output: logs, and whatever procedures print, go to standard error.
    """
    from rpcgw.daemon.compiling import compile_gateway  # noqa: PLC0415 -- as above: brings plugins in
    from rpcgw.daemon.stdio import Client, run  # noqa: PLC0415 -- imported once nothing can be printed between the lines

    descriptors = take_over()
    try:
        gateway = compile_gateway(options_of(config, environment))
        print_problems(gateway.warnings)
        code = run(gateway, Client(*_route(gateway, group, version), locale, descriptors))
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(CONFIG) from None
    sys.exit(code)


def _route(gateway: Gateway, group: str, version: str) -> tuple[McpRoute, int]:
    """The first route that serves a group in a version."""
    number = version_number(version)
    for route in gateway.mcp:
        endpoint = route.endpoint
        if endpoint.group == group and endpoint.enabled and number is not None and number in endpoint.toolboxes:
            return route, number
    served = ", ".join(
        f"{route.endpoint.group} (v{', v'.join(map(str, route.endpoint.toolboxes))})"
        for route in gateway.mcp
        if route.endpoint.enabled
    )
    raise UnknownNameError(f"no MCP route serves the group {group!r} in {version}; there are: {served or 'none'}")
