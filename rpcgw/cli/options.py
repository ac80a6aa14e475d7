"""Options that commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from rpcgw.cli.plain import DEFAULT_FILES
from rpcgw.daemon.options import Options

_Command = TypeVar("_Command", bound=Callable[..., Any])


class UnknownNameError(click.UsageError):
    """Something was named that does not exist."""


def config_option(command: _Command) -> _Command:
    """`-c FILE`: the configuration; gateway.yaml beside where one stands is found without."""
    return click.option(
        "-c",
        "--config",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        callback=_found,
        help="The configuration; gateway.yaml in this directory where it is not given.",
    )(command)


def url_option(command: _Command) -> _Command:
    """`--url URL`: a daemon that runs instead of a gateway in this process; then no configuration is needed."""
    command = click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        help="With --url: how long the daemon may be silent.",
    )(command)
    return click.option("--url", metavar="URL", callback=_checked, help="Call a daemon that runs: its endpoint.")(
        command
    )


def lenient_config_option(command: _Command) -> _Command:
    """`-c FILE` for commands that may do without one: what is given, else None; `found` looks for it."""
    return click.option(
        "-c",
        "--config",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="The configuration; gateway.yaml in this directory where it is not given.",
    )(command)


def environment_option(command: _Command) -> _Command:
    """`--env NAME`: beats the file's `environment`."""
    return click.option("--env", "environment", metavar="NAME", envvar="RPCGW_ENV", help="prod, dev, test, ...")(
        command
    )


def json_option(command: _Command) -> _Command:
    """`--json`: for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def token_option(command: _Command) -> _Command:
    """`--token-env NAME`: a token never stands on a command line, where every process of the machine can read it."""
    return click.option("--token-env", metavar="NAME", help="The environment variable that holds the token.")(command)


def token_of(variable: str | None) -> str | None:
    """The token in an environment variable; None where none is named."""
    if variable is None:
        return None
    if variable not in os.environ:
        raise click.BadParameter(f"there is no environment variable {variable}", param_hint="--token-env")
    return os.environ[variable]


def _checked(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise click.BadParameter("write it as http://host:port/path, without a user")
    return value


def _found(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    return found(value)


def found(value: str | None) -> str:
    """The configuration that is given, or stands here.

    Raises:
        click.UsageError: There is none.
    """
    if value is not None:
        if not Path(value).is_file():
            raise click.UsageError(f"there is no file {value}")
        return value
    for name in DEFAULT_FILES:
        if Path(name).is_file():
            return name
    raise click.UsageError("there is no gateway.yaml here; name one with -c FILE")


def options_of(config: str, environment: str | None = None) -> Options:
    """The daemon's options as a command without addresses gives them."""
    return Options(config=config, environment=environment)
