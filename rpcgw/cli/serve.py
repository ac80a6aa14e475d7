"""`rpcgw serve`: the daemon."""

from __future__ import annotations

import sys

import click

from rpcgw.cli.options import config_option, environment_option
from rpcgw.daemon.options import Options


@click.command()
@config_option
@environment_option
@click.option(
    "--bind",
    metavar="ADDRESS",
    multiple=True,
    callback=lambda _ctx, _param, value: _addresses(value),
    help="host:port, [v6]:port or unix:/path; may be repeated.",
)
@click.option("--workers", type=click.IntRange(min=1), help="How many processes serve.")
@click.option("--dev", is_flag=True, help="One process that starts anew when a file changes; readable logs.")
def command(config: str, environment: str | None, bind: tuple[str, ...], workers: int | None, *, dev: bool) -> None:
    """Serve until SIGTERM or Ctrl-C. SIGHUP reloads; bad configuration ends with status 78."""
    options = Options(config=config, environment=environment, bind=bind, workers=workers, dev=dev)
    sys.exit(_dev(options) if dev else _daemon(options))


def _addresses(given: tuple[str, ...]) -> tuple[str, ...]:
    from rpcgw.config.addresses import bind_fault  # noqa: PLC0415 -- most who serve say it in the file

    for address in given:
        if reason := bind_fault(address):
            raise click.BadParameter(f"{address} {reason}", param_hint="--bind")
    return given


def _daemon(options: Options) -> int:
    from rpcgw.daemon.supervisor import run  # noqa: PLC0415 -- the supervisor's process imports nothing else

    return run(options)


def _dev(options: Options) -> int:
    from rpcgw.daemon.dev import run  # noqa: PLC0415 -- brings the file watch and the whole gateway with it

    return run(options)
