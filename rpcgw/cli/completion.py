"""`rpcgw completion`: what makes a shell complete the commands and their options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")

_VARIABLE = "_RPCGW_COMPLETE"
"""What click's own scripts set; its name follows from the program's."""

_HELP = """Print the completion script for SHELL.

\b
bash:  eval "$(rpcgw completion bash)"    in ~/.bashrc
zsh:   eval "$(rpcgw completion zsh)"     in ~/.zshrc
fish:  rpcgw completion fish | source     in ~/.config/fish/config.fish
"""


@click.command(help=_HELP)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script."""
    known = get_completion_class(shell)
    assert known is not None, "click completes in all of SHELLS"
    root = click.get_current_context().find_root().command
    click.echo(known(root, {}, "rpcgw", _VARIABLE).source())
