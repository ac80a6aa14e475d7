"""All commands of `rpcgw`. Each lives in a module of its own, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from rpcgw import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

COMMANDS = {
    "bench": "rpcgw.cli.bench",
    "cache": "rpcgw.cli.cache",
    "call": "rpcgw.cli.call",
    "check": "rpcgw.cli.check",
    "client": "rpcgw.cli.client",
    "completion": "rpcgw.cli.completion",
    "init": "rpcgw.cli.init",
    "mcp": "rpcgw.cli.mcp",
    "methods": "rpcgw.cli.methods",
    "new-plugin": "rpcgw.cli.new_plugin",
    "openrpc": "rpcgw.cli.openrpc",
    "plugins": "rpcgw.cli.plugins",
    "process": "rpcgw.cli.process",
    "reload": "rpcgw.cli.reload",
    "routes": "rpcgw.cli.routes",
    "schema": "rpcgw.cli.schema",
    "serve": "rpcgw.cli.serve",
    "sessions": "rpcgw.cli.sessions",
    "switch": "rpcgw.cli.switch",
    "token": "rpcgw.cli.token",
    "tools": "rpcgw.cli.tools",
    "webmcp": "rpcgw.cli.webmcp",
    "worker": "rpcgw.cli.worker",
}
"""A command's module; the command is the attribute named `command` in it."""


COMMAND_GROUP = "rpcgw.commands"
"""The entry-point group in which installed packages name click commands of their own."""


class LazyGroup(click.Group):
    """Commands by name, without importing what nobody asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """All names, sorted."""
        return sorted({*COMMANDS, *(point.name for point in _brought())})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """The command, or None."""
        home = COMMANDS.get(cmd_name)
        if home is None:
            point = next((point for point in _brought() if point.name == cmd_name), None)
            return None if point is None else _of_plugin(point)
        command: click.Command = import_module(home).command
        return command


def _brought() -> EntryPoints:
    """What installed packages bring as commands; one of a name that rpcgw has itself is never asked for."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- commands of rpcgw itself pay nothing for it

    return entry_points(group=COMMAND_GROUP)


def _of_plugin(point: EntryPoint) -> click.Command:
    """A plugin's command. One that cannot be loaded says so when it is run: the others must go on."""
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the plugin's own code
        return _broken(point, f"{type(error).__name__}: {error}")
    return found if isinstance(found, click.Command) else _broken(point, f"{point.value} is no click command")


def _broken(point: EntryPoint, reason: str) -> click.Command:
    def tell() -> None:
        raise click.ClickException(f"{point.name} ({point.value}) cannot be used: {reason}")

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(point.name, callback=tell, help=f"Cannot be used: {reason}", context_settings=settings)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rpcgw", message="%(prog)s %(version)s")
def cli() -> None:
    """Serve typed Python procedures as JSON-RPC and MCP tools, from configuration alone."""
