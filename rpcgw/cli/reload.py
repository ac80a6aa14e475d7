"""`rpcgw reload`: SIGHUP for the daemon that runs."""

from __future__ import annotations

import os
import signal

import click

from rpcgw.cli.options import config_option, environment_option
from rpcgw.cli.settings import settings_of
from rpcgw.daemon.pidfile import NotRunning, running


@click.command()
@config_option
@environment_option
def command(config: str, environment: str | None) -> None:
    """Tell the daemon of this configuration to reload.

    It checks the new configuration first, and serves on with the old one where that is at fault: its log says
    reload.done or reload.refused. `rpcgw serve --dev` needs no telling.
    """
    state_dir = settings_of(config, environment).state_dir
    try:
        pid = running(state_dir)
    except NotRunning as error:
        raise click.ClickException(f"no daemon runs here: {error} (`rpcgw serve --dev` reloads by itself)") from None
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        raise click.ClickException("the daemon has just ended") from None
    except PermissionError:
        raise click.ClickException(f"process {pid} belongs to another user: reload as that one") from None
    click.echo(f"told process {pid} to reload")
