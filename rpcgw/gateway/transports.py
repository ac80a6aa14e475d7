"""Queues as documents show them: where they are, and nothing that opens them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from rpcgw.config.settings import Transport

_SECRET = re.compile("secret|access|token|key|pass", re.IGNORECASE)


def described(transports: Iterable[Transport]) -> Mapping[str, Mapping[str, Any]]:
    """The parts of each queue's DSN by the queue's name.

    User, password and secret parameters are names in braces, which a client fills in with its own.
    """
    return {transport.name: _parts(transport) for transport in transports}


def _parts(transport: Transport) -> dict[str, Any]:
    url = urlsplit(transport.dsn)
    query = {
        name: f"{{{name}}}" if _SECRET.search(name) else value
        for name, value in parse_qsl(url.query, keep_blank_values=True)
    }
    try:
        port = url.port
    except ValueError:
        port = None
    parts = {
        "scheme": url.scheme,
        "user": "{user}" if url.username else None,
        "pass": "{pass}" if url.password else None,
        "host": url.hostname,
        "port": port,
        "path": url.path or None,
        "query": query or None,
        "topics_prefix": transport.topics_prefix or None,
        "jwt": "{jwt}" if transport.jwt else None,
    }
    return {name: value for name, value in parts.items() if value is not None}
