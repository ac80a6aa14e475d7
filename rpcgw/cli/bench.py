"""`rpcgw bench`: how many calls of one method a daemon answers, how fast, and what each costs it."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import click
import uvloop

from rpcgw.api.records import record
from rpcgw.cli import calling, remote
from rpcgw.cli.compiled import compiled
from rpcgw.cli.load import judging
from rpcgw.cli.load.client import Judge, Load, Place, Result, load, percentile
from rpcgw.cli.load.processes import cpu_seconds, listeners, tree
from rpcgw.cli.load.spawning import spawned
from rpcgw.cli.load.wire import Asked
from rpcgw.cli.options import (
    UnknownNameError,
    environment_option,
    found,
    json_option,
    lenient_config_option,
    token_of,
    token_option,
    url_option,
)
from rpcgw.cli.problems import PROBLEMS
from rpcgw.cli.progress import working
from rpcgw.cli.show import records
from rpcgw.gateway.listing import tool_named, version_number
from rpcgw.gateway.model import Gateway

MCP: Final = "mcp"
RPC: Final = "rpc"
WARM: Final = 0.5
"""Seconds that are not measured: what is compiled at its first use is compiled then."""
BUSY: Final = 0.9
"""From which part of the time on the client is what limits."""

HEADINGS: Final = ("over", "connections", "calls", "rps", "p50_ms", "p99_ms", "longest_ms", "cpu_us", "wrong")


@record(frozen=True, slots=True)
class Daemon:
    """Where to call, by protocol, and the daemon's processes, where they are of this machine."""

    endpoints: dict[str, str]
    pids: tuple[int, ...]


@record(frozen=True, slots=True)
class Measured:
    """What came of one protocol; `cpu` are processor seconds of the daemon, None where it cannot be seen."""

    over: str
    connections: int
    result: Result
    cpu: float | None
    busy: float

    @property
    def row(self) -> Sequence[object]:
        """The values under HEADINGS; None where the daemon's processor time cannot be seen."""
        result = self.result
        p50, p99, longest = (round(percentile(result.latencies, share) * 1e3, 2) for share in (0.5, 0.99, 1))
        cost = None if self.cpu is None or not result.answers else round(self.cpu / result.answers * 1e6, 1)
        return self.over, self.connections, result.answers, round(result.rps), p50, p99, longest, cost, result.wrong


@click.command()
@lenient_config_option
@environment_option
@url_option
@token_option
@click.option(
    "--over",
    multiple=True,
    type=click.Choice((MCP, RPC)),
    help="The protocol, may be repeated: with --url what the endpoint speaks, mcp where it is not given; else all.",
)
@click.option("--ver", "version", default="v1", show_default=True, help="The API version.")
@click.option("--connections", type=click.IntRange(1, 1024), default=16, show_default=True, help="How many at once.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 300),
    default=5.0,
    show_default=True,
    help="How long each protocol is loaded.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Without --url: how many processes serve.")
@click.option("--same", is_flag=True, help="Each answer must be the first one's bytes again, not only a success.")
@click.option("--params", metavar="JSON", help="The arguments as a JSON object, instead of words.")
@json_option
@click.argument("name")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
def command(
    config: str | None,
    environment: str | None,
    url: str | None,
    timeout: float,
    token_env: str | None,
    over: tuple[str, ...],
    version: str,
    connections: int,
    seconds: float,
    workers: int | None,
    params: str | None,
    name: str,
    words: tuple[str, ...],
    *,
    same: bool,
    as_json: bool,
) -> None:
    """Measure how fast a daemon answers calls of NAME.

    It is called again and again for some seconds, over each protocol that serves it.

    Every answer must be a success; a wrong one is shown, and ends with status 1. With --url a daemon that runs is
    measured (http://127.0.0.1:8080/mcp), else one is started with the configuration, and ended. The calls really run:
    choose a method that may be called so often.
    """
    given = calling.params_given(words, params)
    how = Load(connections, seconds, silence=timeout)
    with _daemon(config, environment, url, over, version, name, workers) as daemon:
        measured = []
        for protocol, address in daemon.endpoints.items():
            called = remote.Remote(remote.at_version(address, version), token_of(token_env), timeout)
            asked, judge = _request(called, protocol, name, words, given)
            measured.append(_measure(called, protocol, asked, judge, how, daemon.pids, same=same))
    rows = [one.row for one in measured]
    records(
        HEADINGS, rows if as_json else [["-" if cell is None else cell for cell in row] for row in rows], json=as_json
    )
    _tell(measured)


# -- the daemon


@contextmanager
def _daemon(
    config: str | None,
    environment: str | None,
    url: str | None,
    over: tuple[str, ...],
    version: str,
    name: str,
    workers: int | None,
) -> Iterator[Daemon]:
    if url is not None:
        if len(over) > 1:
            raise click.UsageError("an endpoint speaks one protocol: give --over once with --url")
        yield Daemon({over[0] if over else MCP: url}, _of_this_machine(url))
        return
    file = found(config)
    gateway = compiled(file, environment)
    if gateway.settings.server.tls is not None:
        raise click.UsageError("the configuration serves TLS: start the daemon, and name it with --url")
    paths = _paths(gateway, version, name)
    wanted = {protocol: path for protocol, path in paths.items() if not over or protocol in over}
    if not wanted:
        served = f"; it is served over {', '.join(paths)}" if paths else ""
        raise UnknownNameError(
            f"no endpoint of {' or '.join(over) or 'mcp or rpc'} serves {name!r} in {version}{served}"
        )
    with working("starting the daemon"), spawned(file, environment, workers) as started:
        addresses = {protocol: f"http://127.0.0.1:{started.port}{path}" for protocol, path in wanted.items()}
        yield Daemon(addresses, (started.pid,))


def _paths(gateway: Gateway, version: str, name: str) -> dict[str, str]:
    """Where a name can be called, by protocol: on the first route that serves it."""
    number = version_number(version) or 0
    paths: dict[str, str] = {}
    for mcp in gateway.mcp:
        if tool_named(gateway, mcp.endpoint.group, version, name) is not None:
            paths.setdefault(MCP, mcp.endpoint.prefix)
    for rpc in gateway.rpc:
        if name in (gateway.table.methods(rpc.endpoint.group, number) or {}):
            paths.setdefault(RPC, rpc.endpoint.prefix)
    return paths


def _of_this_machine(url: str) -> tuple[int, ...]:
    """The processes that listen where a URL leads, if that is this machine."""
    parts = urlsplit(url)
    try:
        addresses = socket.getaddrinfo(parts.hostname, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    local = all(str(address[4][0]).startswith("127.") or address[4][0] == "::1" for address in addresses)
    return tuple(listeners(parts.port or (443 if parts.scheme == "https" else 80))) if local else ()


# -- the call


def _request(
    called: remote.Remote, protocol: str, name: str, words: tuple[str, ...], given: object
) -> tuple[Asked, Judge]:
    """What is sent, and how its answers are judged."""
    parts = urlsplit(called.url)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    headers = {"accept": "application/json, text/event-stream"}
    if called.token is not None:
        headers["authorization"] = f"Bearer {called.token}"
    if protocol == MCP:
        body, own = remote.tool_request(called, name, words, given, level=None)
        return Asked(target, json.dumps(body).encode(), headers | own), judging.tool_succeeded
    body = remote.method_request(called, name, words, given)
    return Asked(target, json.dumps(body).encode(), headers), judging.method_succeeded


def _measure(
    called: remote.Remote, protocol: str, asked: Asked, judge: Judge, how: Load, pids: tuple[int, ...], *, same: bool
) -> Measured:
    """Warm up with one connection, whose first answer must be right; then load."""
    place = _place(called.url)
    with working(f"calling over {protocol}"):
        try:
            first = uvloop.run(load(place, asked, judge, Load(1, WARM, silence=how.silence)))
            if first.wrong:
                raise click.ClickException(f"{called.url} does not answer with a success:\n{first.told[0]}")
            before, began, used = _cpu(pids), time.perf_counter(), time.process_time()
            result = uvloop.run(load(place, asked, judging.same(judge) if same else judge, how))
        except OSError as error:
            raise click.ClickException(f"nobody answers at {called.url}: {error.strerror or error}") from None
        busy = (time.process_time() - used) / (time.perf_counter() - began)
        return Measured(protocol, how.connections, result, _cpu(pids) - before if pids else None, busy)


def _cpu(pids: Sequence[int]) -> float:
    return cpu_seconds([each for pid in pids for each in tree(pid)])


def _place(url: str) -> Place:
    parts = urlsplit(url)
    assert parts.hostname, "checked with the option"
    secure = parts.scheme == "https"
    tls = ssl.create_default_context() if secure else None
    return Place(parts.hostname, parts.port or (443 if secure else 80), tls)


def _tell(measured: Sequence[Measured]) -> None:
    """What the figures do not say by themselves; a wrong answer ends with 1."""
    for one in measured:
        if one.busy > BUSY:
            click.echo(
                f"{one.over}: the client was busy for {one.busy:.0%} of the time; the daemon can do more", err=True
            )
        for told in one.result.told:
            click.echo(f"{one.over}: wrong: {told}", err=True)
    if any(one.result.wrong for one in measured):
        raise click.exceptions.Exit(PROBLEMS)
