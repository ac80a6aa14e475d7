"""`rpcgw webmcp`: what a site's pages need."""

from __future__ import annotations

import click

from rpcgw.adapters.pages.files import pages
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option
from rpcgw.daemon.pages import SCRIPT
from rpcgw.protocol.webmcp.snippet import snippet as made


@click.group()
def command() -> None:
    """Bring the tools of a site into its pages."""


@command.command()
@config_option
@environment_option
@click.argument("site", required=False)
def snippet(config: str, environment: str | None, site: str | None) -> None:
    """Print what belongs into the pages of SITE and into the headers of its server.

    SITE may be left out where there is one site only.
    """
    served = {each.site.name: each.site for each in compiled(config, environment).sites}
    name = site or (next(iter(served)) if len(served) == 1 else "")
    if name not in served:
        asked = f"there is no site {name!r}" if name else "which site?"
        raise UnknownNameError(f"{asked}; routes with the resource webmcp serve: {', '.join(served) or 'none'}")
    script = pages().assets[SCRIPT]
    found = made(served[name], script.name, script.body)
    click.echo("<!-- Into the head of every page. The script does nothing where a browser knows no tools. -->")
    click.echo(found.tag)
    click.echo("\n<!-- Where your server includes files, before it, and without data-config: one request less. -->")
    click.echo(found.block)
    click.echo("\n# Headers of these pages: add the sources to the policy that you have.")
    for header, value in found.headers:
        click.echo(f"{header}: {value}")
