"""What commands print: aligned tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import msgspec


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings, columns as wide as what stands in them; the last one is never padded."""
    cells = [[str(cell) for cell in row] for row in rows]
    if not cells:
        click.echo("none")
        return
    lines = [[heading.upper() for heading in headings], *cells]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)]
        click.echo("  ".join([*padded, line[-1]]).rstrip())


def as_json(value: object) -> None:
    """Print a value as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def records(headings: Sequence[str], rows: Iterable[Sequence[object]], *, json: bool) -> None:
    """Print rows as a table, or as a JSON array of objects with the headings as names."""
    if json:
        found: list[Mapping[str, Any]] = [dict(zip(headings, row, strict=True)) for row in rows]
        as_json(found)
    else:
        table(headings, rows)
