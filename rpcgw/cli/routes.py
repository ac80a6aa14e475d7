"""`rpcgw routes`: which endpoints exist."""

from __future__ import annotations

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import config_option, environment_option, json_option
from rpcgw.cli.show import records
from rpcgw.gateway.listing import list_routes


@click.command()
@config_option
@environment_option
@json_option
def command(config: str, environment: str | None, *, as_json: bool) -> None:
    """List the routes. Names, HTTP methods, paths, groups and versions."""
    gateway = compiled(config, environment)
    rows = [(r.name, ", ".join(r.methods), r.path, r.group, r.version) for r in list_routes(gateway)]
    records(("name", "methods", "path", "group", "version"), rows, json=as_json)
