"""`rpcgw sessions`: who is connected over MCP with a session, and the end of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import click

from rpcgw.api.records import record
from rpcgw.cli.options import UnknownNameError, config_option, environment_option, json_option
from rpcgw.cli.settings import kept, settings_of
from rpcgw.cli.show import records
from rpcgw.config.settings import Settings
from rpcgw.daemon.revocations import REVOCATIONS, SharedRevocations
from rpcgw.kernel.ports import Pool
from rpcgw.protocol.mcp.sessions import Session, index, key, unpacked

SHOWN = 12
"""How much of an id is shown: enough to name a session by, too little to use it."""

_HEADINGS = ("id", "group", "version", "revision", "since", "capabilities")


@record(frozen=True, slots=True)
class Found:
    """A session in the pool."""

    id: str
    session: Session


@click.group()
def command() -> None:
    """List the sessions of MCP clients, or end one."""


@command.command("list")
@config_option
@environment_option
@json_option
@click.option("--group", help="Of this group only.")
def list_(config: str, environment: str | None, group: str | None, *, as_json: bool) -> None:
    """List the sessions that live, oldest first."""
    settings = settings_of(config, environment)
    found = [each for each in asyncio.run(_all(settings)) if group in (None, each.session.group)]
    now = time.time()
    rows = [_row(each, now, as_json=as_json) for each in sorted(found, key=lambda each: each.session.created)]
    records(_HEADINGS, rows, json=as_json)


@command.command()
@config_option
@environment_option
@click.argument("session_id", metavar="ID")
def end(config: str, environment: str | None, session_id: str) -> None:
    """End the session ID, as its client could; the beginning of an id will do where it names one session."""
    settings = settings_of(config, environment)
    ended = asyncio.run(_end(settings, session_id))
    click.echo(f"ended {ended.id[:SHOWN]} of the group {ended.session.group}")


async def _all(settings: Settings) -> list[Found]:
    async with kept(settings) as pool:
        return await _found(pool)


async def _end(settings: Settings, beginning: str) -> Found:
    async with kept(settings) as pool:
        chosen = _chosen(await _found(pool), beginning)
        await pool.withdraw(key(chosen.session.group, chosen.id))
        await pool.strike(index(chosen.session.group), chosen.id)
    _revoke(settings)
    return chosen


async def _found(pool: Pool) -> list[Found]:
    keys = await pool.keys(key("", "").rstrip("_"))
    values = await pool.get_many(keys)
    sessions = [(name, unpacked(value)) for name, value in zip(keys, values, strict=True) if value is not None]
    return [Found(name.removeprefix(key(s.group, "")), s) for name, s in sessions if s is not None]


def _chosen(found: Iterable[Found], beginning: str) -> Found:
    fitting = [each for each in found if beginning and each.id.startswith(beginning)]
    if not fitting:
        raise UnknownNameError(f"there is no session {beginning!r}; rpcgw sessions list shows them")
    if len(fitting) > 1:
        raise UnknownNameError(f"{len(fitting)} sessions begin with {beginning!r}; give more of the id")
    return fitting[0]


def _revoke(settings: Settings) -> None:
    """No worker of this host trusts what it remembers; workers of other hosts hear of it by the pool."""
    path = Path(settings.state_dir, REVOCATIONS)
    if path.exists():
        revocations = SharedRevocations(path)
        revocations.advance()
        revocations.close()


def _row(found: Found, now: float, *, as_json: bool) -> tuple[object, ...]:
    session = found.session
    since = datetime.fromtimestamp(session.created, UTC).isoformat(timespec="seconds")
    capabilities = list(session.capabilities) if as_json else ", ".join(session.capabilities) or "-"
    shown = since if as_json else _ago(now - session.created)
    return (found.id[:SHOWN], session.group, f"v{session.version}", session.revision, shown, capabilities)


def _ago(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0.0, seconds):.0f} s ago"
