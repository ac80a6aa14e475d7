"""`rpcgw check`: everything that a start would find, and what deserves a second look."""

from __future__ import annotations

import os
from collections import Counter

import click

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Problem, errors
from rpcgw.cli.configuration import as_records, as_yaml
from rpcgw.cli.options import config_option, environment_option, json_option, options_of
from rpcgw.cli.problems import (
    CLEAN,
    PROBLEMS,
    print_problems,
    print_problems_as_json,
    print_workflow_commands,
)
from rpcgw.cli.show import as_json as as_json_text
from rpcgw.config.assembling import Chosen
from rpcgw.config.effective import effective
from rpcgw.config.gathering import read_sources
from rpcgw.daemon.certificates import load_tls
from rpcgw.daemon.compiling import compile_gateway
from rpcgw.gateway.checks import check_problems


@click.command()
@config_option
@environment_option
@json_option
@click.option("--strict", is_flag=True, help="Warnings are problems too; notes never are.")
@click.option("--print-config", is_flag=True, help="Print every setting that is in effect instead, secrets masked.")
@click.option("--origins", is_flag=True, help="With --print-config: say where each value came from.")
def command(
    config: str, environment: str | None, *, as_json: bool, strict: bool, print_config: bool, origins: bool
) -> None:
    """Check configuration, routes, plugins and texts. Also what clients would make of the tools.

    The exit status is 0 where all is well, 1 where not. In a workflow of GitHub problems are annotations too.
    """
    if origins and not print_config:
        raise click.UsageError("--origins goes with --print-config")
    if print_config:
        wrong = _print_config(config, environment, origins=origins, json=as_json)
        print_problems(wrong)
        raise click.exceptions.Exit(PROBLEMS if errors(wrong) else CLEAN)
    problems = _found(config, environment)
    if as_json:
        print_problems_as_json(problems)
    else:
        print_problems(problems)
        print_workflow_commands(problems)
        _summary(config, problems)
    bad = [problem for problem in problems if problem.level == "error" or (strict and problem.level == "warning")]
    raise click.exceptions.Exit(PROBLEMS if bad else CLEAN)


def _found(config: str, environment: str | None) -> list[Problem]:
    try:
        gateway = compile_gateway(options_of(config, environment))
    except ConfigError as error:
        return list(error.problems)
    return [*check_problems(gateway), *load_tls(gateway.settings)[1]]


def _summary(config: str, problems: list[Problem]) -> None:
    levels = Counter(problem.level for problem in problems)
    notes = f", {levels['note']} note(s)" if levels["note"] else ""
    if levels["error"] or levels["warning"]:
        click.echo(f"{config}: {levels['error']} problem(s), {levels['warning']} warning(s){notes}", err=True)
    else:
        click.echo(f"{config}: no problems{notes}")


def _print_config(config: str, environment: str | None, *, origins: bool, json: bool) -> list[Problem]:
    """Print what is in effect; what is wrong in the files comes back."""
    chosen = Chosen(environment)
    settings, problems = effective(read_sources(config, env=os.environ, chosen=chosen), os.environ, chosen, {})
    if json:
        as_json_text(as_records(settings))
    else:
        for line in as_yaml(settings, origins=origins):
            click.echo(line)
    return problems
