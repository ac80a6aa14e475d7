"""`rpcgw switch`: methods that are turned off while the daemon runs, by plugins or by whoever runs it."""

from __future__ import annotations

import asyncio
from contextlib import closing

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, json_option
from rpcgw.cli.settings import settings_of
from rpcgw.cli.show import records
from rpcgw.daemon.commands import command_telemetry
from rpcgw.daemon.revocations import open_shared
from rpcgw.daemon.switched import SWITCHES, SwitchFile, Switching

group_option = click.option("--group", help="In this group only; in all that have it where not given.")


@click.group()
def command() -> None:
    """Turn methods off and on, or list those that are off."""


@command.command("list")
@config_option
@environment_option
@json_option
def list_(config: str, environment: str | None, *, as_json: bool) -> None:
    """List the methods that are off on this host."""
    off = SwitchFile(settings_of(config, environment).state_dir).read()
    rows = [(group, method) for group, methods in sorted(off.items()) for method in sorted(methods)]
    records(("group", "method"), rows, json=as_json)


@command.command()
@config_option
@environment_option
@group_option
@click.argument("method")
def off(config: str, environment: str | None, group: str | None, method: str) -> None:
    """Turn METHOD off on this host (Catalog.search, or Catalog.* for a procedure).

    It is gone from lists and documents at once, and from calls within a second. It stays off until it is turned on.
    """
    _turn(config, environment, group, method, on=False)
    click.echo(f"{method} is off")


@command.command()
@config_option
@environment_option
@group_option
@click.argument("method")
def on(config: str, environment: str | None, group: str | None, method: str) -> None:
    """Turn METHOD on again."""
    _turn(config, environment, group, method, on=True)
    click.echo(f"{method} is on")


def _turn(config: str, environment: str | None, group: str | None, method: str, *, on: bool) -> None:
    gateway = compiled(config, environment)
    state_dir = gateway.settings.state_dir
    with command_telemetry(gateway) as observer, closing(open_shared(gateway.settings, SWITCHES)) as state:
        switches = Switching(SwitchFile(state_dir), state).opened(gateway, observer)
        turn = switches.enable if on else switches.disable
        try:
            asyncio.run(turn(method, group=group))
        except LookupError as error:
            raise UnknownNameError(f"{error.args[0]}; rpcgw methods shows them") from None
        except OSError as error:
            text = f"{state_dir} cannot be written to: {error.strerror}; do it as the user whom the daemon runs as"
            raise click.ClickException(text) from None
