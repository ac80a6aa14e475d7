"""How problems are printed, and which exit status they mean."""

from __future__ import annotations

from collections.abc import Iterable

import click

from rpcgw.api.problems import Problem
from rpcgw.cli.show import as_json

CLEAN, PROBLEMS, USAGE, CONFIG = 0, 1, 2, 78
"""Exit statuses: `check` ends with 0 or 1, wrong usage with 2, a daemon that cannot start with 78 (EX_CONFIG)."""

COLOURS = {"error": "red", "warning": "yellow"}


def print_problems(problems: Iterable[Problem]) -> None:
    """One problem a line on standard error, the place first."""
    for problem in problems:
        level = click.style(f"{problem.level}[{problem.code}]", fg=COLOURS[problem.level], bold=True)
        click.echo(f"{problem.place}: {level} {problem.text}", err=True)
        if problem.hint:
            click.echo(f"    {problem.hint}", err=True)


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
