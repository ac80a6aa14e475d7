"""`rpcgw`: the commands. Each lives in a module of its own, imported when it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from rpcgw import __version__

COMMANDS = {
    "call": "rpcgw.cli.call",
    "check": "rpcgw.cli.check",
    "client": "rpcgw.cli.client",
    "mcp": "rpcgw.cli.mcp",
    "methods": "rpcgw.cli.methods",
    "openrpc": "rpcgw.cli.openrpc",
    "plugins": "rpcgw.cli.plugins",
    "process": "rpcgw.cli.process",
    "routes": "rpcgw.cli.routes",
    "schema": "rpcgw.cli.schema",
    "serve": "rpcgw.cli.serve",
    "tools": "rpcgw.cli.tools",
    "worker": "rpcgw.cli.worker",
}
"""A command's module; the command is the attribute named `command` in it."""


class LazyGroup(click.Group):
    """Commands by name, without importing what nobody asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """All names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """The command, or None."""
        home = COMMANDS.get(cmd_name)
        if home is None:
            return None
        command: click.Command = import_module(home).command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rpcgw", message="%(prog)s %(version)s")
def cli() -> None:
    """Serve typed Python procedures as JSON-RPC and MCP tools, from configuration alone."""


def main() -> None:
    """Run the command line; a pipe that was closed early is no error."""
    try:
        cli(prog_name="rpcgw")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
