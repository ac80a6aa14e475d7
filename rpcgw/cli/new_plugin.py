"""`rpcgw new-plugin`: a package with procedures, tests, texts and CI."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from rpcgw.cli import scaffold
from rpcgw.cli.plain import DEFAULT_FILES
from rpcgw.config.editing import modeline, schema_file

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_PREFIX = "rpcgw-"

_NEXT = """
Next:
    cd {folder}
    python -m venv .venv && . .venv/bin/activate
    python -m pip install --upgrade pip  # --group needs 25.1 or later
    python -m pip install --group dev --editable .
    pytest
{served}"""
_SERVED = "\nThe gateway here serves it from now on: rpcgw check, then rpcgw serve or rpcgw reload.\n"


@click.command()
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where to make its folder; plugins/ beside a gateway.yaml, else here.",
)
@click.argument("name")
def command(into: str | None, name: str) -> None:
    """Make a package NAME that brings procedures. It has tests, texts in two languages and CI.

    What stands there already stays as it is.
    """
    plain = name.lower().replace("_", "-").removeprefix(_PREFIX)
    if not _NAME.fullmatch(plain) or keyword.iskeyword(plain):
        raise click.BadParameter(f"{name!r} is no name for a plugin: letters, digits and hyphens", param_hint="NAME")
    beside_gateway = any(Path(file).is_file() for file in DEFAULT_FILES)
    place = Path(into) if into is not None else Path("plugins") if beside_gateway else Path()
    folder = place / plain
    scaffold.report(scaffold.write("plugin", folder, _names(plain)))
    click.echo(_NEXT.format(folder=folder, served=_SERVED if into is None and beside_gateway else ""), nl=False)


def _names(plain: str) -> dict[str, str]:
    snake = plain.replace("-", "_")
    return {
        "name": snake,
        "distribution": f"{_PREFIX}{plain}",
        "package": f"rpcgw_{snake}",
        "Class": "".join(part.capitalize() for part in plain.split("-")),
        "translations": modeline(str(schema_file("translations"))),
    }
