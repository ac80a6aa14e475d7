"""What the endpoints of sites are given in a worker."""

from __future__ import annotations

from pathlib import Path

from rpcgw.api.errors import ConfigError
from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings
from rpcgw.daemon.runtime import Runtime
from rpcgw.daemon.secrets import kept_secret
from rpcgw.endpoints import webmcp
from rpcgw.endpoints.console import Pages
from rpcgw.exchange import Entrance
from rpcgw.texts.script import words

KEPT = "webmcp.key"
"""Where in `state_dir` the secret lies; without it pages have to be loaded again before they can call."""
SCRIPT = "webmcp.js"


def site_entrances(runtime: Runtime, made: Pages) -> list[Entrance]:
    """Every path of every site.

    Raises:
        ConfigError: No secret is configured, and none can be kept.
    """
    gateway = runtime.gateway
    if not gateway.sites or SCRIPT not in made.assets:
        return []
    services = webmcp.Services(
        clock=runtime.clock,
        observer=runtime.observer,
        processors=runtime.processors,
        secret=_secret(gateway.settings),
        messages=words,
        script=made.assets[SCRIPT],
    )
    return [entrance for served in gateway.sites for entrance in webmcp.entrances(served, services)]


def _secret(settings: Settings) -> bytes:
    if settings.webmcp.secret is not None:
        return settings.webmcp.secret.encode()
    try:
        return kept_secret(Path(settings.state_dir, KEPT))
    except OSError as error:
        place = settings.places.get("state_dir", Place(settings.source))
        text = f"no secret can be kept in the state directory {settings.state_dir}: {error.strerror}"
        hint = "give webmcp.secret, or a state_dir that this user may write to"
        raise ConfigError([Problem(place, "state-dir", text, hint)]) from error
