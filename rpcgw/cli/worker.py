"""`rpcgw worker`: consume a queue."""

from __future__ import annotations

import sys

import click

from rpcgw.api.errors import ConfigError
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, options_of
from rpcgw.cli.problems import CONFIG, print_problems
from rpcgw.config.settings import Transport
from rpcgw.gateway.model import Gateway


@click.command()
@config_option
@environment_option
@click.argument("name")
def command(config: str, environment: str | None, name: str) -> None:
    """Run the calls that wait in the queue NAME. It is one of ufo_json_rpc.async; SIGTERM or Ctrl-C ends it.

    Any number of workers may consume one queue. A job is acknowledged once it is done; that of a worker that dies runs
    again elsewhere. Bad configuration ends with status 78.
    """
    from rpcgw.daemon.compiling import compile_gateway  # noqa: PLC0415 -- as above
    from rpcgw.daemon.jobworker import run  # noqa: PLC0415 -- brings the whole gateway with it

    try:
        gateway = compile_gateway(options_of(config, environment))
        print_problems(gateway.warnings)
        code = run(gateway, _named(gateway, name))
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(CONFIG) from None
    sys.exit(code)


def _named(gateway: Gateway, name: str) -> Transport:
    transports = gateway.settings.transports
    for transport in transports:
        if transport.name == name:
            return transport
    known = ", ".join(transport.name for transport in transports)
    raise UnknownNameError(f"there is no queue {name!r}; ufo_json_rpc.async has: {known or 'none'}")
