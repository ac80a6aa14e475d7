"""`rpcgw schema`: JSON Schemas of the files that people write, for their editors."""

from __future__ import annotations

import click

from rpcgw.cli.show import as_json
from rpcgw.config.editing import SCHEMAS, editor_schema, schema_file


@click.command()
@click.argument("name", metavar="|".join(SCHEMAS), type=click.Choice(SCHEMAS))
@click.option("--path", "only_path", is_flag=True, help="Print where the schema is installed instead.")
def command(name: str, *, only_path: bool) -> None:
    """Print the JSON Schema of a kind of file. For editors: gateway.yaml, routes.yaml, catalogues.

    An editor with the YAML language server finds it by the file's first line:

        # yaml-language-server: $schema=<path or URL>
    """
    if only_path:
        click.echo(schema_file(name))
    else:
        as_json(editor_schema(name))
