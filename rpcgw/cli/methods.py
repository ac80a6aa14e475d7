"""`rpcgw methods`: what the plugins bring."""

from __future__ import annotations

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, json_option
from rpcgw.cli.show import records
from rpcgw.gateway.listing import list_methods


@click.command()
@config_option
@environment_option
@json_option
@click.option("--group", help="Of this group only.")
def command(config: str, environment: str | None, group: str | None, *, as_json: bool) -> None:
    """List the methods of each group and version. Each comes with the place of its source."""
    listed = list(list_methods(compiled(config, environment)))
    groups = dict.fromkeys(entry.group for entry in listed)
    if group is not None and group not in groups:
        raise UnknownNameError(f"there is no group {group!r}; there are {', '.join(groups)}")
    rows = [
        (
            entry.group,
            f"v{entry.version}",
            entry.method.name,
            entry.method.plugin or "built in",
            str(entry.method.place),
        )
        for entry in listed
        if group in (None, entry.group)
    ]
    records(("group", "version", "method", "plugin", "source"), rows, json=as_json)
