"""`rpcgw openrpc`: the document of a group, as `GET /rpc` answers it."""

from __future__ import annotations

import click

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import config_option, environment_option
from rpcgw.gateway.listing import openrpc_document


@click.command()
@config_option
@environment_option
@click.option("--group", default=DEFAULT_GROUP, show_default=True, help="The API group.")
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@click.option("--locale", help="The language of the texts; the default locale where it is not given.")
def command(config: str, environment: str | None, group: str, version: str, locale: str | None) -> None:
    """Print the OpenRPC document of a group and version."""
    gateway = compiled(config, environment)
    document = openrpc_document(gateway, group, version, locale)
    if document is None:
        raise click.UsageError(f"no /rpc route serves the group {group!r} in {version}")
    click.echo(document.decode())
