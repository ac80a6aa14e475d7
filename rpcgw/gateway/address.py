"""Where clients reach the daemon, as far as configuration says. Pure; never from a request's `Host`."""

from __future__ import annotations

from rpcgw.config.settings import Settings

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


def public_url(settings: Settings) -> str | None:
    """`server.public_url`, or the loopback address that the daemon is bound to; None where neither says it.

    Port 0 is no address: the system picks one when the daemon binds.
    """
    if settings.server.public_url is not None:
        return settings.server.public_url
    first = settings.server.bind[0] if settings.server.bind else ""
    host, _, port = first.rpartition(":")
    scheme = "http" if settings.server.tls is None else "https"
    return f"{scheme}://{first}" if host in _LOOPBACK and int(port) else None
