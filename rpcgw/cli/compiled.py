"""A compiled gateway for commands that look into one."""

from __future__ import annotations

import click

from rpcgw.api.errors import ConfigError
from rpcgw.cli.options import options_of
from rpcgw.cli.problems import PROBLEMS, print_problems
from rpcgw.cli.progress import working
from rpcgw.daemon.compiling import compile_gateway
from rpcgw.gateway.model import Gateway


def compiled(config: str, environment: str | None) -> Gateway:
    """The gateway of a configuration file; its problems are printed and end the command with status 1."""
    try:
        with working(f"compiling {config}"):
            return compile_gateway(options_of(config, environment))
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(PROBLEMS) from None
