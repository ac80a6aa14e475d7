"""`rpcgw plugins`: what was found, and what of it serves."""

from __future__ import annotations

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import config_option, environment_option, json_option
from rpcgw.cli.show import records


@click.command()
@config_option
@environment_option
@json_option
def command(config: str, environment: str | None, *, as_json: bool) -> None:
    """List the plugins. Says where they come from, and why one is quarantined."""
    gateway = compiled(config, environment)
    rows = [(p.name, p.version, p.origin, p.location, p.state, p.reason) for p in gateway.plugins]
    records(("name", "version", "origin", "location", "state", "reason"), rows, json=as_json)
