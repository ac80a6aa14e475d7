"""`rpcgw token`: tokens for `groups.<group>.tokens`, of which the configuration only ever knows the SHA-256."""

from __future__ import annotations

import hashlib
import re
import secrets
import sys

import click

_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _named(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter(f"{value!r}: letters, digits, dots, hyphens")
    return value


name_option = click.option(
    "--name", default="client", show_default=True, callback=_named, help="Whom it stands for, in logs."
)


@click.group()
def command() -> None:
    """Make tokens, or the lines of gateway.yaml that accept them."""


@command.command()
@name_option
def new(name: str) -> None:
    """Make a token: the first line is for the client and is shown this once, the second for gateway.yaml."""
    token = secrets.token_urlsafe(_BYTES)
    click.echo(token)
    click.echo(_line(name, token))
    if sys.stdout.isatty():
        click.echo("\nGive the first line to the client; put the second below groups.<group>.tokens.", err=True)


@command.command("hash")
@name_option
def hash_(name: str) -> None:
    """Print the line of gateway.yaml for a token that there is, read from standard input or asked for."""
    token = (
        click.prompt("Token", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    )
    if not token:
        raise click.UsageError("there is no token on standard input")
    click.echo(_line(name, token))


def _line(name: str, token: str) -> str:
    digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
    return f'- {{ name: "{name}", sha256: "{digest}" }}'
