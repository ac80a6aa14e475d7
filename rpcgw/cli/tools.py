"""`rpcgw tools`: what an agent sees, and a call as an agent makes it."""

from __future__ import annotations

import click

from rpcgw.cli import calling, remote
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import (
    UnknownNameError,
    config_option,
    environment_option,
    found,
    json_option,
    lenient_config_option,
    token_of,
    token_option,
    url_option,
)
from rpcgw.cli.progress import working
from rpcgw.cli.show import as_json as print_json
from rpcgw.cli.show import table
from rpcgw.gateway.listing import list_tools, tool_named
from rpcgw.gateway.model import Gateway

DEFAULT_GROUP = "mcp"

group_option = click.option("--group", help="The API group; the first that an MCP route serves where not given.")
version_option = click.option("--ver", "version", default="v1", show_default=True, help="The API version.")


@click.group()
def command() -> None:
    """List tools, or call one."""


@command.command("list")
@config_option
@environment_option
@json_option
@group_option
@version_option
@click.option("--locale", help="The language of the texts, as Accept-Language.")
def list_(
    config: str, environment: str | None, group: str | None, version: str, locale: str | None, *, as_json: bool
) -> None:
    """List the tools of a group as tools/list shows them."""
    gateway = compiled(config, environment)
    tools = list_tools(gateway, _group(gateway, group), version, locale)
    if tools is None:
        raise UnknownNameError(f"no MCP route serves the group {_group(gateway, group)!r} in {version}")
    if as_json:
        print_json(tools)
    else:
        table(("name", "title", "description"), [(t["name"], t["title"], _first_line(t["description"])) for t in tools])


@command.command("call")
@lenient_config_option
@environment_option
@url_option
@token_option
@group_option
@version_option
@click.option("--params", metavar="JSON", help="The arguments as a JSON object, instead of words.")
@click.argument("name")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
def call(
    config: str | None,
    environment: str | None,
    url: str | None,
    timeout: float,
    token_env: str | None,
    group: str | None,
    version: str,
    params: str | None,
    name: str,
    words: tuple[str, ...],
) -> None:
    """Call the tool NAME, and print its result as JSON; an error ends with status 1.

    With --url the daemon at that address is asked over MCP (http://127.0.0.1:8080/mcp), else the gateway runs in this
    process.
    """
    if url is not None:
        daemon = remote.Remote(remote.at_version(url, version), token_of(token_env), timeout)
        with working(f"calling {name}") as progress:
            message = remote.call_tool(daemon, name, words, calling.params_given(words, params), progress)
        calling.show_tool(message)
        return
    gateway = compiled(found(config), environment)
    own_group = _group(gateway, group)
    method = tool_named(gateway, own_group, version, name) or calling.method_named(gateway, own_group, version, name)
    calling.show(calling.run(gateway, method, own_group, version, calling.params_of(method, words, params)))


def _group(gateway: Gateway, group: str | None) -> str:
    served = [route.endpoint.group for route in gateway.mcp]
    if group is None and not served:
        raise UnknownNameError("no MCP route is configured")
    return group or (DEFAULT_GROUP if DEFAULT_GROUP in served else served[0])


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 80 else f"{line[:79]}…"
