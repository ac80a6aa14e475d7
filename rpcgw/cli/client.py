"""`rpcgw client`: what a client's own file needs to reach a server, as `manifest/<client>` answers it."""

from __future__ import annotations

import click

from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import UnknownNameError, config_option, environment_option
from rpcgw.cli.show import table
from rpcgw.cli.tools import DEFAULT_GROUP, group_option, version_option
from rpcgw.gateway.listing import version_number
from rpcgw.gateway.model import Gateway, McpRoute
from rpcgw.protocol.mcp import clients
from rpcgw.protocol.mcp.documents import Document

FORMATS = ("json", "toml", "yaml")


@click.command()
@config_option
@environment_option
@group_option
@version_option
@click.option("--format", "notation", type=click.Choice(FORMATS), help="The client's own where it is not given.")
@click.argument("name", required=False)
def command(
    config: str, environment: str | None, group: str | None, version: str, notation: str | None, name: str | None
) -> None:
    """Print the configuration for the client NAME. Without one, list the clients that there are."""
    if name is None:
        rows = [(c.name, c.title, c.format, ", ".join(c.aliases), c.files[0]) for c in clients.CLIENTS]
        table(("name", "client", "format", "aliases", "file"), rows)
        return
    file = _file(name, notation)
    documents = _documents(compiled(config, environment), group, version)
    click.echo(documents[file].body.decode(), nl=False)


def _file(name: str, notation: str | None) -> str:
    client = clients.find(name)
    if client is None:
        known = ", ".join(client.name for client in clients.CLIENTS)
        raise UnknownNameError(f"there is no client {name!r}; there are {known}")
    wanted = notation or client.format
    if wanted not in clients.notations(client):
        kinds = " and ".join(clients.notations(client))
        raise UnknownNameError(f"the configuration of {client.name} comes as {kinds}, not as {wanted}")
    return f"{client.name}.{wanted}"


def _documents(gateway: Gateway, group: str | None, version: str) -> dict[str, Document]:
    route = _route(gateway, group)
    edition = route.publication.editions.get(version_number(version) or 0)
    if edition is None:
        raise UnknownNameError(f"no MCP route serves the group {route.endpoint.group!r} in {version}")
    if edition.clients is None:
        raise click.ClickException("where clients reach this daemon is not known: set server.public_url")
    return dict(edition.clients)


def _route(gateway: Gateway, group: str | None) -> McpRoute:
    routes = {route.endpoint.group: route for route in reversed(gateway.mcp)}
    if group is None and routes:
        return routes.get(DEFAULT_GROUP, gateway.mcp[0])
    if group not in routes:
        raise UnknownNameError(f"no MCP route serves the group {group!r}" if group else "no MCP route is configured")
    return routes[group]
