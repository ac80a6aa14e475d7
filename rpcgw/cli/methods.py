"""`rpcgw methods`: what the plugins bring."""

from __future__ import annotations

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import config_option, environment_option, json_option
from rpcgw.cli.show import records
from rpcgw.gateway.listing import list_methods


@click.command()
@config_option
@environment_option
@json_option
@click.option("--group", help="Of this group only.")
def command(config: str, environment: str | None, group: str | None, *, as_json: bool) -> None:
    """List the methods of each group and version, with the place of their source."""
    gateway = compiled(config, environment)
    rows = [
        (
            entry.group,
            f"v{entry.version}",
            entry.method.name,
            entry.method.plugin or "built in",
            str(entry.method.place),
        )
        for entry in list_methods(gateway)
        if group in (None, entry.group)
    ]
    records(("group", "version", "method", "plugin", "source"), rows, json=as_json)
