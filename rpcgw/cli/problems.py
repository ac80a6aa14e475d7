"""How problems are printed, and which exit status they mean."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from rpcgw.api.problems import Problem
from rpcgw.cli.show import as_json
from rpcgw.config.reporting import report, workflow_commands

CLEAN, PROBLEMS, USAGE, CONFIG = 0, 1, 2, 78
"""Exit statuses: `check` ends with 0 or 1, wrong usage with 2, a daemon that cannot start with 78 (EX_CONFIG)."""


def print_problems(problems: Iterable[Problem]) -> None:
    """Problems on standard error, each with its place, its line and what to do; in colour on a terminal."""
    for line in report(problems, colour="NO_COLOR" not in os.environ):
        click.echo(line, err=True)  # takes colours out where nobody would see them


def print_workflow_commands(problems: Iterable[Problem]) -> None:
    """Problems on standard output as GitHub's workflows read them, where this is one."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in workflow_commands(problems):
            click.echo(line)


def print_problems_as_json(problems: Iterable[Problem]) -> None:
    """All problems as one JSON array on standard output."""
    as_json(
        [
            {
                "file": problem.place.file,
                "line": problem.place.line,
                "column": problem.place.column,
                "level": problem.level,
                "code": problem.code,
                "text": problem.text,
                "hint": problem.hint,
            }
            for problem in problems
        ]
    )
