"""Folders that commands make: templates of this package, filled in. What stands already is never touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from rpcgw.api.records import record

_SUFFIX = ".template"


@record(frozen=True, slots=True)
class Written:
    """One file of a template: where it stands, and whether it was made now or stood there already."""

    path: Path
    made: bool


def write(template: str, folder: Path, names: Mapping[str, str] | None = None) -> list[Written]:
    """Write a template's files below a folder, in order of their paths.

    Args:
        template: A folder of `rpcgw/cli/templates`.
        folder: Where to; made where it is not there.
        names: What `@key@` becomes, in paths and texts.

    Raises:
        click.ClickException: A file or folder cannot be made.
    """
    written = []
    for path, text in sorted(_files(files("rpcgw.cli").joinpath("templates", template), "")):
        target = folder / _filled(path, names or {})
        try:
            written.append(Written(target, _make(target, _filled(text, names or {}))))
        except OSError as error:
            raise click.ClickException(f"{target} cannot be written: {error.strerror}") from None
    return written


def report(written: list[Written]) -> None:
    """Say what was made, and what stood there already and stayed as it is."""
    for file in written:
        click.echo(f"made  {file.path}" if file.made else f"kept  {file.path}, which stood there already")


def _files(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield f"{below}{entry.name.removesuffix(_SUFFIX)}", entry.read_text("utf-8")


def _filled(text: str, names: Mapping[str, str]) -> str:
    for key, value in names.items():
        text = text.replace(f"@{key}@", value)
    return text


def _make(target: Path, text: str) -> bool:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
