"""`rpcgw call`: one call by the name of its method."""

from __future__ import annotations

import click

from rpcgw.api.marks import DEFAULT_GROUP
from rpcgw.cli import calling, remote
from rpcgw.cli.compiled import compiled
from rpcgw.cli.options import environment_option, found, lenient_config_option, token_of, token_option, url_option
from rpcgw.cli.progress import working


@click.command()
@lenient_config_option
@environment_option
@url_option
@token_option
@click.option("--group", default=DEFAULT_GROUP, show_default=True, help="The API group.")
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@click.option("--params", metavar="JSON", help="The parameters as a JSON object or array, instead of words.")
@click.argument("method")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
def command(
    config: str | None,
    environment: str | None,
    url: str | None,
    timeout: float,
    token_env: str | None,
    group: str,
    version: str,
    params: str | None,
    method: str,
    words: tuple[str, ...],
) -> None:
    """Call METHOD as /rpc would. Its result is printed as JSON; an error ends with status 1.

    With --url the daemon at that address is asked (http://127.0.0.1:8080/rpc), else the gateway runs in this process.
    """
    if url is not None:
        daemon = remote.Remote(remote.at_version(url, version), token_of(token_env), timeout)
        with working(f"calling {method}"):
            message = remote.call_method(daemon, method, words, calling.params_given(words, params))
        calling.show_message(message)
        return
    gateway = compiled(found(config), environment)
    known = calling.method_named(gateway, group, version, method)
    calling.show(calling.run(gateway, known, group, version, calling.params_of(known, words, params)))
