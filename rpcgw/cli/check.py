"""`rpcgw check`: everything that a start would find, and what deserves a second look."""

from __future__ import annotations

import click

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Problem, errors
from rpcgw.cli.options import config_option, environment_option, json_option, options_of
from rpcgw.cli.problems import CLEAN, PROBLEMS, print_problems, print_problems_as_json
from rpcgw.daemon.wiring import compile_gateway
from rpcgw.gateway.checks import check_problems


@click.command()
@config_option
@environment_option
@json_option
@click.option("--strict", is_flag=True, help="Warnings are problems too.")
def command(config: str, environment: str | None, *, as_json: bool, strict: bool) -> None:
    """Check configuration, routes, plugins and texts; exit 0 where all is well, 1 where not."""
    problems = _found(config, environment)
    if as_json:
        print_problems_as_json(problems)
    else:
        print_problems(problems)
        _summary(config, problems)
    bad = problems if strict else errors(problems)
    raise click.exceptions.Exit(PROBLEMS if bad else CLEAN)


def _found(config: str, environment: str | None) -> list[Problem]:
    try:
        return check_problems(compile_gateway(options_of(config, environment)))
    except ConfigError as error:
        return list(error.problems)


def _summary(config: str, problems: list[Problem]) -> None:
    bad = len(errors(problems))
    if not problems:
        click.echo(f"{config}: no problems")
    else:
        click.echo(f"{config}: {bad} problem(s), {len(problems) - bad} warning(s)", err=True)
