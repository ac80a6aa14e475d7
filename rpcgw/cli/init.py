"""`rpcgw init`: a folder that can be served."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from rpcgw.cli import scaffold
from rpcgw.config.editing import SCHEMAS, modeline, schema_file

_NEXT = """
Next:
{enter}    rpcgw check     see that all is well
    rpcgw serve     serve it on http://127.0.0.1:8080
    rpcgw tools call Hello.greet name=Ada
    claude mcp add --transport http hello http://127.0.0.1:8080/mcp     (other agents: rpcgw client)
"""


@click.command()
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False))
def command(directory: str) -> None:
    """Write gateway.yaml, routes.yaml and a first plugin. DIR is here, where it is not given.

    What stands there already stays as it is.
    """
    folder = Path(directory)
    modelines = {name: modeline(str(schema_file(name))) for name in SCHEMAS}
    scaffold.report(scaffold.write("init", folder, modelines))
    here = os.path.realpath(folder) == os.path.realpath(".")
    click.echo(
        _NEXT.format(enter="" if here else f"    cd {shlex.quote(click.format_filename(directory))}\n"), nl=False
    )
