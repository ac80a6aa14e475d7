"""Calls from the command line: through the executor that every surface uses, without HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from rpcgw.api.context import Client, LogLevel, Principal
from rpcgw.api.errors import ConfigError
from rpcgw.cli.arguments import NotAnArgumentError, arguments
from rpcgw.cli.options import UnknownNameError
from rpcgw.cli.problems import PROBLEMS, print_problems
from rpcgw.cli.progress import Progress, working
from rpcgw.cli.show import as_json
from rpcgw.daemon.commands import command_telemetry
from rpcgw.daemon.runtime import open_runtime
from rpcgw.gateway.listing import version_number
from rpcgw.gateway.model import Gateway
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.method import Method
from rpcgw.kernel.ports import Observer


def method_named(gateway: Gateway, group: str, version: str, name: str) -> Method:
    """A method of a group and version.

    Raises:
        UnknownNameError: There is none; the text lists what there is.
    """
    number = version_number(version)
    methods = gateway.table.methods(group, number) if number is not None else None
    if methods is None:
        groups = ", ".join(f"{g} (v{', v'.join(map(str, gateway.table.versions(g)))})" for g in gateway.table.groups)
        raise UnknownNameError(f"the group {group!r} has no version {version}; there are: {groups}")
    if name not in methods:
        raise UnknownNameError(f"the group {group!r} has no method {name!r} in {version}; it has: {', '.join(methods)}")
    return methods[name]


def params_of(method: Method, words: tuple[str, ...], text: str | None) -> dict[str, Any] | list[Any]:
    """The parameters of a command line: `key=value` words, or one JSON text."""
    given = params_given(words, text)
    if given is not None:
        return given
    try:
        return arguments(words, json.loads(method.input_schema))
    except NotAnArgumentError as error:
        raise click.UsageError(str(error)) from None


def params_given(words: tuple[str, ...], text: str | None) -> dict[str, Any] | list[Any] | None:
    """What `--params` says; None where it is not given."""
    if text is None:
        return None
    if words:
        raise click.UsageError("give key=value words or --params, not both")
    return _json(text)


def _json(text: str) -> dict[str, Any] | list[Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"--params is no JSON: {error}") from None
    if not isinstance(value, dict | list):
        raise click.UsageError("--params must be a JSON object or array")
    return value


def run(gateway: Gateway, method: Method, group: str, version: str, params: dict[str, Any] | list[Any]) -> Outcome:
    """Run one call; what follows the answer (`rpc.post_response`) has run as well when it returns."""
    try:
        with command_telemetry(gateway) as observer, working(f"calling {method.name}") as progress:
            call = partial(_call, gateway, method, group, version, params, Terminal(progress))
            return asyncio.run(_once(gateway, observer, call))
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(PROBLEMS) from None


async def _once(gateway: Gateway, observer: Observer, call: Callable[[str], Call]) -> Outcome:
    async with open_runtime(gateway, observer) as runtime:
        outcome = await runtime.executor.execute(call(runtime.ids.token()))
        if isinstance(outcome, Done) and outcome.after is not None:
            await outcome.after()
        return outcome


class Terminal:
    """`rpcgw.api.context.Client`: a person who looks at a terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    async def progress(self, progress: float, total: float | None, message: str | None, /) -> None:
        """Show how far the call is."""
        self._progress.tell(progress, total, message)

    async def log(self, level: LogLevel, data: object, logger: str | None, /) -> None:  # noqa: ARG002 -- the port's
        """Print a message on standard error."""
        click.echo(f"{level}: {data}", err=True)

    def has(self, capability: str, /) -> bool:  # noqa: ARG002 -- as above
        """A command line can do nothing for a procedure."""
        return False


def _call(
    gateway: Gateway,
    method: Method,
    group: str,
    version: str,
    params: dict[str, Any] | list[Any],
    client: Client,
    call_id: str,
) -> Call:
    return Call(
        method=method.name,
        group=group,
        version=version_number(version) or 1,
        params=params,
        id=call_id,
        ray_id=call_id,
        surface="cli",
        principal=Principal(scopes=method.scopes),  # who may read the files may do all that they allow
        locale=gateway.settings.translations.default_locale,
        client=client,
    )


def show(outcome: Outcome) -> None:
    """Print a result as JSON; an error goes to standard output too, and the command ends with 1."""
    if isinstance(outcome, Done):
        as_json(json.loads(outcome.encoded))
        return
    _fail(outcome.body())


def show_message(message: dict[str, Any]) -> None:
    """The same for what a daemon answered, as `/rpc` has it."""
    if "result" in message:
        as_json(message["result"])
    else:
        _fail(message.get("error", message))


def show_tool(message: dict[str, Any]) -> None:
    """The same for what a daemon answered, as `/mcp` has it: the procedure's result, or the blocks of its own."""
    result = message.get("result")
    if result is None:
        _fail(message.get("error", message))
    elif result.get("isError"):
        _fail(_told(result["content"]))
    else:
        structured = result.get("structuredContent")
        as_json(structured["result"] if isinstance(structured, dict) and "result" in structured else result["content"])


def _told(blocks: list[dict[str, Any]]) -> object:
    """What a tool's error says, as JSON where it is some."""
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fail(error: object) -> None:
    as_json({"error": error})
    raise click.exceptions.Exit(PROBLEMS)
