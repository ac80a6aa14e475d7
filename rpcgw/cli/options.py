"""Options that commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rpcgw.daemon.options import Options

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_FILES = ("gateway.yaml", "gateway.yml")


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


def _found(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
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
