"""The settings of a configuration, for commands that need no plugin, and the pool that it keeps results in."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from rpcgw.adapters.stores import open_pool
from rpcgw.api.errors import ConfigError
from rpcgw.cli.problems import PROBLEMS, print_problems
from rpcgw.config.loading import load
from rpcgw.config.settings import Settings
from rpcgw.kernel.ports import Pool, StoreError


def settings_of(config: str, environment: str | None) -> Settings:
    """The settings; problems of the file are printed and end the command with status 1."""
    try:
        return load(config, environment=environment, env=os.environ).settings
    except ConfigError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(PROBLEMS) from None


@asynccontextmanager
async def kept(settings: Settings) -> AsyncIterator[Pool]:
    """The pool of results and sessions, as the daemon's workers see it.

    Raises:
        click.ClickException: It is in another process's memory, or cannot be reached.
    """
    name = settings.cache.pool
    chosen = settings.pools[name]
    if chosen.url.startswith("memory:"):
        raise click.ClickException(f"the pool {name!r} is the memory of the daemon's own process; nobody else sees it")
    pool = open_pool(chosen, settings.state_dir)
    try:
        await pool.ping()
        yield pool
    except StoreError as error:
        raise click.ClickException(f"the pool {name!r} cannot be used: {error}") from None
    finally:
        await pool.close()
